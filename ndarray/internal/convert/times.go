package convert

import (
	"math"
	"math/bits"
	"time"

	"github.com/goblosc/blosc2/meta"
	"github.com/goblosc/blosc2/ndarray/internal/numbers"
)

// NaT is the item of NumPy's "not a time", also as a time.Duration. The zero time.Time represents it.
const NaT = math.MinInt64

// maxSeconds limits times to those that package time can calculate with, about 292 billion years around 1970.
const maxSeconds = 1<<63 - 1<<36

// timeUnit is the unit of a date or timedelta: count times a number of months, seconds or parts of a second. Only one
// of these numbers is not 0.
type timeUnit struct {
	count   uint64
	months  uint64 // in the unit, if it is one of the calendar
	seconds uint64 // in the unit
	parts   uint64 // units in a second
	dtype   string // for errors
}

// timeUnitOf returns the unit of a dtype. ok is false for dates and timedeltas without a unit.
func timeUnitOf(d meta.DType) (u timeUnit, ok bool) {
	u.count, u.dtype = uint64(d.Count), d.String()
	for _, step := range [...]struct {
		unit                   string
		months, seconds, parts uint64
	}{
		{unit: "Y", months: 12}, {unit: "M", months: 1},
		{unit: "W", seconds: 7 * 86400}, {unit: "D", seconds: 86400}, {unit: "h", seconds: 3600}, {unit: "m", seconds: 60},
		{unit: "s", seconds: 1}, {unit: "ms", parts: 1e3}, {unit: "us", parts: 1e6}, {unit: "ns", parts: 1e9},
		{unit: "ps", parts: 1e12}, {unit: "fs", parts: 1e15}, {unit: "as", parts: 1e18},
	} {
		if d.Unit == step.unit {
			u.months, u.seconds, u.parts = step.months, step.seconds, step.parts
			return u, u.count > 0
		}
	}
	return u, false
}

// castTime returns a function that converts dates, or timedeltas, to another unit, rounded down as in NumPy. A number
// that does not fit becomes NaT. It returns nil if there is no such conversion, or if the units differ too much.
func castTime(to, from meta.DType) func(dst, src []byte) {
	t, okTo := timeUnitOf(to)
	f, okFrom := timeUnitOf(from)
	if !okTo || !okFrom || to.Kind != from.Kind {
		return nil
	}
	var item func(x int64) (int64, bool)
	day := timeUnit{count: 1, seconds: 86400}
	switch {
	case (t.months > 0) == (f.months > 0):
		item = scale(&t, &f)
	case from.Kind == 'm': // the length of a month varies
	case f.months > 0:
		if ofDays := scale(&t, &day); ofDays != nil {
			item = func(x int64) (int64, bool) {
				x, ok := f.days(x)
				if !ok {
					return 0, false
				}
				return ofDays(x)
			}
		}
	default:
		if days := scale(&day, &f); days != nil {
			item = func(x int64) (int64, bool) {
				x, ok := days(x)
				if !ok {
					return 0, false
				}
				x, _, ok = mulDiv(monthsBefore(x), 1, 0, t.months*t.count)
				return x, ok
			}
		}
	}
	if item == nil {
		return nil
	}
	return func(dst, src []byte) {
		for ; len(dst) > 0; dst, src = dst[8:], src[8:] {
			x := int64(numbers.Load64(src, from.Order == '>'))
			if y, ok := item(x); ok && x != NaT {
				x = y
			} else {
				x = NaT
			}
			numbers.Store64(dst, uint64(x), to.Order == '>')
		}
	}
}

// scale returns a function that converts numbers of a unit to another, rounded down. ok is false if the result does not
// fit in 64 bits. Both units have months, or none has. It returns nil if the ratio of the units does not fit.
func scale(to, from *timeUnit) func(x int64) (y int64, ok bool) {
	num, div, ok := unitRatio(to, from)
	if !ok {
		return nil
	}
	if div > 1 {
		return func(x int64) (int64, bool) {
			x, _, ok := mulDiv(x, num, 0, div)
			return x, ok
		}
	}
	most := int64(math.MaxInt64 / num)
	return func(x int64) (int64, bool) { return x * int64(num), -most <= x && x <= most }
}

// unitRatio returns the length of one unit in another, as the fraction num/div. It returns false if a number does not
// fit. Both units have months, or none has.
func unitRatio(to, from *timeUnit) (num, div uint64, ok bool) {
	nums := [...]uint64{max(from.months, from.seconds, 1), from.count, max(to.parts, 1)}
	divs := [...]uint64{max(to.months, to.seconds, 1), to.count, max(from.parts, 1)}
	for i := range nums {
		for k := range divs {
			a, b := nums[i], divs[k]
			for b > 0 {
				a, b = b, a%b
			}
			nums[i], divs[k] = nums[i]/a, divs[k]/a
		}
	}
	num, div = 1, 1
	for i := range nums {
		var high [2]uint64
		high[0], num = bits.Mul64(num, nums[i])
		high[1], div = bits.Mul64(div, divs[i])
		if high != [2]uint64{} {
			return 0, 0, false
		}
	}
	return num, div, true
}

// time returns the time of a date, in UTC, without parts of a nanosecond. ok is false if package time cannot represent
// it.
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

// ofTime returns the date of a time, rounded down to a whole unit as NumPy does. ok is false if it does not fit in 64
// bits.
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

// duration returns the time.Duration of a timedelta, rounded down to a nanosecond. It returns false if a Duration
// cannot hold it.
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

// ofDuration returns the timedelta of a time.Duration, rounded down to a whole unit as NumPy does. It returns false if
// it does not fit in 64 bits.
func (u *timeUnit) ofDuration(d time.Duration) (int64, bool) {
	if d == NaT {
		return NaT, true
	}
	scale, div := u.nanoseconds()
	x, _, ok := mulDiv(int64(d), div, 0, u.count) // at least one of scale and div is 1
	if !ok {
		return 0, false
	}
	x, _, ok = mulDiv(x, 1, 0, scale)
	return x, ok
}

// nanoseconds returns the length of a unit as scale/div nanoseconds. One of them is 1.
func (u *timeUnit) nanoseconds() (scale, div uint64) {
	switch {
	case u.seconds > 0:
		return u.seconds * 1e9, 1
	case u.parts <= 1e9:
		return 1e9 / u.parts, 1
	}
	return 1, u.parts / 1e9
}

// mulDiv returns the floor of (x * mul + add) / div, and the remainder. add must be less than mul. ok is false if the
// quotient does not fit or is NaT.
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

// floorDiv returns the quotient, rounded down, and the remainder, for n > 0.
func floorDiv(x, n int64) (quo, rem int64) {
	if quo, rem = x/n, x%n; rem < 0 {
		quo, rem = quo-1, rem+n
	}
	return quo, rem
}

// The calendar is the Gregorian one for all times, as in NumPy and package time. Its cycle of 400 years has 146097
// days. Here a year begins in March, so that the leap day is its last day.

// days returns the day of a date with a unit of months, counted from 1970-01-01. It returns false if it does not fit in
// 64 bits.
func (u *timeUnit) days(x int64) (int64, bool) {
	x, _, ok := mulDiv(x, u.months*u.count, 0, 1)
	if !ok {
		return 0, false
	}
	cycle, month := floorDiv(x, 4800)
	x, _, ok = mulDiv(cycle, 146097, uint64(daysBefore(1970+month/12, month%12)), 1)
	return x, ok
}

// monthsBefore returns the number of months from 1970-01 to that of a day.
func monthsBefore(day int64) int64 {
	cycle, day := floorDiv(day, 146097) // no sum overflows
	year, month := monthOf(day)
	return 4800*cycle + 12*(year-1970) + month
}

// daysBefore returns the number of days from 1970-01-01 to the first of a month. January is 0.
func daysBefore(year, month int64) int64 {
	if month -= 2; month < 0 {
		year, month = year-1, month+12
	}
	cycle, y := floorDiv(year, 400)
	return 146097*cycle + 365*y + y/4 - y/100 + (153*month+2)/5 - 719468
}

// monthOf returns the year and the month of a day, counted from 1970-01-01. January is 0.
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
