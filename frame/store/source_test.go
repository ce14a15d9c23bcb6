package store_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"slices"
	"testing"

	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/frame/store"
)

// saved returns all leaves of a store that have a frame.
func saved(t *testing.T, s *store.Store) map[string]string {
	t.Helper()
	all := map[string]string{}
	for key := range s.Keys("/") {
		f, err := s.Frame(context.Background(), key)
		if errors.Is(err, errors.ErrUnsupported) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if _, err := f.Save(context.Background(), &b); err != nil {
			t.Fatalf("%s: %v", key, err)
		}
		all[key] = b.String()
		f.Close()
	}
	return all
}

// A store in a source has the same leaves as the store in a file.
func TestSource(t *testing.T) {
	ctx := context.Background()
	for _, name := range []string{"tree.b2z", "dict.b2z", "embed.b2e"} {
		local, err := store.Open(ctx, "../../testdata/stores/"+name, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer local.Close()
		b, err := os.ReadFile("../../testdata/stores/" + name)
		if err != nil {
			t.Fatal(err)
		}
		s, err := store.OpenSource(ctx, memory{bytes.NewReader(b), func(context.Context) {}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		got, want := saved(t, s), saved(t, local)
		if len(want) == 0 || len(got) != len(want) {
			t.Errorf("%s: %d leaves, want %d", name, len(got), len(want))
		}
		for key := range want {
			if got[key] != want[key] {
				t.Errorf("%s: %s differs", name, key)
			}
		}
	}
}

// memory is a source that hands on the context of each read.
type memory struct {
	*bytes.Reader
	read func(ctx context.Context)
}

func (m memory) ReadAtContext(ctx context.Context, p []byte, off int64) (int, error) {
	m.read(ctx)
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	return m.ReadAt(p, off)
}

// Each read has the context of the call that needs it, and no other.
func TestSourceContext(t *testing.T) {
	type key struct{}
	for name, leaf := range map[string]string{"tree.b2z": "/img/level0", "embed.b2e": ""} {
		b, err := os.ReadFile("../../testdata/stores/" + name)
		if err != nil {
			t.Fatal(err)
		}
		step := "open"
		src := memory{bytes.NewReader(b), func(ctx context.Context) {
			if got := ctx.Value(key{}); got != step {
				t.Errorf("%s: a read of %s has the context of %v", name, step, got)
			}
		}}
		opening, cancel := context.WithCancel(context.WithValue(context.Background(), key{}, "open"))
		s, err := store.OpenSource(opening, src, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		cancel()
		if leaf == "" {
			leaf = firstArray(t, s, func(to string) context.Context {
				step = to
				return context.WithValue(context.Background(), key{}, to)
			})
		}
		step = "array"
		leafCtx, cancel := context.WithCancel(context.WithValue(context.Background(), key{}, step))
		a, err := s.Array(leafCtx, leaf)
		if err != nil {
			t.Fatal(err)
		}
		cancel()
		step = "read"
		ctx, cancel := context.WithCancel(context.WithValue(context.Background(), key{}, step))
		dst := make([]byte, a.NBytes())
		if err := a.ReadBytes(ctx, dst); err != nil || slices.Max(dst) == 0 {
			t.Errorf("%s: %v", name, err)
		}
		cancel()
		if err := a.ReadBytes(ctx, dst); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: a read after the end of its context: %v", name, err)
		}
	}
}

// firstArray returns the key of an array with some bytes.
func firstArray(t *testing.T, s *store.Store, step func(string) context.Context) string {
	t.Helper()
	for e, err := range s.Walk(step("walk"), "/") {
		if err == nil && e.Kind == store.KindArray && items(e.Shape) > 0 {
			return e.Key
		}
	}
	t.Fatal("no array")
	return ""
}

// items returns the number of items of a shape.
func items(shape []int64) int64 {
	n := int64(1)
	for _, e := range shape {
		n *= e
	}
	return n
}

// namedSource is a source with a name.
type namedSource struct{ memory }

func (namedSource) String() string { return "https://host/tree.b2z" }

// TestErrorNames checks that the errors of a leaf name the store, as the caller named it, and the key.
func TestErrorNames(t *testing.T) {
	ctx := context.Background()
	const dir = "../../testdata/stores/"
	b, err := os.ReadFile(dir + "tree.b2z")
	if err != nil {
		t.Fatal(err)
	}
	src := memory{bytes.NewReader(b), func(context.Context) {}}
	open := func(name string) (*store.Store, error) { return store.Open(ctx, dir+name, nil) }
	for _, c := range []struct {
		name string
		open func() (*store.Store, error)
	}{
		{dir + "tree.b2z", func() (*store.Store, error) { return open("tree.b2z") }},
		{dir + "embed.b2e", func() (*store.Store, error) { return open("embed.b2e") }},
		{"https://host/tree.b2z", func() (*store.Store, error) { return store.OpenSource(ctx, namedSource{src}, nil) }},
		{"", func() (*store.Store, error) { return store.OpenSource(ctx, src, nil) }},
	} {
		s, err := c.open()
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		for key := range s.Keys("/") {
			f, err := s.Frame(ctx, key)
			if errors.Is(err, errors.ErrUnsupported) {
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			_, err = f.ReadChunk(ctx, nil, -1)
			var e *frame.Error
			if !errors.As(err, &e) || e.Path != c.name+key {
				t.Errorf("error %v, want the path %s", err, c.name+key)
			}
			f.Close()
		}
	}
}
