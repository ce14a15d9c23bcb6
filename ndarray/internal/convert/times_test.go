package convert

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/goblosc/blosc2/internal/errs"
	"github.com/goblosc/blosc2/internal/golden"
	"github.com/goblosc/blosc2/meta"
	"github.com/goblosc/blosc2/ndarray/internal/numbers"
)

// unitOf returns the unit of a dtype.
func unitOf(t testing.TB, dtype string) timeUnit {
	t.Helper()
	u, ok := timeUnitOf(dtypeOf(t, dtype))
	if !ok {
		t.Fatalf("%s has no unit", dtype)
	}
	return u
}

// TestTimesNumPy compares conversions with testdata/times.txt.gz, which testdata/times.py writes.
func TestTimesNumPy(t *testing.T) {
	seen := map[string]int{}
	for _, line := range golden.Lines(t, "testdata/times.txt.gz") {
		row := strings.Split(line, ";")
		u := unitOf(t, row[1])
		number := func(i int) int64 {
			x, err := strconv.ParseInt(row[i], 10, 64)
			if err != nil {
				t.Fatal(row, err)
			}
			return x
		}
		seen[row[0]]++
		switch row[0] {
		case "date":
			x := number(2)
			got, ok := u.time(x)
			text := "NaT"
			if !got.IsZero() || x != NaT && row[3][:4] == "0001" {
				text = isoText(got)
			}
			if want := row[3][:min(len(row[3]), len("1970-01-01T00:00:00.123456789"))]; !ok || !strings.HasPrefix(text, want) || got.Location() != time.UTC {
				t.Errorf("%v: %s", row, text)
			}
			// A time has no fractions of a nanosecond, and its zero value represents NaT.
			if back, ok := u.ofTime(got); u.parts <= 1e9 && (!ok || back != x && !got.IsZero()) {
				t.Errorf("%v: %s back as %d", row, text, back)
			}
		case "step":
			sec, nsec := number(2), number(3)
			if got, ok := u.ofTime(time.Unix(sec, nsec)); !ok || got != number(4) {
				t.Errorf("%v: %d, %v", row, got, ok)
			}
		case "delta":
			got, ok := u.duration(number(2))
			if row[3] == "range" {
				if ok {
					t.Errorf("%v: %d", row, got)
				}
			} else if want := number(3); !ok || int64(got) != want {
				t.Errorf("%v: %d, %v", row, got, ok)
			}
		case "round":
			got, ok := u.ofDuration(time.Duration(number(2)))
			if row[3] == "range" {
				if ok {
					t.Errorf("%v: %d", row, got)
				}
			} else if want := number(3); !ok || got != want {
				t.Errorf("%v: %d, %v", row, got, ok)
			}
		default:
			t.Fatal(row)
		}
	}
	if len(seen) != 4 || seen["date"] < 3000 || seen["step"] < 2000 || seen["delta"] < 1900 || seen["round"] < 1900 {
		t.Error(seen)
	}
}

// isoText returns a time in nanoseconds in NumPy's notation.
func isoText(t time.Time) string {
	return fmt.Sprintf("%04d-%02d-%02dT%02d:%02d:%02d.%09d", t.Year(), t.Month(), t.Day(), t.Hour(), t.Minute(), t.Second(), t.Nanosecond())
}

// TestTimeRange checks the limits of times. A date out of range must not wrap around.
func TestTimeRange(t *testing.T) {
	for _, c := range []struct {
		dtype string
		item  int64
		year  int // 0 is out of range
	}{
		{"<M8[Y]", 290_000_000 - 1970, 290_000_000}, {"<M8[Y]", math.MaxInt64, 0}, {"<M8[Y]", -math.MaxInt64, 0},
		{"<M8[Y]", 300_000_000_000, 0}, {"<M8[2Y]", 1 << 62, 0}, {"<M8[M]", math.MaxInt64, 0}, {"<M8[M]", 3_600_000_000_000, 0},
		{"<M8[D]", math.MaxInt64, 0}, {"<M8[D]", 106_751_991_167_300 + 719_162, 0}, {"<M8[s]", math.MaxInt64, 0}, {"<M8[s]", -math.MaxInt64, 0},
		{"<M8[2147483647as]", math.MaxInt64, 2597}, {"<M8[2147483647ms]", math.MaxInt64, 0}, {"<M8[2147483647W]", 1 << 40, 0},
		{"<M8[ns]", math.MaxInt64, 2262}, {"<M8[ns]", -math.MaxInt64, 1677}, {"<M8[as]", -1, 1969},
	} {
		u := unitOf(t, c.dtype)
		got, ok := u.time(c.item)
		if ok != (c.year != 0) || ok && got.Year() != c.year {
			t.Errorf("%s: %d is %v, %v", c.dtype, c.item, got, ok)
		}
	}
	far := []time.Time{time.Unix(maxSeconds, 0), time.Unix(-maxSeconds, 0), time.Unix(math.MaxInt64-1<<36, 1), time.Unix(math.MinInt64+1<<35, 0)}
	for i, at := range far {
		u := unitOf(t, "<M8[s]")
		x, ok := u.ofTime(at)
		if back, fine := u.time(x); ok != (i < 3) || ok && (!fine || back.Unix() != at.Unix()) {
			t.Errorf("%d seconds: %d, %v, back as %v, %v", at.Unix(), x, ok, back, fine)
		}
		u = unitOf(t, "<M8[ns]")
		if x, ok := u.ofTime(at); ok {
			t.Errorf("%d seconds as nanoseconds: %d", at.Unix(), x)
		}
	}
	u := unitOf(t, "<M8[ns]")
	if x, ok := u.ofTime(time.Unix(-9223372037, 145224192)); ok { // NaT itself
		t.Errorf("NaT as %d", x)
	}
	if x, ok := u.ofTime(time.Unix(-9223372037, 145224193)); !ok || x != -math.MaxInt64 {
		t.Errorf("%d, %v", x, ok)
	}
	for dtype, items := range map[string][]int64{"<m8[W]": {15251, -15251}, "<m8[s]": {9223372037, -9223372037}, "<m8[2ns]": {1 << 62, -1 << 62}} {
		u := unitOf(t, dtype)
		for _, x := range items {
			if d, ok := u.duration(x); ok {
				t.Errorf("%s: %d is %v", dtype, x, d)
			}
		}
	}
}

// TestCalendar compares the days of 800 years, and months of distant cycles, with package time.
func TestCalendar(t *testing.T) {
	for day := time.Date(1600, 1, 1, 0, 0, 0, 0, time.UTC); day.Year() < 2400; day = day.AddDate(0, 0, 1) {
		n, _ := floorDiv(day.Unix(), 86400)
		year, month := monthOf(n)
		if int(year) != day.Year() || time.Month(month+1) != day.Month() || daysBefore(year, month)+int64(day.Day())-1 != n {
			t.Fatalf("%v: %d-%d", day, year, month+1)
		}
	}
	for _, cycle := range []int64{-700_000_000, -3, 2, 700_000_000} {
		for m := range int64(4800) {
			at := daysBefore(400*cycle, m%12) + daysBefore(2000+m/12, 0) - daysBefore(2000, 0)
			first := daysBefore(400*cycle+m/12, m%12)
			if y, month := monthOf(first); y != 400*cycle+m/12 || month != m%12 {
				t.Fatalf("%d-%d: %d-%d", 400*cycle+m/12, m%12, y, month)
			}
			if y, month := monthOf(first - 1); 12*y+month != 4800*cycle+m-1 {
				t.Fatalf("the day before %d-%d: %d-%d", 400*cycle+m/12, m%12, y, month)
			}
			if m%12 < 1 && at != first {
				t.Fatal(cycle, m, at, first)
			}
		}
	}
}

// FuzzTimes compares conversions with rational numbers.
func FuzzTimes(f *testing.F) {
	f.Add(int64(1), uint8(12), uint32(25), int64(-1), uint32(1))
	f.Add(int64(math.MaxInt64), uint8(0), uint32(1), int64(1)<<40, uint32(999999999))
	f.Add(int64(-5), uint8(6), uint32(3), int64(math.MinInt64), uint32(0))
	units := []string{"Y", "M", "W", "D", "h", "m", "s", "ms", "us", "ns", "ps", "fs", "as"}
	nanos := []string{"", "", "604800e9", "86400e9", "3600e9", "60e9", "1e9", "1e6", "1e3", "1", "1e-3", "1e-6", "1e-9"}
	f.Fuzz(func(t *testing.T, x int64, unit uint8, count uint32, sec int64, nsec uint32) {
		d := meta.Of('M', 8)
		d.Unit, d.Count = units[int(unit)%len(units)], int(max(1, count>>1))
		u, _ := timeUnitOf(d)
		nsec %= 1e9
		got, ok := u.time(x)
		if text := nanos[int(unit)%len(units)]; text != "" {
			checkExact(t, &u, text, x, sec, nsec)
		} else if ok && x != NaT {
			months := new(big.Int).Mul(big.NewInt(x), big.NewInt(int64(d.Count)))
			if d.Unit == "Y" {
				months.Mul(months, big.NewInt(12))
			}
			day, _ := floorDiv(got.Unix(), 86400)
			year, month := monthOf(day)
			if !months.IsInt64() || 12*(year-1970)+month != months.Int64() || got.Unix() != 86400*daysBefore(year, month) {
				t.Fatalf("%s: %d is %v", u.dtype, x, got)
			}
		}
		if back, fine := u.ofTime(got); ok && x != NaT && !got.IsZero() && u.parts <= 1e9 && (!fine || back != x) {
			t.Fatalf("%s: %d is %v, which is %d", u.dtype, x, got, back)
		}
	})
}

// checkExact compares a conversion with rational numbers.
func checkExact(t *testing.T, u *timeUnit, nanos string, x, sec int64, nsec uint32) {
	step, _ := new(big.Rat).SetString(nanos)
	step.Mul(step, new(big.Rat).SetUint64(u.count))
	floor := func(r *big.Rat) *big.Int { return new(big.Int).Div(r.Num(), r.Denom()) }
	whole := floor(new(big.Rat).Mul(step, new(big.Rat).SetInt64(x)))
	if x != NaT {
		got, ok := u.time(x)
		exact := new(big.Int).Add(new(big.Int).Mul(big.NewInt(got.Unix()), big.NewInt(1e9)), big.NewInt(int64(got.Nanosecond())))
		limit := new(big.Int).Mul(big.NewInt(maxSeconds), big.NewInt(1e9))
		if ok && exact.Cmp(whole) != 0 || !ok && whole.CmpAbs(limit) <= 0 {
			t.Fatalf("%s: %d is %v, %v", u.dtype, x, got, ok)
		}
		if d, ok := u.duration(x); ok != (whole.IsInt64() && whole.Int64() != NaT) && u.parts <= 1e9 || ok && int64(d) != whole.Int64() {
			t.Fatalf("%s: %d is %v, %v", u.dtype, x, d, ok)
		}
	}
	at := time.Unix(sec, int64(nsec))
	if at.IsZero() || sec > maxSeconds || sec < -maxSeconds {
		return
	}
	exact := new(big.Int).Add(new(big.Int).Mul(big.NewInt(sec), big.NewInt(1e9)), big.NewInt(int64(nsec)))
	want := floor(new(big.Rat).Quo(new(big.Rat).SetInt(exact), step))
	if got, ok := u.ofTime(at); ok != (want.IsInt64() && want.Int64() != NaT) || ok && got != want.Int64() {
		t.Fatalf("%s: %v is %d, %v, want %v", u.dtype, at, got, ok, want)
	}
}

// TestUnits converts dates and timedeltas to other units, as NumPy does, in all byte orders.
func TestUnits(t *testing.T) {
	for _, test := range []struct {
		from, to string
		x, want  int64
	}{
		{"M8[D]", "M8[s]", 19782, 1709164800}, {"M8[D]", "M8[ns]", -1, -86400e9}, {"M8[W]", "M8[D]", -3, -21}, {"m8[60s]", "m8[m]", -7, -7},
		{"M8[s]", "M8[D]", -1, -1}, {"M8[s]", "M8[D]", 86399, 0}, {"M8[s]", "M8[D]", -86401, -2}, {"m8[as]", "m8[s]", 1e18, 1},
		{"m8[3s]", "m8[2m]", 79, 1}, {"m8[3s]", "m8[2m]", -41, -2}, {"m8[h]", "m8[7ms]", 7, 3600e3}, {"m8[h]", "m8[7ms]", -7, -3600e3},
		{"M8[Y]", "M8[M]", -3, -36}, {"M8[M]", "M8[Y]", -1, -1}, {"M8[M]", "M8[Y]", 23, 1}, {"M8[M]", "M8[Y]", 24, 2},
		{"m8[Y]", "m8[M]", -2, -24}, {"m8[M]", "m8[Y]", -1, -1}, {"m8[7M]", "m8[2Y]", -5, -2}, {"m8[7M]", "m8[2Y]", 7, 2},
		{"M8[M]", "M8[D]", 373, 11354}, {"M8[M]", "M8[D]", -1, -31}, {"M8[5M]", "M8[h]", -7, -25560}, {"M8[400Y]", "M8[D]", 1e13, 146097e13},
		{"M8[Y]", "M8[W]", 1, 52}, {"M8[Y]", "M8[W]", -1, -53}, {"M8[Y]", "M8[D]", 1 << 40, 401588375707976},
		{"M8[D]", "M8[Y]", -1, -1}, {"M8[D]", "M8[Y]", 365, 1}, {"M8[D]", "M8[Y]", 364, 0}, {"M8[s]", "M8[M]", -1, -1},
		{"M8[s]", "M8[M]", 951782400, 361}, {"M8[s]", "M8[M]", -2203891200, -838}, {"M8[h]", "M8[7M]", -1, -1}, {"M8[h]", "M8[7M]", 123456, 24},
		{"M8[h]", "M8[s]", NaT, NaT}, {"m8[ns]", "m8[D]", NaT, NaT}, {"m8[h]", "m8[7ms]", NaT, NaT}, {"M8[M]", "M8[D]", NaT, NaT}, {"M8[D]", "M8[Y]", NaT, NaT},
		// These numbers do not fit, and wrap in NumPy.
		{"m8[s]", "m8[ms]", math.MaxInt64/1000 + 1, NaT}, {"m8[s]", "m8[ms]", math.MaxInt64 / 1000, math.MaxInt64 / 1000 * 1000},
		{"m8[s]", "m8[ms]", -math.MaxInt64/1000 - 1, NaT}, {"M8[D]", "M8[ns]", 1 << 62, NaT}, {"m8[7h]", "m8[2s]", 1 << 60, NaT},
		{"M8[Y]", "M8[M]", 1 << 60, NaT}, {"M8[Y]", "M8[D]", 1 << 60, NaT}, {"M8[M]", "M8[D]", 1 << 59, NaT}, {"M8[M]", "M8[s]", 1 << 50, NaT},
		{"M8[W]", "M8[M]", -1 << 62, NaT}, {"M8[D]", "M8[M]", -math.MaxInt64, -303032819133198655},
	} {
		for orders := range 4 {
			to, from := dtypeOf(t, "<>"[orders&1:][:1]+test.to), dtypeOf(t, "<>"[orders>>1:][:1]+test.from)
			f, err := Cast(to, from)
			if err != nil {
				t.Errorf("%v to %v: %v", from, to, err)
				continue
			}
			src, dst := make([]byte, 16), make([]byte, 16)
			numbers.Store64(src[8:], uint64(test.x), from.Order == '>')
			f.Run(dst, src)
			if got := int64(numbers.Load64(dst[8:], to.Order == '>')); got != test.want {
				t.Errorf("%d of %v to %v: %d, want %d", test.x, from, to, got, test.want)
			}
		}
	}
	for _, pair := range [][2]string{
		{"<m8[M]", "<m8[D]"}, {"<m8[D]", "<m8[Y]"}, {"<M8", "<M8[s]"}, {"<m8[s]", "<M8[s]"}, {"<m8[2147483647W]", "<m8[as]"}, {"<M8[M]", "<M8[as]"}, {"<M8[as]", "<M8[M]"},
	} {
		if _, err := Cast(dtypeOf(t, pair[1]), dtypeOf(t, pair[0])); !errors.Is(err, errs.ErrType) {
			t.Errorf("%s to %s: %v", pair[0], pair[1], err)
		}
	}
}

// dtypeOf parses a dtype.
func dtypeOf(t testing.TB, s string) meta.DType {
	t.Helper()
	d, err := meta.ParseDType(s)
	if err != nil {
		t.Fatal(err)
	}
	return d
}
