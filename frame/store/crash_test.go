package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/frame/internal/simulated"
	"github.com/goblosc/blosc2/meta"
)

// state is a model of a store and its packed copy.
type state struct {
	exists bool
	leaves map[string]string
	attrs  map[string]string
	packed map[string]string // nil before the first Pack
}

func (m state) clone() state {
	m.leaves, m.attrs = maps.Clone(m.leaves), maps.Clone(m.attrs)
	return m
}

func (m state) String() string {
	return fmt.Sprintf("exists %v, keys %q, %d attributes, packed %q", m.exists, slices.Sorted(maps.Keys(m.leaves)), len(m.attrs),
		slices.Sorted(maps.Keys(m.packed)))
}

// leavesOf returns the decoded bytes of all leaves of a store, and the attributes of its groups.
func leavesOf(ctx context.Context, s *Store) (leaves, attrs map[string]string, err error) {
	leaves, attrs = map[string]string{}, map[string]string{}
	for key := range s.Keys("/") {
		f, err := s.Frame(ctx, key)
		if err != nil {
			return nil, nil, err
		}
		b, err := io.ReadAll(f.Content(ctx))
		f.Close()
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", key, err)
		}
		leaves[key] = string(b)
	}
	for _, group := range []string{"/", "/g0", "/g1"} {
		names, err := s.Attrs(ctx, group)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, nil, err
		}
		for _, name := range names {
			var v string
			if err := s.Attr(ctx, group, name, &v); err != nil {
				return nil, nil, err
			}
			attrs[group+" "+name] = v
		}
	}
	return leaves, attrs, nil
}

// stored returns the content of the store with a name on a simulated disk.
func stored(ctx context.Context, sys *simulated.System, name string) (m state, err error) {
	o := &OpenOptions{sys: sys}
	s, err := Open(ctx, name, o)
	if err == nil {
		defer s.Close()
		m.exists = true
		m.leaves, m.attrs, err = leavesOf(ctx, s)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return m, err
	}
	z, err := Open(ctx, name+".b2z", o)
	if err == nil {
		defer z.Close()
		m.packed, _, err = leavesOf(ctx, z)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return m, fmt.Errorf("packed: %w", err)
	}
	return m, nil
}

// isOneOf returns an error if neither the store nor the packed store is that of one of the models.
func (m state) isOneOf(models ...state) error {
	same, samePacked := false, false
	for _, want := range models {
		same = same || m.exists == want.exists && maps.Equal(m.leaves, want.leaves) && maps.Equal(m.attrs, want.attrs)
		samePacked = samePacked || (m.packed == nil) == (want.packed == nil) && maps.Equal(m.packed, want.packed)
	}
	if !same || !samePacked {
		return fmt.Errorf("another state: %v; want one of %v", m, models)
	}
	return nil
}

// editProgram makes random edits of a store and of a model.
type editProgram struct {
	*rand.Rand
	name string
	opts OpenOptions
	s    *Store
	m    state
}

// newProgram returns a program that has not created its store yet.
func newProgram(seed uint64, name string, sys *simulated.System) *editProgram {
	p := &editProgram{Rand: rand.New(rand.NewPCG(seed, 7)), name: name}
	p.opts = OpenOptions{sys: sys, Frames: &frame.OpenOptions{Concurrency: 1}}
	if filepath.Ext(name) == ".b2d" {
		p.opts.Threshold = 700
	}
	return p
}

// create creates the store.
func (p *editProgram) create(ctx context.Context) (next state, err error) {
	next = state{exists: true, leaves: map[string]string{}, attrs: map[string]string{}}
	p.s, err = Create(ctx, p.name, &CreateOptions{OpenOptions: p.opts})
	return next, err
}

// edit makes a random edit and returns the model of the new state.
func (p *editProgram) edit(t testing.TB) (next state, err error) {
	ctx := t.Context()
	next = p.m.clone()
	key := fmt.Sprintf("/g%d/leaf%d", p.IntN(2), p.IntN(4))
	switch k := p.IntN(20); {
	case k < 5 && p.s.Has(key):
		delete(next.leaves, key)
		return next, p.s.Delete(ctx, key)
	case k == 5 && p.s.Layout() == LayoutTree && p.s.Has("/g0"):
		name, v := fmt.Sprint("a", p.IntN(3)), fmt.Sprint(p.Uint64())
		next.attrs["/g0 "+name] = v
		return next, p.s.SetAttr(ctx, "/g0", name, v)
	case k <= 7 && p.s.Layout() != LayoutEmbed:
		next.packed = maps.Clone(next.leaves)
		return next, p.s.Pack(ctx, p.name+".b2z", &CreateOptions{Overwrite: true})
	}
	content := make([]byte, 1+p.IntN(1500))
	for i := range content {
		content[i] = byte(p.Uint32())
	}
	f := kindFrame(t, p.IntN(3), content)
	defer f.Close()
	next.leaves[key] = string(content)
	return next, p.s.Put(ctx, key, f)
}

// kindFrame returns a frame with content whose file has the extension .b2f, .b2nd or .b2b.
func kindFrame(t testing.TB, kind int, content []byte) *frame.Frame {
	t.Helper()
	fixed := [][]meta.Layer{nil, {{Name: "b2nd", Content: []byte{0}}}, {{Name: "batcharray", Content: []byte{0}}}}[kind]
	f, err := frame.OpenBytes(buildFrame(t, fixed, nil, content), nil)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// TestCrash cuts the power at each change of the disk that programs of edits make. Whatever was not synced is lost,
// torn or stored. The store must be that before or after the edit, and a packed store the old or the new one.
func TestCrash(t *testing.T) {
	edits := 200
	if testing.Short() {
		edits = 12
	}
	for _, name := range []string{"s.b2d", "s.b2e"} {
		t.Run(name, func(t *testing.T) {
			sys := simulated.New()
			p := newProgram(1, name, sys)
			before := sys.Image.Clone()
			images := 0
			for i := range edits + 2 {
				start := len(sys.Log)
				next, err := p.m, error(nil)
				switch {
				case i == 0:
					next, err = p.create(t.Context())
				case i > edits: // the last edit must last
				case i%25 == 24: // reopened
					if err = p.s.Close(); err == nil {
						p.s, err = Edit(t.Context(), name, &p.opts)
					}
				default:
					next, err = p.edit(t)
				}
				if err != nil {
					t.Fatal(err)
				}
				n, err := simulated.Crashes(p.Rand, before, sys.Log, start, func(m simulated.Image) error {
					return p.survives(t, simulated.On(m), p.m, next)
				})
				if err != nil {
					t.Fatalf("edit %d, %v", i, err)
				}
				images += n
				p.m = next
				sys.Log = simulated.Synced(before, sys.Log)
			}
			if err := p.s.Close(); err != nil || sys.Opened != 0 {
				t.Errorf("%d files are open, %v", sys.Opened, err)
			}
			t.Logf("%d images", images)
		})
	}
}

// survives returns an error if the disk holds none of the models. It also edits one store in ten.
func (p *editProgram) survives(t testing.TB, sys *simulated.System, models ...state) error {
	ctx := t.Context()
	m, err := stored(ctx, sys, p.name)
	if err == nil {
		err = m.isOneOf(models...)
	}
	if err != nil || !m.exists || p.IntN(10) > 0 {
		return err
	}
	o := p.opts
	o.sys = sys
	s, err := Edit(ctx, p.name, &o)
	if err != nil {
		return err
	}
	defer s.Close()
	for _, size := range []int{10, 2000} {
		content := make([]byte, size)
		if err := s.Put(ctx, "/g0/leaf0", contentFrame(t, content)); err != nil {
			return err
		}
		m.leaves["/g0/leaf0"] = string(content)
	}
	if err := s.Delete(ctx, "/g0/leaf0"); err != nil {
		return err
	}
	delete(m.leaves, "/g0/leaf0")
	again, err := stored(ctx, sys, p.name)
	if err == nil {
		err = again.isOneOf(m)
	}
	if err != nil {
		return fmt.Errorf("edited after the crash: %w", err)
	}
	if dir := sys.Image[0].Dir[p.name]; len(tempFiles(sys.Image, dir)) > 0 {
		return fmt.Errorf("%v are left", tempFiles(sys.Image, dir))
	}
	return nil
}

// TestKilledCreate kills a process that creates a store. Another one edits the store, and the power fails. The edit
// must not be lost.
func TestKilledCreate(t *testing.T) {
	ctx := t.Context()
	for _, name := range []string{"s.b2d", "s.b2e"} {
		for killAt, more := 1, true; more; killAt++ {
			sys := simulated.New()
			o := OpenOptions{sys: sys}
			before := sys.Image.Clone()
			sys.FailAt, sys.Forever = killAt, true
			if s, err := Create(ctx, name, &CreateOptions{OpenOptions: o}); err == nil {
				s.Close()
			}
			more = sys.Failed != ""
			sys.FailAt = 0
			s, err := Edit(ctx, name, &o)
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			f, err := frame.CreateFunc(ctx, "", func(b *frame.Batch) error { return b.Append(ctx, []byte("abc")) }, nil)
			if err = errors.Join(err, s.Put(ctx, "/a", f), s.Close()); err != nil {
				t.Fatal(err)
			}
			_, err = simulated.Crashes(rand.New(rand.NewPCG(1, 1)), before, sys.Log, len(sys.Log), func(m simulated.Image) error {
				s, err := Open(ctx, name, &OpenOptions{sys: simulated.On(m)})
				if err != nil {
					return err
				}
				defer s.Close()
				if !s.Has("/a") {
					err = errors.New("the leaf is lost")
				}
				return err
			})
			if err != nil {
				t.Errorf("%s, killed before call %d (%s): %v", name, killAt, sys.Failed, err)
			}
		}
	}
}

// An edit takes two syncs: of the new bytes and of the header, or of the new file and of its directory. The header of
// an embed store, which is at the start of a file, needs no journal.
func TestEditSyncs(t *testing.T) {
	for _, name := range []string{"s.b2d", "s.b2e"} {
		sys := simulated.New()
		s, err := Create(t.Context(), name, &CreateOptions{OpenOptions: OpenOptions{sys: sys}})
		if err != nil {
			t.Fatal(err)
		}
		for i := range 3 {
			sys.Log = nil
			if err := s.Put(t.Context(), fmt.Sprint("/leaf", i), contentFrame(t, make([]byte, 100))); err != nil {
				t.Fatal(err)
			}
			syncs := 0
			for _, c := range sys.Log {
				if c.Kind == "sync" {
					syncs++
				}
			}
			if syncs != 2 {
				t.Errorf("%s: %d syncs of %d changes", name, syncs, len(sys.Log))
			}
		}
		s.Close()
	}
}
