package ranges

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"
)

func TestPlan(t *testing.T) {
	m := &Model{Latency: time.Second, Bandwidth: 20, Requests: 2, MaxLen: 100, MaxBytes: 100} // gap 10, no ramp
	for _, c := range []struct {
		name string
		want []Range
		got  []Range
	}{
		{"none", nil, nil},
		{"empty", []Range{{5, 0}}, nil},
		{"gap", []Range{{30, 10}, {0, 20}, {51, 1}}, []Range{{0, 40}, {51, 1}}},
		{"inside", []Range{{0, 50}, {10, 5}, {55, 5}}, []Range{{0, 60}}},
		{"same", []Range{{7, 3}, {7, 3}}, []Range{{7, 3}}},
		{"length", []Range{{0, 60}, {60, 40}, {100, 1}}, []Range{{0, 100}, {100, 1}}},
		{"split", []Range{{5, 250}}, []Range{{5, 96}, {101, 96}, {197, 58}}},
	} {
		var got []Range
		for _, f := range Plan(c.want, m) {
			got = append(got, f.Range)
		}
		if !reflect.DeepEqual(got, c.got) {
			t.Errorf("%s: %v, want %v", c.name, got, c.got)
		}
	}
}

// TestRamp checks that the first fetches of a long read are shorter.
func TestRamp(t *testing.T) {
	m := &Model{Requests: 4, MaxLen: 80, MaxBytes: 1000}
	var got []int64
	for _, f := range Plan([]Range{{0, 600}}, m) {
		got = append(got, f.Len)
	}
	if want := []int64{20, 40, 60, 80, 80, 80, 80, 80, 80}; !reflect.DeepEqual(got, want) {
		t.Errorf("fetches of %d bytes, want %d", got, want)
	}
}

func TestGapLen(t *testing.T) {
	m := Model{Latency: 50 * time.Millisecond, Bandwidth: 100e6, Requests: 16}
	if n := m.GapLen(); n != 312500 {
		t.Errorf("gap of %d bytes, want 312500", n)
	}
	if m.Gap = -1; m.GapLen() != 0 {
		t.Errorf("gap of %d bytes, want none", m.GapLen())
	}
	if m = (Model{Latency: math.MaxInt64, Bandwidth: math.MaxInt64}); m.GapLen() <= 0 {
		t.Errorf("gap of %d bytes", m.GapLen())
	}
}

func TestCheck(t *testing.T) {
	for _, r := range []Range{{-1, 1}, {0, -1}, {0, 11}, {11, 0}, {math.MaxInt64, math.MaxInt64}} {
		if Check(r, 10) == nil {
			t.Errorf("%v is inside 10 bytes", r)
		}
	}
	for _, r := range []Range{{0, 10}, {10, 0}, {9, 1}} {
		if err := Check(r, 10); err != nil {
			t.Error(err)
		}
	}
}

// checkPlan compares a plan with a naive model that looks at each byte.
func checkPlan(t *testing.T, want []Range, m *Model, size int64) {
	t.Helper()
	gap := m.GapLen()
	covered := make([][]bool, len(want))
	for i, w := range want {
		covered[i] = make([]bool, w.Len)
	}
	wanted := make([]bool, size)
	total := int64(0)
	for _, w := range want {
		total += w.Len
		for i := w.Off; i < w.End(); i++ {
			wanted[i] = true
		}
	}
	ramp := m.ramp(total)
	fetches := Plan(want, m)
	for k, f := range fetches {
		if f.Len <= 0 || f.Len > m.MaxLen || Check(f.Range, size) != nil || !wanted[f.Off] || !wanted[f.End()-1] {
			t.Fatalf("fetch %v of %v", f.Range, want)
		}
		unwanted := int64(0)
		for i := f.Off; i < f.End(); i++ {
			if unwanted++; wanted[i] {
				unwanted = 0
			}
			if unwanted > gap {
				t.Fatalf("fetch %v reads over more than %d bytes", f.Range, gap)
			}
		}
		for _, p := range f.Parts {
			w := want[p.Want]
			if p.Off < f.Off || p.End() > f.End() || p.Off != w.Off+p.At || w.Len <= m.MaxLen && p.Len != w.Len {
				t.Fatalf("part %v of %v in fetch %v", p, w, f.Range)
			}
			for i := range p.Len {
				if covered[p.Want][p.At+i] {
					t.Fatalf("byte %d of range %d is delivered twice", p.At+i, p.Want)
				}
				covered[p.Want][p.At+i] = true
			}
		}
		if k > 0 {
			last := fetches[k-1]
			first := f.Parts[0]
			most := m.MaxLen
			if ramp > int64(k) {
				most = m.MaxLen / ramp * int64(k)
			}
			if first.Off < last.Off || first.Off-last.End() <= gap && max(first.End(), last.End())-last.Off <= most {
				t.Fatalf("fetches %v and %v are not merged", last.Range, f.Range)
			}
		}
	}
	for i, c := range covered {
		for at, ok := range c {
			if !ok {
				t.Fatalf("byte %d of range %d is not delivered", at, i)
			}
		}
	}
}

func TestPlanRandom(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		size := r.Int64N(400) + 1
		want := make([]Range, r.IntN(12))
		for i := range want {
			off := r.Int64N(size)
			want[i] = Range{off, r.Int64N(min(size-off, 60) + 1)}
		}
		m := &Model{MaxLen: r.Int64N(100) + 1, Gap: r.Int64N(20) - 1, Requests: r.IntN(6) + 1, MaxBytes: 300}
		checkPlan(t, want, m, size)
	}
}

func FuzzPlan(f *testing.F) {
	f.Add([]byte{0, 1, 0, 9, 0, 3, 0, 5}, uint8(10), int8(4))
	f.Fuzz(func(t *testing.T, b []byte, length uint8, gap int8) {
		const size = 1 << 12
		var want []Range
		for ; len(b) >= 4 && len(want) < 64; b = b[4:] {
			off := int64(binary.BigEndian.Uint16(b)) % size
			want = append(want, Range{off, min(int64(binary.BigEndian.Uint16(b[2:]))%512, size-off)})
		}
		checkPlan(t, want, &Model{MaxLen: int64(length) + 1, Gap: int64(gap), Requests: 1 + len(want)/4, MaxBytes: 1000}, size)
	})
}
