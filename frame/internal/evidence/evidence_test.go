package evidence

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
)

// TestKnown lets several calls wait for one search, which fails, is canceled, panics or finds something.
func TestKnown(t *testing.T) {
	boom := errors.New("boom")
	for _, c := range []struct {
		first    string // what the first search does
		searches int32
		want     error // of the calls that wait
	}{{"find", 1, nil}, {"fail", 1, boom}, {"cancel", 2, nil}, {"panic", 2, nil}} {
		synctest.Test(t, func(t *testing.T) {
			var e Known
			var searches atomic.Int32
			release := make(chan bool)
			ctx, cancel := context.WithCancel(t.Context())
			do := func() (int64, error) {
				if searches.Add(1) > 1 {
					return 100, nil
				}
				<-release
				switch c.first {
				case "fail":
					return 10, boom
				case "cancel":
					return 0, ctx.Err()
				case "panic":
					panic(boom)
				}
				return 100, nil
			}
			var calls sync.WaitGroup
			calls.Go(func() {
				defer func() { recover() }()
				e.Get(ctx, 50, do)
			})
			synctest.Wait()
			for range 5 {
				calls.Go(func() {
					if n, err := e.Get(t.Context(), 50, do); err != c.want || err == nil && n != 100 {
						t.Errorf("%s: %d, %v", c.first, n, err)
					}
				})
			}
			ended, end := context.WithCancel(t.Context())
			calls.Go(func() {
				if _, err := e.Get(ended, 50, do); !errors.Is(err, context.Canceled) {
					t.Errorf("%s: a call that ended: %v", c.first, err)
				}
			})
			synctest.Wait()
			end()
			synctest.Wait()
			if c.first == "cancel" {
				cancel()
			}
			release <- true
			calls.Wait()
			cancel()
			if n := searches.Load(); n != c.searches {
				t.Errorf("%s: %d searches, want %d", c.first, n, c.searches)
			}
		})
	}
}
