package storage

import "testing"

type gap int64

func (g gap) Gap() int64 { return int64(g) }

type costs struct {
	gap
	roundTrip int64
}

func (c costs) RoundTripBytes() int64 { return c.roundTrip }

func TestCosts(t *testing.T) {
	for _, c := range []struct {
		of   Gapper
		want int64
	}{
		{gap(0), 0}, {gap(5), MaxRoundTripBytes}, {costs{0, 500}, 0}, {costs{5, 500}, 500}, {costs{5, -1}, 0}, {costs{5, 1 << 40}, MaxRoundTripBytes},
		{Costs{costs{5, 500}}, 500},
	} {
		if n := (Costs{c.of}).RoundTripBytes(); n != c.want {
			t.Errorf("%+v: %d bytes, want %d", c.of, n, c.want)
		}
	}
}
