package objects

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"reflect"
	"testing"

	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/frame/internal/simulated"
	"github.com/goblosc/blosc2/frame/internal/storage"
)

// onDisk opens the array in a file of a simulated disk for editing.
func onDisk(sys *simulated.System, name string) (*Array, error) {
	file, err := sys.Open(name, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	ctx := context.Background()
	f, err := frame.EditStorage(ctx, storage.WritableFile{File: file}, &frame.OpenOptions{Concurrency: 1})
	if err != nil {
		return nil, err
	}
	return New(ctx, f)
}

// stored returns all items of the array in a file of a simulated disk.
func stored(o *Array) (list []any, err error) {
	list = []any{}
	for v, err := range o.Items(context.Background(), 0, o.Len()) {
		if err != nil {
			return nil, err
		}
		list = append(list, v)
	}
	return list, nil
}

// crashFile puts a file on a simulated disk.
func crashFile(t testing.TB, sys *simulated.System, name string, b []byte) {
	t.Helper()
	file, err := sys.Open(name, os.O_RDWR|os.O_CREATE, 0o666)
	if err == nil {
		_, err = file.WriteAt(b, 0)
	}
	if err == nil {
		err = file.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
}

// crashArrays are arrays that crash tests append to, with the items to append.
func crashArrays(t testing.TB) map[string]struct {
	content []byte
	items   []any
} {
	t.Helper()
	all := fixtures(t)
	empty, _ := emptied(t, all["stores/batches.b2b"], batchLayer(t, nil))
	content, err := saved(empty.f)
	if err != nil {
		t.Fatal(err)
	}
	lists := []any{[]any{int64(1), int64(2)}, []any{}, []any{int64(3)}}
	return map[string]struct {
		content []byte
		items   []any
	}{
		"objects": {all["stores/objects.b2b"], mixed()}, "batches": {all["stores/batches.b2b"], mixed()}, "no batch": {content, mixed()},
		"lists": {all["tables/t39_list.b2d/_cols/c0_list.b2b"], lists},
	}
}

// TestCrash cuts the power at each change of the disk that appending makes. All items of a call are there, or none.
func TestCrash(t *testing.T) {
	rounds := 8
	if testing.Short() {
		rounds = 3
	}
	for name, c := range crashArrays(t) {
		t.Run(name, func(t *testing.T) {
			ctx := t.Context()
			sys := simulated.New()
			crashFile(t, sys, "a.b2b", c.content)
			before := sys.Image.Clone()
			sys.Log = nil
			o, err := onDisk(sys, "a.b2b")
			if err != nil {
				t.Fatal(err)
			}
			defer o.Close()
			rng := rand.New(rand.NewPCG(1, 5))
			images := 0
			for i := range rounds {
				old := values(t, o)
				items := c.items[:1+(i*5)%len(c.items)]
				start := len(sys.Log)
				if err := o.Append(ctx, items...); err != nil {
					t.Fatal(err)
				}
				n, err := simulated.Crashes(rng, before, sys.Log, start, func(m simulated.Image) error {
					return survives(simulated.On(m), old, append(old[:len(old):len(old)], items...))
				})
				if err != nil {
					t.Fatalf("append %d: %v", i, err)
				}
				images += n
				sys.Log = simulated.Synced(before, sys.Log)
			}
			if images < 50 {
				t.Errorf("%d images", images)
			}
		})
	}
}

// survives returns an error unless a disk holds the old or the new items, and an array that can be appended to.
func survives(sys *simulated.System, old, new []any) error {
	o, err := onDisk(sys, "a.b2b")
	if err != nil {
		return err
	}
	defer o.Close()
	got, err := stored(o)
	if err != nil {
		return err
	}
	if !reflect.DeepEqual(got, old) && !reflect.DeepEqual(got, new) {
		return fmt.Errorf("%d items, want %d or %d", len(got), len(old), len(new))
	}
	added := new[len(old)]
	if err := o.Append(context.Background(), added); err != nil {
		return err
	}
	again, err := stored(o)
	if err == nil && !reflect.DeepEqual(again, append(got, added)) {
		err = fmt.Errorf("%d items after another append, want %d", len(again), len(got)+1)
	}
	return err
}

// TestFailing lets each call of the storage fail in turn. The array then holds the old items or the new ones, and so
// does the file.
func TestFailing(t *testing.T) {
	for name, c := range crashArrays(t) {
		for _, forever := range []bool{false, true} {
			failed := 0
			for at := 1; ; at++ {
				sys := simulated.New()
				crashFile(t, sys, "a.b2b", c.content)
				o, err := onDisk(sys, "a.b2b")
				if err != nil {
					t.Fatal(err)
				}
				old := values(t, o)
				new := append(old[:len(old):len(old)], c.items...)
				sys.Calls, sys.FailAt, sys.Forever, sys.Short = 0, at, forever, at%2 == 0
				err = o.Append(t.Context(), c.items...)
				sys.FailAt = 0
				got, readErr := stored(o)
				if readErr != nil || !reflect.DeepEqual(got, old) && !reflect.DeepEqual(got, new) || err == nil && len(got) != len(new) {
					t.Errorf("%s, call %d: %d items of %d or %d, %v, %v", name, at, len(got), len(old), len(new), err, readErr)
				}
				o.Close()
				if crashed := survives(sys, old, new); crashed != nil {
					t.Errorf("%s, call %d (%s): %v", name, at, sys.Failed, crashed)
				}
				if sys.Failed == "" {
					break
				}
				failed++
			}
			if failed < 5 {
				t.Errorf("%s: only %d calls", name, failed)
			}
		}
	}
}

// TestCreateFaults creates arrays and appends to them, while the power is cut or a call fails. An array is there as a
// whole once Create has returned. Before that, there may be none, but never another one.
func TestCreateFaults(t *testing.T) {
	ctx := t.Context()
	items := []any{[]any{int64(1), int64(2)}, []any{}}
	create := func(sys *simulated.System, kind Kind) (o *Array, err error) {
		file, err := sys.Open("a.b2b", os.O_RDWR|os.O_CREATE, 0o666)
		if err != nil {
			return nil, err
		}
		co := &CreateOptions{Frame: &frame.CreateOptions{Storage: storage.WritableFile{File: file}, Concurrency: 1}}
		if kind == Lists {
			co.Element = "int64"
		}
		if o, err = Create(ctx, "", kind, co); err == nil {
			err = o.Append(ctx, items...)
		}
		return o, err
	}
	// check returns an error unless a disk holds no array, or one with no items or with all of them.
	check := func(sys *simulated.System, needed bool) error {
		o, err := onDisk(sys, "a.b2b")
		if err != nil {
			if needed {
				return err
			}
			return nil
		}
		defer o.Close()
		got, err := stored(o)
		if err == nil && len(got) > 0 && !reflect.DeepEqual(got, items) || needed && len(got) == 0 {
			err = fmt.Errorf("items %v", got)
		}
		if err == nil {
			err = o.Append(ctx, []any{})
		}
		return err
	}
	for _, kind := range []Kind{Objects, Batches, Lists} {
		sys := simulated.New()
		before := sys.Image.Clone()
		o, err := create(sys, kind)
		if err != nil {
			t.Fatal(err)
		}
		n, err := simulated.Crashes(rand.New(rand.NewPCG(1, 6)), before, sys.Log, 0, func(m simulated.Image) error {
			return check(simulated.On(m), false)
		})
		if err != nil || n < 10 {
			t.Errorf("kind %d: %d images, %v", kind, n, err)
		}
		o.Close()
		failed := 0
		for at := 1; ; at++ {
			sys := simulated.New()
			sys.FailAt, sys.Short = at, at%2 == 0
			o, err := create(sys, kind)
			sys.FailAt = 0
			if o != nil {
				o.Close()
			}
			if bad := check(sys, err == nil); bad != nil {
				t.Errorf("kind %d, call %d (%s): %v, then %v", kind, at, sys.Failed, err, bad)
			}
			if sys.Failed == "" {
				break
			}
			failed++
		}
		if failed < 5 {
			t.Errorf("kind %d: only %d calls", kind, failed)
		}
	}
}
