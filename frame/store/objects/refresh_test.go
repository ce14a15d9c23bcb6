package objects

import (
	"errors"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/meta"
)

// TestReplaced replaces the file of an array by an array of another kind, or with other elements.
func TestReplaced(t *testing.T) {
	ctx := t.Context()
	const none = Kind(9) // a frame that is no array
	for _, c := range []struct {
		from, to Kind
		item     any
	}{{Objects, Batches, "a"}, {Batches, Objects, "a"}, {Batches, Lists, "a"}, {Lists, Lists, []any{"a"}}, {Objects, none, "a"}} {
		name := filepath.Join(t.TempDir(), "a.b2b")
		create := func(kind Kind, element string) *Array {
			o := &CreateOptions{Frame: &frame.CreateOptions{Overwrite: true}}
			if kind == Lists {
				o.Element = element
			}
			a, err := Create(ctx, name, kind, o)
			if err != nil {
				t.Fatal(err)
			}
			return a
		}
		create(c.from, "string").Close()
		f, err := frame.Edit(ctx, name, nil)
		if err != nil {
			t.Fatal(err)
		}
		r, err := New(ctx, f)
		if err != nil {
			t.Fatal(err)
		}
		if c.to != none {
			create(c.to, "int64").Close()
		} else {
			plain, err := frame.Create(ctx, name, &frame.CreateOptions{Overwrite: true})
			if err != nil {
				t.Fatal(err)
			}
			plain.Close()
		}
		for range 2 {
			if _, err := r.Refresh(ctx); !errors.Is(err, frame.ErrChanged) {
				t.Errorf("%v: Refresh: %v, want ErrChanged", c, err)
			}
			if err := r.Append(ctx, c.item); !errors.Is(err, frame.ErrChanged) && !errors.Is(err, ErrType) {
				t.Errorf("%v: Append: %v, want ErrChanged", c, err)
			}
		}
		r.Close()
	}
}

// TestRefresh follows an array that another one appends to, and from which the first batch is deleted.
func TestRefresh(t *testing.T) {
	ctx := t.Context()
	for _, kind := range []Kind{Objects, Batches} {
		name := filepath.Join(t.TempDir(), "a.b2b")
		w, err := Create(ctx, name, kind, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer w.Close()
		for _, batch := range [][]any{{"a", "b"}, {"c"}} {
			if err := w.Append(ctx, batch...); err != nil {
				t.Fatal(err)
			}
		}
		f, err := frame.Open(ctx, name, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		r, err := New(ctx, f)
		if err != nil {
			t.Fatal(err)
		}
		check := func(changes bool, want ...any) {
			t.Helper()
			if changed, err := r.Refresh(ctx); err != nil || changed != changes {
				t.Errorf("kind %d: %v, %v", kind, changed, err)
			}
			if got := values(t, r); !reflect.DeepEqual(got, want) {
				t.Errorf("kind %d: %v, want %v", kind, got, want)
			}
		}
		check(false, "a", "b", "c")
		if err := w.Append(ctx, "d", "e", "f"); err != nil {
			t.Fatal(err)
		}
		check(true, "a", "b", "c", "d", "e", "f")
		b, err := w.Frame().Begin(ctx)
		if err != nil {
			t.Fatal(err)
		}
		err = b.Delete(0)
		want := []any{"b", "c", "d", "e", "f"}
		if kind == Batches {
			lengths, marshalErr := meta.Marshal(map[string]any{"batch_lengths": []int{1, 3}})
			err = errors.Join(err, marshalErr, b.SetVLMeta(lengthsLayer, lengths))
			want = want[1:]
		}
		if err := errors.Join(err, b.Commit()); err != nil {
			t.Fatal(err)
		}
		check(true, want...)
		// Another call has switched the frame, but not the batches.
		if err := w.Append(ctx, "g"); err != nil {
			t.Fatal(err)
		}
		if changed, err := r.Frame().Refresh(ctx); err != nil || !changed {
			t.Errorf("kind %d: %v, %v", kind, changed, err)
		}
		check(kind == Batches, append(want, "g")...)
	}
}

// TestOneState opens and refreshes an array of a frame while another Array appends to the frame.
func TestOneState(t *testing.T) {
	ctx := t.Context()
	w, err := Create(ctx, "", Batches, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	done := make(chan error, 1)
	go func() {
		var err error
		for range 500 {
			err = errors.Join(err, w.Append(ctx, "a", "b"))
		}
		done <- err
	}()
	for ended := false; !ended; {
		select {
		case err := <-done:
			if ended = true; err != nil {
				t.Error(err)
			}
		default:
		}
		r, err := New(ctx, w.Frame())
		if err == nil {
			_, err = r.Refresh(ctx)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}
