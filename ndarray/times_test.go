package ndarray

import (
	"bufio"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/goblosc/blosc2/meta"
)

// tableRows returns the rows of a compressed table, cut at each semicolon.
func tableRows(t testing.TB, name string) [][]string {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	var rows [][]string
	scan := bufio.NewScanner(z)
	scan.Buffer(nil, 1<<20)
	for scan.Scan() {
		rows = append(rows, strings.Split(scan.Text(), ";"))
	}
	if err := scan.Err(); err != nil {
		t.Fatal(err)
	}
	return rows
}

func unitOf(t testing.TB, dtype string) timeUnit {
	t.Helper()
	d, err := meta.ParseDType(dtype)
	if err != nil {
		t.Fatal(err)
	}
	u, ok := timeUnitOf(d)
	if !ok {
		t.Fatalf("%s has no unit", dtype)
	}
	return u
}

// TestTimesNumPy goes through testdata/times.txt.gz, which testdata/times.py makes.
func TestTimesNumPy(t *testing.T) {
	seen := map[string]int{}
	for _, row := range tableRows(t, "testdata/times.txt.gz") {
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
			// A time does not tell what is below a nanosecond, nor the year 1 from NaT.
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

// isoText prints a time as NumPy does in nanoseconds.
func isoText(t time.Time) string {
	return fmt.Sprintf("%04d-%02d-%02dT%02d:%02d:%02d.%09d", t.Year(), t.Month(), t.Day(), t.Hour(), t.Minute(), t.Second(), t.Nanosecond())
}

// TestTimeRange checks the ends of what times can be: no date wraps round silently.
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

// TestCalendar compares with package time over 800 years, day by day, and with months in far cycles.
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

// TestTimeArrays reads and writes times and durations as arrays.
func TestTimeArrays(t *testing.T) {
	ctx := context.Background()
	at := time.Date(2024, 2, 29, 13, 14, 15, 161718192, time.FixedZone("east", 3600))
	times := []time.Time{at, {}, time.Unix(0, 0)}
	a, err := Create(ctx, "", []int64{3}, times, nil)
	if err != nil || a.DType().String() != "<M8[ns]" {
		t.Fatal(a, err)
	}
	got, err := Read[time.Time](ctx, a)
	if err != nil || len(got) != 3 || !got[0].Equal(at) || !got[1].IsZero() || !got[2].Equal(times[2]) {
		t.Error(got, err)
	}
	if raw, err := Read[int64](ctx, a); err != nil || !slices.Equal(raw, []int64{at.UnixNano(), NaT, 0}) {
		t.Error(raw, err)
	}
	a, err = Create(ctx, "", []int64{3}, times, &Options{DType: ">M8[M]"})
	if err != nil {
		t.Fatal(err)
	}
	got, err = Read[time.Time](ctx, a)
	if err != nil || !got[0].Equal(time.Date(2024, 2, 1, 0, 0, 0, 0, time.UTC)) || !got[1].IsZero() {
		t.Error(got, err)
	}
	if x, err := ReadAt[time.Time](ctx, a, -3); err != nil || !x.Equal(got[0]) {
		t.Error(x, err)
	}
	if err := Fill(ctx, a, time.Date(1969, 12, 31, 0, 0, 0, 0, time.UTC), At(0)); err != nil {
		t.Fatal(err)
	}
	if raw, err := Read[int64](ctx, a); err != nil || !slices.Equal(raw, []int64{-1, NaT, 0}) {
		t.Error(raw, err)
	}
	waits := []time.Duration{time.Minute, NaT, -time.Nanosecond}
	for dtype, want := range map[string][]time.Duration{
		"": waits, "m8[ns]": waits, ">m8[ps]": waits, "m8[25s]": {50 * time.Second, NaT, -25 * time.Second}, ">m8[h]": {0, NaT, -time.Hour},
	} {
		a, err := Create(ctx, "", []int64{3}, waits, &Options{DType: dtype})
		if err != nil {
			t.Fatal(err)
		}
		if got, err := Read[time.Duration](ctx, a); err != nil || !slices.Equal(got, want) {
			t.Errorf("%v: %v, %v", a.DType(), got, err)
		}
		if _, err := Read[time.Time](ctx, a); !errors.Is(err, ErrType) {
			t.Error(err)
		}
	}
	for _, c := range []struct {
		dtype string
		item  int64
		want  error
	}{{"<M8", 0, ErrType}, {"<m8[Y]", 1, ErrType}, {"<m8[3M]", 1, ErrType}, {"<m8", 1, ErrType}, {"<M8[Y]", math.MaxInt64, ErrValue}, {"<m8[D]", 1 << 40, ErrValue}} {
		a, err := CreateBytes(ctx, "", []int64{2}, c.dtype, stored(meta.Of('i', 8), []int64{0, c.item}), nil)
		if err != nil {
			t.Fatal(err)
		}
		_, err = Read[time.Time](ctx, a)
		if c.dtype[1] == 'm' {
			_, err = Read[time.Duration](ctx, a)
		}
		if !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.dtype) || c.want == ErrValue && !strings.Contains(err.Error(), "item 1:") {
			t.Errorf("%s: %v", c.dtype, err)
		}
	}
	if err := Write(ctx, a, []time.Time{{}, {}, time.Unix(1<<62, 0)}); err != nil {
		t.Error(err) // in months
	}
	if _, err := Create(ctx, "", []int64{1}, []time.Time{time.Date(2300, 1, 1, 0, 0, 0, 0, time.UTC)}, nil); !errors.Is(err, ErrValue) {
		t.Error(err)
	}
}

// FuzzTimes compares with numbers of any size.
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
			t.Fatalf("%s: %d is %v, and that %d", u.dtype, x, got, back)
		}
	})
}

// checkExact compares with fractions.
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
