package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/goblosc/blosc2/frame/internal/simulated"
	"github.com/goblosc/blosc2/frame/internal/storage"
)

// TestFailingCalls lets each single call of edits fail. The store must be that before or after the edit, and the open
// store must agree with it: later edits fail, or are made.
func TestFailingCalls(t *testing.T) {
	programs := uint64(15)
	if testing.Short() {
		programs = 4
	}
	kinds := map[string]int{}
	for seed := range programs {
		for failAt := 1; failOnce(t, seed, failAt, kinds); failAt++ {
		}
	}
	t.Log(kinds)
	for _, k := range []string{"open", "write", "sync", "rename", "refused", "mkdir", "remove"} {
		if kinds[k] == 0 && (!testing.Short() || k != "mkdir" && k != "remove") {
			t.Errorf("no failing %s", k)
		}
	}
}

// failOnce runs a program with a failing call. It returns false if the program has fewer calls.
func failOnce(t *testing.T, seed uint64, failAt int, kinds map[string]int) bool {
	ctx := t.Context()
	sys := simulated.New()
	p := newProgram(seed, []string{"s.b2d", "s.b2e"}[seed%2], sys)
	m, err := p.create(ctx)
	if err != nil {
		t.Fatal(err)
	}
	p.m = m
	for range seed {
		if p.m, err = p.edit(t); err != nil {
			t.Fatal(err)
		}
	}
	sys.Calls, sys.FailAt, sys.Short, sys.Forever = 0, failAt, failAt%2 == 0, seed%5 == 4
	next, err := p.edit(t)
	what := fmt.Sprintf("program %d, call %d, a %s", seed, failAt, sys.Failed)
	failed := sys.Failed != ""
	kinds[sys.Failed]++
	sys.FailAt, sys.Forever = 0, false
	if err != nil && !errors.Is(err, simulated.ErrDisk) {
		t.Fatalf("%s: %v", what, err)
	}
	check := func(models ...state) state {
		t.Helper()
		m, err := stored(ctx, sys, p.name)
		if err == nil {
			err = m.isOneOf(models...)
		}
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		return m
	}
	if err == nil {
		p.m = next
	}
	p.m = check(p.m, next)
	for range 6 { // the keys are few, so some edits are of the same leaf
		next, err := p.edit(t)
		if err != nil {
			kinds["refused"]++ // the embed store must be opened again
			p.m = check(p.m, next)
			continue
		}
		p.m = check(next)
		leaves, attrs, err := leavesOf(ctx, p.s)
		if err == nil {
			err = state{exists: true, leaves: leaves, attrs: attrs, packed: p.m.packed}.isOneOf(p.m)
		}
		if err != nil {
			t.Fatalf("%s: the open store: %v", what, err)
		}
	}
	if err := p.s.Close(); err != nil || sys.Opened != 0 {
		t.Fatalf("%s: %d files are open, %v", what, sys.Opened, err)
	}
	if list := tempFiles(sys.Image, 0); len(list) > 0 && seed%5 != 4 { // otherwise the removal failed as well
		t.Fatalf("%s: %v are left", what, list)
	}
	return failed
}

// tempFiles returns the temporary files in a directory of a disk and below it.
func tempFiles(m simulated.Image, dir int) (list []string) {
	for name, id := range m[dir].Dir {
		if filepath.Ext(name) == ".tmp" {
			list = append(list, name)
		}
		list = append(list, tempFiles(m, id)...)
	}
	return list
}

// TestFailingRemoval lets calls fail that remove the file of a leaf. The open store must agree with the stored one.
func TestFailingRemoval(t *testing.T) {
	ctx := t.Context()
	for _, small := range []bool{false, true} { // deleted, or replaced by an embedded leaf
		for failAt, tried := 1, true; tried; failAt++ {
			sys := simulated.New()
			s, err := Create(ctx, "s.b2d", &CreateOptions{OpenOptions: OpenOptions{Threshold: 100, sys: sys}})
			if err != nil {
				t.Fatal(err)
			}
			if err := s.Put(ctx, "/a", contentFrame(t, make([]byte, 200))); err != nil {
				t.Fatal(err)
			}
			sys.Calls, sys.FailAt = 0, failAt
			if small {
				err = s.Put(ctx, "/a", contentFrame(t, make([]byte, 10)))
			} else {
				err = s.Delete(ctx, "/a")
			}
			tried = sys.Failed != ""
			if sys.FailAt = 0; err != nil && !errors.Is(err, simulated.ErrDisk) {
				t.Fatalf("call %d: %v", failAt, err)
			}
			leaves, attrs, err := leavesOf(ctx, s)
			if err != nil {
				t.Fatalf("call %d, a %s: %v", failAt, sys.Failed, err)
			}
			m, err := stored(ctx, sys, "s.b2d")
			if err == nil {
				err = m.isOneOf(state{exists: true, leaves: leaves, attrs: attrs})
			}
			if err != nil {
				t.Errorf("small %v, call %d, a %s: %v", small, failAt, sys.Failed, err)
			}
			s.Close()
		}
	}
}

// truncating is a directory whose files lose their last bytes when they have been opened.
type truncating struct {
	container
	dir string
}

func (d truncating) open(ctx context.Context, name string) (*openFile, error) {
	file, err := d.container.open(ctx, name)
	if err == nil {
		err = os.Truncate(filepath.Join(d.dir, name), file.src.Size()-1)
	}
	return file, err
}

// TestPackTruncated packs a store while another process truncates its files. Pack must fail and keep the old zip file.
func TestPackTruncated(t *testing.T) {
	ctx := context.Background()
	dir := filepath.Join(t.TempDir(), "a.b2d")
	s, err := Create(ctx, dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.Put(ctx, "/leaf", kindFrame(t, 0, []byte("content"))); err != nil {
		t.Fatal(err)
	}
	zip := dir + ".b2z"
	if err := os.WriteFile(zip, []byte("old"), 0o666); err != nil {
		t.Fatal(err)
	}
	s.files.box = truncating{s.files.box, dir}
	err = s.Pack(ctx, zip, &CreateOptions{Overwrite: true})
	if old, readErr := os.ReadFile(zip); !errors.Is(err, ErrCorrupt) || string(old) != "old" {
		t.Errorf("Pack: %v, want ErrCorrupt; the old file has %d bytes now, %v", err, len(old), readErr)
	}
	if list, err := os.ReadDir(filepath.Dir(dir)); len(list) != 2 {
		t.Errorf("%d files and directories after Pack, want 2, %v", len(list), err)
	}
}

// TestNewNames gives the name of a new store or zip file to another file before each of the calls of the system. One of
// the two gets the name.
func TestNewNames(t *testing.T) {
	ctx := t.Context()
	for _, name := range []string{"x.b2e", "x.b2d", "x.b2z"} {
		for at := 1; ; at++ {
			sys := simulated.New()
			o := &CreateOptions{OpenOptions: OpenOptions{sys: sys}}
			from, err := Create(ctx, "source.b2d", o)
			if err != nil {
				t.Fatal(err)
			}
			calls, other := 0, error(nil)
			sys.Before = func() {
				if calls++; calls == at {
					sys.Before = nil
					var f storage.File
					if f, other = sys.Open(name, os.O_CREATE|os.O_EXCL, 0o666); other == nil {
						f.Close()
					}
				}
			}
			if name == "x.b2z" {
				err = from.Pack(ctx, name, o)
			} else if s, e := Create(ctx, name, o); e == nil {
				err = s.Close()
			} else {
				err = e
			}
			sys.Before = nil
			from.Close()
			if calls < at {
				break
			}
			fi, e := sys.Stat(name)
			if e != nil || errors.Is(err, fs.ErrExist) == errors.Is(other, fs.ErrExist) || err != nil && fi.Size() > 0 || len(sys.Image[0].Dir) != 2 {
				t.Errorf("%s, call %d: %v, the other file: %v, files %v, %v", name, at, err, other, sys.Image[0].Dir, e)
			}
		}
	}
}
