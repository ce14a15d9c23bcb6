package store

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/meta"
	"github.com/goblosc/blosc2/ndarray"
)

// storeCase is an entry of testdata/stores/manifest.json.
type storeCase struct {
	File   string              `json:"file"`
	Kind   string              `json:"kind"`
	Leaves map[string]leafCase `json:"leaves"`
	VLMeta map[string]map[string]any
	Values []any `json:"values"`
}

type leafCase struct {
	Shape  []int64 `json:"shape"`
	DType  string  `json:"dtype"`
	SHA256 string  `json:"sha256"`
}

// storeCases returns the stores of python-blosc2 with their contents.
func storeCases(t testing.TB) []storeCase {
	t.Helper()
	b, err := os.ReadFile("../../testdata/stores/manifest.json")
	if err != nil {
		t.Fatal(err)
	}
	var m struct{ Cases []storeCase }
	if err := json.Unmarshal(b, &m); err != nil {
		t.Fatal(err)
	}
	if len(m.Cases) != 9 {
		t.Fatalf("%d stores, want 9", len(m.Cases))
	}
	return m.Cases
}

// isStore reports whether a case is a store, and not a single frame.
func (c storeCase) isStore() bool { return strings.HasSuffix(c.Kind, "store") }

// mustOpen opens a store of testdata.
func mustOpen(t testing.TB, name string) *Store {
	t.Helper()
	s, err := Open(context.Background(), filepath.Join("../../testdata", name), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// checkArray compares an array with the manifest.
func checkArray(t *testing.T, a *ndarray.Array, want leafCase) {
	t.Helper()
	if !slices.Equal(a.Shape(), want.Shape) || a.DType().String() != want.DType {
		t.Errorf("shape %v, dtype %s, want %v, %s", a.Shape(), a.DType(), want.Shape, want.DType)
		return
	}
	b := make([]byte, a.NBytes())
	if err := a.ReadBytes(context.Background(), b); err != nil {
		t.Error(err)
		return
	}
	if sum := sha256.Sum256(b); hex.EncodeToString(sum[:]) != want.SHA256 {
		t.Errorf("sha256 %x, want %s", sum, want.SHA256)
	}
}

// checkLeaves compares all leaves of a store with the manifest.
func checkLeaves(t *testing.T, s *Store, c storeCase) {
	t.Helper()
	ctx := context.Background()
	if keys := slices.Collect(s.Keys("/")); len(keys) != len(c.Leaves) {
		t.Errorf("keys %v, want %d", keys, len(c.Leaves))
	}
	for key, want := range c.Leaves {
		a, err := s.Array(ctx, key)
		if err != nil {
			t.Error(err)
			continue
		}
		checkArray(t, a, want)
		e, err := s.Stat(ctx, strings.TrimPrefix(key, "/"))
		if err != nil || e.Kind != KindArray || !slices.Equal(e.Shape, want.Shape) || e.DType.String() != want.DType {
			t.Errorf("%s: Stat returns %+v, %v", key, e, err)
		}
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	}
	for group, attrs := range c.VLMeta {
		names, err := s.Attrs(ctx, group)
		if err != nil || len(names) != len(attrs) {
			t.Errorf("%s: attributes %v, %v", group, names, err)
		}
		for name, want := range attrs {
			var got any
			if err := s.Attr(ctx, group, name, &got); err != nil || got != want {
				t.Errorf("%s: attribute %s is %v, %v, want %v", group, name, got, err, want)
			}
		}
	}
}

func TestStores(t *testing.T) {
	layouts := map[string]Layout{"embedstore": LayoutEmbed, "dictstore": LayoutDict, "treestore": LayoutTree}
	for _, c := range storeCases(t) {
		if !c.isStore() {
			continue
		}
		t.Run(c.File, func(t *testing.T) {
			s := mustOpen(t, "stores/"+c.File)
			if s.Layout() != layouts[c.Kind] {
				t.Errorf("%v, want %s", s.Layout(), c.Kind)
			}
			checkLeaves(t, s, c)
		})
	}
}

func TestStoreReaderAt(t *testing.T) {
	for _, c := range storeCases(t) {
		b, err := os.ReadFile("../../testdata/stores/" + c.File)
		if !c.isStore() || err != nil { // a directory
			continue
		}
		t.Run(c.File, func(t *testing.T) {
			s, err := OpenReaderAt(context.Background(), bytes.NewReader(b), int64(len(b)), nil)
			if err != nil {
				t.Fatal(err)
			}
			checkLeaves(t, s, c)
			if err := s.Close(); err != nil {
				t.Error(err)
			}
			if _, err := s.Array(context.Background(), slices.Collect(s.Keys("/"))[0]); !errors.Is(err, fs.ErrClosed) {
				t.Errorf("after Close: %v", err)
			}
			if _, err := s.Stat(context.Background(), "/"); !errors.Is(err, fs.ErrClosed) {
				t.Errorf("Stat after Close: %v", err)
			}
			if _, err := s.Attrs(context.Background(), "/"); !errors.Is(err, fs.ErrClosed) {
				t.Errorf("Attrs after Close: %v", err)
			}
			n := 0
			for _, err := range s.Walk(context.Background(), "/") {
				if n++; !errors.Is(err, fs.ErrClosed) {
					t.Errorf("Walk after Close: %v", err)
				}
			}
			if n != 1 {
				t.Errorf("Walk after Close yields %d entries", n)
			}
		})
	}
}

func TestWalk(t *testing.T) {
	ctx := context.Background()
	var got []string
	for e, err := range mustOpen(t, "stores/tree.b2z").Walk(ctx, "/") {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, e.Key+" "+e.Kind.String())
	}
	want := []string{"/img group", "/img/level0 array", "/img/level1 array", "/img/level2 array", "/meta group", "/meta/pos array"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	for e, err := range mustOpen(t, "stores/tree.b2d").Walk(ctx, "/img") {
		if err != nil || !strings.HasPrefix(e.Key, "/img/level") {
			t.Errorf("%v %v", e, err)
		}
	}
	for _, err := range mustOpen(t, "stores/tree.b2d").Walk(ctx, "/no") {
		if !errors.Is(err, fs.ErrNotExist) {
			t.Error(err)
		}
	}
	s := mustOpen(t, "stores/tree.b2d")
	if _, err := s.Array(ctx, "/img"); !errors.Is(err, ErrFormat) || err.Error() != "store: /img: a group, not a leaf" {
		t.Errorf("a group as an array: %v", err)
	}
	if _, err := s.Array(ctx, "/nothing"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing key: %v", err)
	}
}

func TestFS(t *testing.T) {
	for _, name := range []string{"stores/tree.b2z", "stores/tree.b2d", "stores/embed.b2e", "stores/dict.b2z", "tables/wide5.b2d"} {
		t.Run(name, func(t *testing.T) {
			s := mustOpen(t, name)
			var files []string
			for key := range s.Keys("/") {
				files = append(files, strings.TrimPrefix(key, "/"))
			}
			if err := fstest.TestFS(s, files...); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestTensor(t *testing.T) {
	ctx := context.Background()
	for _, c := range storeCases(t) {
		if c.Kind != "tensor" {
			continue
		}
		a, err := OpenTensor(ctx, "../../testdata/stores/"+c.File, nil)
		if err != nil {
			t.Fatal(err)
		}
		checkArray(t, a, c.Leaves[""])
	}
}

func TestReference(t *testing.T) {
	b, err := os.ReadFile("../../testdata/stores/lazy_expr.b2nd")
	if err != nil {
		t.Fatal(err)
	}
	f, err := frame.OpenReaderAt(context.Background(), bytes.NewReader(b), int64(len(b)), nil)
	if err != nil {
		t.Fatal(err)
	}
	r, err := referenceOf(f)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := r.String(), "lazyexpr ((o0 + o1) * 2) with o0 = urlpath lazy_a.b2nd, o1 = urlpath lazy_b.b2nd"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	var e Entry
	if err := e.describe(context.Background(), f); err != nil || e.Kind != KindReference || !slices.Equal(e.Shape, []int64{30, 20}) {
		t.Errorf("%+v, %v", e, err)
	}
	inner, err := meta.Marshal(map[string]any{"kind": "ref", "version": 1, "ref": map[string]any{"kind": "dictstore_key", "urlpath": "d.b2d", "key": "/k"}})
	if err != nil {
		t.Fatal(err)
	}
	got, err := ReadReference(meta.Ext{Type: meta.ExtRef, Data: inner})
	if err != nil || got.String() != "dictstore_key d.b2d /k" {
		t.Errorf("%v, %v", got, err)
	}
}

// TestIndex sets and removes random leaves, and compares what the index finds with what the leaves show.
func TestIndex(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	x := index{leaves: map[string]*leaf{}}
	random := func() string {
		key := ""
		for range 1 + rng.IntN(4) {
			key += "/" + string(rune('a'+rng.IntN(3)))
		}
		return key
	}
	for range 20 { // as when a store is opened
		key := random()
		x.leaves[key] = &leaf{key: key}
	}
	if err := x.countChildren(1000); err != nil {
		t.Fatal(err)
	}
	for step := range 3000 {
		if key := random(); rng.IntN(2) == 0 {
			x.set(key, &leaf{key: key})
		} else {
			x.set(key, nil)
		}
		want := map[string]entryName{}
		for key, l := range x.leaves {
			want[key] = entryName{key, l, want[key].group}
			for g := parent(key); g != "/"; g = parent(g) {
				want[g] = entryName{g, x.leaves[g], true}
			}
		}
		names := x.sorted()
		if len(names) != len(want) || !slices.IsSortedFunc(names, func(a, b entryName) int { return compareKeys(a.key, b.key) }) {
			t.Fatalf("step %d: %v, want %v", step, names, want)
		}
		for _, e := range names {
			if found, ok := x.find(e.key); e != want[e.key] || found != e || !ok {
				t.Fatalf("step %d: %v, found %v, %v, want %v", step, e, found, ok, want[e.key])
			}
		}
		if e, ok := x.find(random()); ok != (e.leaf != nil || e.group) || ok != (want[e.key].key != "") {
			t.Fatalf("step %d: found %v, %v", step, e, ok)
		}
	}
	again := index{leaves: x.leaves}
	if err := again.countChildren(1000); err != nil || !maps.Equal(again.children, x.children) {
		t.Errorf("%v, want %v, %v", x.children, again.children, err)
	}
	for key := range x.leaves {
		x.set(key, nil)
	}
	if len(x.children) != 0 {
		t.Errorf("%v is left", x.children)
	}
}

// TestDescribeClosed describes closed frames of several kinds.
func TestDescribeClosed(t *testing.T) {
	ctx := context.Background()
	s, err := Open(ctx, "../../testdata/stores/tree.b2z", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for e, err := range s.Walk(ctx, "/") {
		if err != nil {
			t.Fatal(err)
		}
		f, err := s.Frame(ctx, e.Key)
		if err != nil {
			continue // a group
		}
		f.Close()
		if got, err := Describe(ctx, f); !errors.Is(err, fs.ErrClosed) {
			t.Errorf("%s, kind %v: %+v, %v", e.Key, e.Kind, got, err)
		}
	}
}
