package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/frame/store/internal/source"
	"github.com/goblosc/blosc2/internal/errs"
)

// failing is a source that counts its calls, and fails if fail returns an error for the number of a call.
type failing struct {
	source.Source
	b     []byte
	calls int
	fail  func(call int) error
}

func (s *failing) next() error {
	s.calls++
	if s.fail == nil {
		return nil
	}
	return s.fail(s.calls)
}

func (s *failing) ReadAtContext(ctx context.Context, p []byte, off int64) (int, error) {
	if err := s.next(); err != nil {
		return 0, err
	}
	return s.Source.ReadAtContext(ctx, p, off)
}

// failingRanges is a failing source with ReadRanges.
type failingRanges struct{ *failing }

func (s failingRanges) ReadRanges(_ context.Context, want []frame.Range, got func(i int, at int64, b []byte) error) error {
	if err := s.next(); err != nil {
		return err
	}
	for i, r := range want {
		if err := got(i, 0, bytes.Clone(s.b[r.Off:r.End()])); err != nil {
			return err
		}
	}
	return nil
}

// A walk over a source that is down ends after four leaves. The leaves of a call of ReadRanges that fails are read one
// by one, until an error shows that the source answers nothing. Groups in between do not count, nor do errors that do
// not show that the source is down.
func TestWalkOutage(t *testing.T) {
	const leaves = 13
	down := errors.New("connection refused")
	always := func(err error) func(int) error { return func(int) error { return err } }
	first := func(calls int) func(int) error {
		return func(call int) error {
			if call <= calls {
				return down
			}
			return nil
		}
	}
	b := zipWith(t, func(yield func(string, []byte) bool) {
		leaf := buildFrame(t, nil, nil, []byte("content"))
		for i := range leaves - 1 {
			if !yield(fmt.Sprintf("g%02d/leaf.b2f", i), leaf) {
				return
			}
		}
		noise := make([]byte, 1<<20) // opening the store reads the end of the file
		rand.NewChaCha8([32]byte{}).Read(noise)
		yield("z/leaf.b2f", buildFrame(t, nil, nil, noise))
	})
	for _, c := range []struct {
		name   string
		fail   func(call int) error
		ranges bool
		errors int
		calls  int
	}{
		{"down", always(down), false, 4, 4},
		{"down, with ranges", always(down), true, 4, 5},
		{"no answer, with ranges", always(errs.ErrNoAnswer), true, 4, 2},
		{"one call of ReadRanges", first(1), true, 0, 1 + leaves + 1}, // the last leaf takes two,
		{"bytes of one leaf, with ranges", first(2), true, 1, 1 + leaves + 1},
		{"down at the end", func(call int) error {
			if call <= leaves-4 {
				return nil
			}
			return down
		}, false, 4, leaves},
		{"gaps", func(call int) error {
			if call%4 == 0 { // a leaf takes one call
				return nil
			}
			return down
		}, false, 10, leaves},
		{"forbidden", always(fs.ErrPermission), false, leaves, leaves},
		{"forbidden, with ranges", always(fs.ErrPermission), true, leaves, leaves + 1},
		{"missing", always(fs.ErrNotExist), false, leaves, leaves},
		{"damaged", always(frame.ErrCorrupt), false, leaves, leaves},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := &failing{Source: source.FromReader(bytes.NewReader(b), int64(len(b))), b: b}
			var src frame.Source = f
			if c.ranges {
				src = failingRanges{f}
			}
			s, err := OpenSource(t.Context(), src, nil)
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			f.calls, f.fail = 0, c.fail
			var list []string
			for e, err := range s.Walk(t.Context(), "/") {
				if err != nil {
					list = append(list, fmt.Sprint(e.Key, ": ", err))
				}
			}
			if len(list) != c.errors || f.calls != c.calls {
				t.Errorf("%d errors, %d calls, want %d, %d: %q", len(list), f.calls, c.errors, c.calls, list)
			}
			for i, text := range list {
				gaveUp := i == 3 && c.errors == 4 && c.calls < leaves
				if strings.HasSuffix(text, "; the source seems to be down: the keys after this one are not listed") != gaveUp {
					t.Errorf("error %d: %s", i, text)
				}
			}
		})
	}
}

// If the call of ReadRanges for files with unknown extensions fails, they are read one by one. If that fails, too, they
// may be leaves, and the store cannot be opened.
func TestOpenOutage(t *testing.T) {
	const leaves = 7
	b := zipWith(t, func(yield func(string, []byte) bool) {
		leaf := buildFrame(t, nil, nil, []byte("content"))
		for i := range leaves - 1 {
			if !yield(fmt.Sprintf("leaf%d.dat", i), leaf) {
				return
			}
		}
		noise := make([]byte, 1<<20) // opening the store reads the end of the file
		rand.NewChaCha8([32]byte{}).Read(noise)
		yield("z.dat", buildFrame(t, nil, nil, noise))
	})
	for _, err := range []error{
		errors.New("connection reset"), errs.ErrNoAnswer, fmt.Errorf("the answer broke off: %w", io.ErrUnexpectedEOF),
	} {
		f := &failing{Source: source.FromReader(bytes.NewReader(b), int64(len(b))), b: b}
		f.fail = func(call int) error {
			if call == 2 { // after the list of files
				return err
			}
			return nil
		}
		s, openErr := OpenSource(t.Context(), failingRanges{f}, nil)
		if openErr != nil {
			t.Errorf("%v: %v", err, openErr)
			continue
		}
		if n := len(slices.Collect(s.Keys("/"))); n != leaves {
			t.Errorf("%v: %d keys, want %d", err, n, leaves)
		}
		s.Close()
		f.calls, f.fail = 0, func(call int) error {
			if call >= 2 {
				return err
			}
			return nil
		}
		if s, openErr := OpenSource(t.Context(), failingRanges{f}, nil); !errors.Is(openErr, err) {
			t.Errorf("%v, %v, want %v", s, openErr, err)
		}
	}
}

// A walk over leaves in an embed store ends, too.
func TestWalkOutageEmbed(t *testing.T) {
	s, err := Create(t.Context(), t.TempDir()+"/s.b2e", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	f, err := frame.Open(t.Context(), "../../testdata/stores/tree.b2d/embed.b2e", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for i := range 10 {
		if err := s.Put(t.Context(), fmt.Sprintf("/leaf%d", i), f); err != nil {
			t.Fatal(err)
		}
	}
	var out bytes.Buffer
	if _, err := s.embed.Save(t.Context(), &out); err != nil {
		t.Fatal(err)
	}
	src := &failing{Source: source.FromReader(bytes.NewReader(out.Bytes()), int64(out.Len()))}
	far, err := OpenSource(t.Context(), src, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer far.Close()
	src.fail = func(int) error { return errors.New("connection refused") }
	n := 0
	for _, err := range far.Walk(t.Context(), "/") {
		if err != nil {
			n++
		}
	}
	if n != 4 {
		t.Errorf("%d errors, want 4", n)
	}
}

// A walk over a store inside a leaf does not end if the store around it is a file on disk.
func TestWalkOutageNested(t *testing.T) {
	const leaves = 10
	leaf := buildFrame(t, nil, nil, []byte("content"))
	inner := zipWith(t, func(yield func(string, []byte) bool) {
		yield("begin.txt", make([]byte, 1<<20)) // opening the store reads the beginning and the end of the file
		for i := range leaves {
			if !yield(fmt.Sprintf("leaf%d.b2f", i), leaf) {
				return
			}
		}
		yield("end.txt", make([]byte, 1<<20))
	})
	name := t.TempDir() + "/s.b2z"
	outer := zipWith(t, func(yield func(string, []byte) bool) { yield("inner.b2f", inner) })
	if err := os.WriteFile(name, outer, 0o600); err != nil {
		t.Fatal(err)
	}
	file, err := Open(t.Context(), name, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	f := &failing{Source: source.FromReader(bytes.NewReader(outer), int64(len(outer)))}
	far, err := OpenSource(t.Context(), f, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer far.Close()
	count := func(s *Store, fail func(), want int) {
		t.Helper()
		sub, err := s.Sub(t.Context(), "/inner")
		if err != nil {
			t.Fatal(err)
		}
		defer sub.Close()
		fail()
		n := 0
		for _, err := range sub.Walk(t.Context(), "/") {
			if err != nil {
				n++
			}
		}
		if n != want {
			t.Errorf("%d errors, want %d", n, want)
		}
	}
	count(far, func() { f.fail = func(int) error { return errors.New("connection refused") } }, 4)
	count(file, func() {
		if err := os.Truncate(name, 0); err != nil {
			t.Fatal(err)
		}
	}, leaves)
}
