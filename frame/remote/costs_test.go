package remote

import (
	"testing"
	"testing/synctest"
	"time"
)

// TestCosts checks the latency and the bandwidth that are learned from times.
func TestCosts(t *testing.T) {
	o, err := (&Options{}).complete()
	if err != nil {
		t.Fatal(err)
	}
	near := func(what string, got, want float64) {
		t.Helper()
		if got < want*0.95 || got > want*1.05 {
			t.Errorf("%s is %g, want about %g", what, got, want)
		}
	}
	c := newCosts(o.model(), o.learnLatency, o.learnBandwidth)
	for range 100 {
		c.answered(2 * time.Millisecond)
	}
	near("latency", c.cost().Latency.Seconds(), 0.002)
	c.answered(time.Hour) // one slow answer counts little
	if l := c.cost().Latency; l > 150*time.Millisecond {
		t.Errorf("latency is %v after one slow answer", l)
	}
	for range 1000 {
		c.answered(time.Hour)
	}
	near("latency", c.cost().Latency.Seconds(), mostLatency.Seconds())
	for range 1000 {
		c.answered(0)
	}
	near("latency", c.cost().Latency.Seconds(), leastLatency.Seconds())

	now := time.Unix(0, 0)
	receive := func(perSecond float64, bytes int) {
		c.begin(now)
		for range bytes / (64 << 10) {
			now = now.Add(time.Duration(max(64<<10/perSecond*1e9, 1)))
			c.received(now, 64<<10)
		}
		c.end(now)
	}
	receive(1e6, 512<<10)
	near("bandwidth after a short body", float64(c.cost().Bandwidth), 100e6)
	receive(20e6, 64<<20)
	near("bandwidth", float64(c.cost().Bandwidth), 20e6)
	now = now.Add(time.Hour) // a pause between bodies does not count
	receive(20e6, 64<<20)
	near("bandwidth", float64(c.cost().Bandwidth), 20e6)
	receive(1, 64<<20)
	near("bandwidth", float64(c.cost().Bandwidth), leastBandwidth)
	receive(1e15, 64<<20)
	near("bandwidth", float64(c.cost().Bandwidth), mostBandwidth)

	o, _ = (&Options{Latency: time.Second, Bandwidth: 5e6}).complete()
	c = newCosts(o.model(), o.learnLatency, o.learnBandwidth)
	for range 100 {
		c.answered(time.Millisecond)
	}
	receive(100e6, 64<<20)
	if m := c.cost(); m.Latency != time.Second || m.Bandwidth != 5e6 {
		t.Errorf("options do not fix the costs: %v, %d", m.Latency, m.Bandwidth)
	}
}

// TestLearn reads over a link that is not as the defaults say.
func TestLearn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		data := randomBytes(16 << 20)
		l := newLink(data)
		l.Latency, l.Bandwidth = 4*time.Millisecond, 10e6
		obj := open(t, l, Options{})
		if gap := obj.Gap(); gap > 312_500 {
			t.Errorf("gap %d before the first read", gap)
		}
		for i := range int64(160) {
			readAll(t, obj, data, []Range{{Off: 1<<20 + i%40*300_000, Len: 250_000}})
		}
		if gap := obj.Gap(); gap < 2000 || gap > 3500 {
			t.Errorf("gap %d, want about %d", gap, 10_000_000*4/1000/16)
		}
		fixed := open(t, l, Options{Gap: 12345})
		readAll(t, fixed, data, []Range{{Off: 1 << 20, Len: 8 << 20}})
		if gap := fixed.Gap(); gap != 12345 {
			t.Errorf("gap %d, want that of the options", gap)
		}
	})
}
