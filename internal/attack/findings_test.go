package attack

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/meta"
)

// finding is a mutant that once got a wrong answer.
type finding struct {
	name string
	from string // name of the original
	do   func(m *model)
	want func(t *testing.T, path string)
}

// findings are all of them.
var findings = []finding{
	{"blocks of another size", "array of zlib, checksums false, sparse false", func(m *model) {
		i := layer(m.layers, "b2nd")
		a, err := meta.ParseArray(m.layers[i].Content, 4)
		if err == nil {
			a.BlockShape[0] = 2 // the chunks have as many bytes as before
			m.setArray(i, a)
		}
	}, wantFault("those of the array have")},
	{"one chunk with blocks of another size", "array with none", func(m *model) {
		c := m.pieces[m.entries[0].piece] // an uncompressed chunk can have any block size
		putLE32(c, 12, 32+le32(c, 4))
		c[2] |= 2
		m.pieces[m.entries[0].piece] = append(c[:32], make([]byte, le32(c, 4))...)
		putLE32(m.pieces[m.entries[0].piece], 8, 64)
		m.index = nil
	}, wantFault("those of the array have")},
	{"index of a frame without bytes", "frame of one chunk size, sparse true", func(m *model) {
		m.setField(posNBytes, 8, 0)
	}, wantFault("there is an index")},
	{"name with control characters", "frame of one chunk size, sparse false", func(m *model) {
		m.vl[layer(m.vl, frame.ChecksumLayer)].Name = "\x1b[2J\n"
	}, wantFault(`\x1b[2J\n`)},
	{"name that cannot be written", "array of structures", func(m *model) {
		m.vl[0].Name = ""
	}, nil},
	{"special chunk that is stored and shared", "array with none", func(m *model) {
		c := m.pieces[m.entries[0].piece]
		c[31] = 4 << 4 // uninitialized
		for i := range m.entries {
			m.entries[i] = m.entries[0]
		}
		m.index = nil
	}, func(t *testing.T, path string) {
		f, err := frame.Open(t.Context(), path, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if _, err := saved(f); err != nil {
			t.Error(err)
		}
	}},
	{"chunks in any order", "frame of many chunks", func(m *model) {
		c := m.pieces[m.entries[0].piece]
		m.pieces, m.entries, m.index = nil, nil, nil
		for i := range 2000 {
			m.pieces, m.entries = append(m.pieces, slices.Clone(c)), append(m.entries, entry{i, 0})
		}
		slices.Reverse(m.entries)
		m.setField(posChunkSize, 4, 0) // each chunk has its own size
		m.fixed[posFlags] = 0x53
		m.setField(posNBytes, 8, 2000*64)
	}, wantReads(100)},
}

// wantFault wants Verify to report a fault, printable, with a text.
func wantFault(text string) func(t *testing.T, path string) {
	return func(t *testing.T, path string) {
		f, err := frame.Open(t.Context(), path, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		found := false
		if err := f.Verify(context.Background(), func(err error) error {
			if why := unclear(err); why != "" {
				t.Errorf("%s: %q", why, err)
			}
			found = found || strings.Contains(err.Error(), text)
			return nil
		}); err != nil {
			t.Error(err)
		}
		if !found {
			t.Errorf("Verify does not report %q", text)
		}
	}
}

// counted counts the bytes that are read.
type counted struct {
	*bytes.Reader
	n atomic.Int64
}

func (c *counted) ReadAt(p []byte, off int64) (int, error) {
	n, err := c.Reader.ReadAt(p, off)
	c.n.Add(int64(n))
	return n, err
}

// wantReads wants Verify to read no more than some times the size of the file.
func wantReads(times int64) func(t *testing.T, path string) {
	return func(t *testing.T, path string) {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		c := &counted{Reader: bytes.NewReader(b)}
		f, err := frame.OpenReaderAt(t.Context(), c, c.Size(), nil)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if err := f.Verify(context.Background(), func(err error) error { return err }); err != nil {
			t.Error(err)
		}
		if n := c.n.Load(); n > times*c.Size() {
			t.Errorf("Verify reads %d bytes of a file of %d", n, c.Size())
		}
	}
}

// TestFindings repeats what the mutants have found. What Salvage makes of each passes Verify.
func TestFindings(t *testing.T) {
	list, err := originals(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range findings {
		t.Run(f.name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "in")
			k := slices.IndexFunc(list, func(o *original) bool { return o.name == f.from })
			if k < 0 {
				t.Fatal("no original ", f.from)
			}
			m := list[k].model.clone()
			f.do(m)
			p, err := m.build()
			if err != nil {
				t.Fatal(err)
			}
			mu := &Mutant{Sparse: m.sparse, files: []file{{parts: *p}}}
			if m.sparse {
				mu.files = m.sparseFiles(p)
			}
			if err := mu.Write(path, dir); err != nil {
				t.Fatal(err)
			}
			if f.want != nil {
				f.want(t, path)
			}
			g, _, err := frame.Salvage(context.Background(), filepath.Join(dir, "new"), path, func(err error) {
				if why := unclear(err); why != "" {
					t.Errorf("%s: %q", why, err)
				}
			}, nil)
			if err != nil {
				t.Fatal(err)
			}
			defer g.Close()
			if err := g.Verify(context.Background(), func(err error) error { return err }); err != nil {
				t.Errorf("Salvage makes what is not intact: %v", err)
			}
		})
	}
}

// TestSnapshot checks what the suite takes for a change.
func TestSnapshot(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "x")
	before := snapshot(dir)
	if err := os.WriteFile(name, []byte("abc"), 0o666); err != nil {
		t.Fatal(err)
	}
	with := snapshot(dir)
	if err := os.WriteFile(name, []byte("abd"), 0o666); err != nil {
		t.Fatal(err)
	}
	if changed := snapshot(dir); before == with || with == changed || snapshot(filepath.Join(dir, "none")) != "" {
		t.Errorf("%q, %q, %q", before, with, changed)
	}
	if unclear(errors.New("x")) == "" || unclear(frame.ErrCorrupt) != "" || !bytes.Contains([]byte(unclear(errors.New("a\x1bb"))), []byte("control")) {
		t.Error("unclear")
	}
}
