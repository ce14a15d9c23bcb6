package ndarray

import (
	"math"
	"math/bits"
	"time"

	"github.com/goblosc/blosc2/meta"
)

// NaT is NumPy's "not a time": the item of a date or time difference that is none. It is an int64 or a
// time.Duration; as a time.Time the zero Time stands for it.
const NaT = math.MinInt64

// maxSeconds limits the times to those that package time calculates with, some 292 billion years around 1970.
const maxSeconds = 1<<63 - 1<<36

// timeUnit is the step of a date or time difference: count times a number of months, of seconds or of parts of a
// second, of which one is not 0.
type timeUnit struct {
	count   uint64
	months  uint64 // in a unit of the calendar
	seconds uint64 // in a unit
	parts   uint64 // units in a second
	dtype   string // for errors
}

// timeUnitOf returns the step of a dtype. It is not ok for dates and time differences without a unit.
func timeUnitOf(d meta.DType) (u timeUnit, ok bool) {
	u.count, u.dtype = uint64(d.Count), d.String()
	switch d.Unit {
	case "Y":
		u.months = 12
	case "M":
		u.months = 1
	case "W":
		u.seconds = 7 * 86400
	case "D":
		u.seconds = 86400
	case "h":
		u.seconds = 3600
	case "m":
		u.seconds = 60
	case "s":
		u.seconds = 1
	case "ms":
		u.parts = 1e3
	case "us":
		u.parts = 1e6
	case "ns":
		u.parts = 1e9
	case "ps":
		u.parts = 1e12
	case "fs":
		u.parts = 1e15
	case "as":
		u.parts = 1e18
	default:
		return u, false
	}
	return u, u.count > 0
}

// time returns the time that a date stands for, in UTC; parts of a nanosecond are dropped. It is not ok if package
// time has no such time.
func (u *timeUnit) time(x int64) (t time.Time, ok bool) {
	var sec int64
	var nsec uint64
	switch {
	case x == NaT:
		return t, true
	case u.months > 0:
		if x, _, ok = mulDiv(x, u.months*u.count, 0, 1); !ok || x > 1<<42 || x < -1<<42 {
			return t, false
		}
		year, month := floorDiv(x, 12)
		sec, _, ok = mulDiv(daysBefore(1970+year, month), 86400, 0, 1)
	case u.seconds > 0:
		sec, _, ok = mulDiv(x, u.seconds*u.count, 0, 1)
	default:
		if sec, nsec, ok = mulDiv(x, u.count, 0, u.parts); u.parts <= 1e9 {
			nsec *= 1e9 / u.parts
		} else {
			nsec /= u.parts / 1e9
		}
	}
	if !ok || sec > maxSeconds || sec < -maxSeconds {
		return t, false
	}
	return time.Unix(sec, int64(nsec)).UTC(), true
}

// ofTime returns the date of a time: that of the step in which it lies, as NumPy rounds. It is not ok if 64 bits do
// not hold it.
func (u *timeUnit) ofTime(t time.Time) (x int64, ok bool) {
	if t.IsZero() {
		return NaT, true
	}
	sec, nsec := t.Unix(), uint64(t.Nanosecond())
	if sec > maxSeconds || sec < -maxSeconds {
		return 0, false
	}
	switch {
	case u.months > 0:
		days, _ := floorDiv(sec, 86400)
		year, month := monthOf(days)
		x, _, ok = mulDiv(12*(year-1970)+month, 1, 0, u.months*u.count)
		return x, ok
	case u.seconds > 0:
		x, _, ok = mulDiv(sec, 1, 0, u.seconds*u.count)
		return x, ok
	case u.parts <= 1e9:
		nsec /= 1e9 / u.parts
	default:
		nsec *= u.parts / 1e9
	}
	x, _, ok = mulDiv(sec, u.parts, nsec, u.count)
	return x, ok
}

// duration returns a time difference; parts of a nanosecond are dropped, towards the past. It is not ok if a
// Duration does not hold it.
func (u *timeUnit) duration(x int64) (time.Duration, bool) {
	if x == NaT {
		return NaT, true
	}
	scale, div := u.nanoseconds()
	x, _, ok := mulDiv(x, u.count, 0, div)
	if !ok {
		return 0, false
	}
	x, _, ok = mulDiv(x, scale, 0, 1)
	return time.Duration(x), ok
}

// ofDuration returns the time difference that is d, in whole steps, rounded towards the past as NumPy does. It is not
// ok if 64 bits do not hold it.
func (u *timeUnit) ofDuration(d time.Duration) (int64, bool) {
	if d == NaT {
		return NaT, true
	}
	scale, div := u.nanoseconds()
	x, _, ok := mulDiv(int64(d), div, 0, u.count) // of the two factors at least one is 1
	if !ok {
		return 0, false
	}
	x, _, ok = mulDiv(x, 1, 0, scale)
	return x, ok
}

// nanoseconds returns the length of a unit as a quotient of which one side is 1.
func (u *timeUnit) nanoseconds() (scale, div uint64) {
	switch {
	case u.seconds > 0:
		return u.seconds * 1e9, 1
	case u.parts <= 1e9:
		return 1e9 / u.parts, 1
	}
	return 1, u.parts / 1e9
}

// mulDiv returns the floor of (x * mul + add) / div, and the remainder. add must be below mul. It is not ok if the
// result does not fit or is NaT.
func mulDiv(x int64, mul, add, div uint64) (quo int64, rem uint64, ok bool) {
	negative := x < 0
	n := uint64(x)
	if negative {
		n = -n
	}
	hi, lo := bits.Mul64(n, mul)
	var carry uint64
	if negative { // -(n*mul - add)
		lo, carry = bits.Sub64(lo, add, 0)
		hi -= carry
	} else {
		lo, carry = bits.Add64(lo, add, 0)
		hi += carry
	}
	if hi >= div {
		return 0, 0, false
	}
	q, rem := bits.Div64(hi, lo, div)
	if negative && rem > 0 {
		q, rem = q+1, div-rem
	}
	if q > math.MaxInt64 {
		return 0, 0, false
	}
	if negative {
		return -int64(q), rem, true
	}
	return int64(q), rem, true
}

// floorDiv returns the quotient rounded down and the remainder, for n > 0.
func floorDiv(x, n int64) (quo, rem int64) {
	if quo, rem = x/n, x%n; rem < 0 {
		quo, rem = quo-1, rem+n
	}
	return quo, rem
}

// The calendar is the Gregorian one for all times, as in NumPy and package time. Its cycle of 400 years has 146097
// days; a year is taken to begin in March, so that the leap day is its last.

// daysBefore returns the days from 1970-01-01 to the first of a month, January being 0.
func daysBefore(year, month int64) int64 {
	if month -= 2; month < 0 {
		year, month = year-1, month+12
	}
	cycle, y := floorDiv(year, 400)
	return 146097*cycle + 365*y + y/4 - y/100 + (153*month+2)/5 - 719468
}

// monthOf returns the year and the month, January being 0, of a day that is counted from 1970-01-01.
func monthOf(day int64) (year, month int64) {
	cycle, d := floorDiv(day+719468, 146097)
	y := (d - d/1460 + d/36524 - d/146096) / 365
	d -= 365*y + y/4 - y/100
	year, month = 400*cycle+y, (5*d+2)/153+2
	if month >= 12 {
		year, month = year+1, month-12
	}
	return year, month
}
