package rows

import (
	"slices"
	"testing"
)

func TestSet(t *testing.T) {
	const n = 3*Window + 100
	marks := make([]byte, n)
	r := &Set{}
	var live []int64
	for i := range marks {
		if i%3 == 0 || i/5000%2 == 1 {
			marks[i] = byte(1 + i%255)
			live = append(live, int64(i))
		}
	}
	for start := 0; start < n; start += Window {
		r.add(marks[start:min(start+Window, n)], int64(start))
	}
	if r.Live != int64(len(live)) || r.Stored != live[len(live)-1]+1 {
		t.Fatalf("%d live of %d, want %d of %d", r.Live, r.Stored, len(live), live[len(live)-1]+1)
	}
	for i, want := range live {
		if got := r.Rank(want); got != int64(i) {
			t.Fatalf("Rank(%d) = %d, want %d", want, got, i)
		}
		if got := r.Position(int64(i)); got != want {
			t.Fatalf("position(%d) = %d, want %d", i, got, want)
		}
	}
	for _, span := range [][2]int64{{0, r.Live}, {1, 2}, {100, 70000}, {5, 5}} {
		var got []int64
		err := r.Windows(span[0], span[1], 1000, func(from, to int64, live []int32) error {
			for _, i := range live {
				got = append(got, from+int64(i))
			}
			for i := from; live == nil && i < to; i++ {
				got = append(got, i)
			}
			return nil
		})
		if err != nil || !slices.Equal(got, live[span[0]:span[1]]) {
			t.Errorf("windows(%v): %d rows, %v", span, len(got), err)
		}
		got = nil
		last := int64(-1)
		for from, to := range r.Runs(span[0], span[1]) {
			if from <= last || from >= to {
				t.Fatalf("Runs(%v): %d to %d after %d", span, from, to, last)
			}
			for last = to; from < to; from++ {
				got = append(got, from)
			}
		}
		if !slices.Equal(got, live[span[0]:span[1]]) {
			t.Errorf("Runs(%v): %d rows", span, len(got))
		}
	}
}
