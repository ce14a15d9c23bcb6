package attack

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/goblosc/blosc2/chunk"
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
		m.vl[layer(m.vl, checksumLayer)].Name = "\x1b[2J\n"
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
	{"special chunk that ends inside an item", "array with none", func(m *model) {
		m.makeUninit(m.entries[0].piece)
		for i := range m.entries {
			m.entries[i] = m.entries[0]
		}
		m.resizeChunks(2147483615)
	}, wantSmallCopies},
	{"special value of the index that ends inside an item", "sparse array of zeros", func(m *model) {
		m.index = nil
		m.entries[2] = entry{-1, 0x84 << 56}
		m.resizeChunks(2147483615)
	}, wantSmallCopies},
	{"special value of items of half a gigabyte", "array with none", func(m *model) {
		m.makeUninit(m.entries[0].piece)
		m.entries = m.entries[:1]
		m.setField(posTypeSize, 4, 1<<29-4096)
		m.resizeChunks(1<<29 - 4096)
		m.fixed[posFlags] = 0x53
		m.setField(posChunkSize, 4, 0) // each chunk has its own size
	}, wantSmallCopies},
	{"special chunk that the index cannot hold, shared, with checksums", "array of zlib, checksums true, sparse false", func(m *model) {
		for i := range m.entries {
			m.entries[i] = m.entries[1]
		}
		m.pieces[m.entries[0].piece][31] = 2 << 4 // NaNs, of items of 4 bytes
		m.setField(posTypeSize, 4, 6)
		m.index, m.sign = nil, true
	}, nil},
	{"special chunk that is shared, with another size between", "frame of many chunks", func(m *model) {
		m.makeUninit(m.entries[0].piece)
		c := m.pieces[m.entries[1].piece]
		c = append(c[:32], make([]byte, 32)...)
		c[2] |= 2 // stored
		putLE32(c, 4, 32)
		putLE32(c, 8, 32)
		putLE32(c, 12, 64)
		m.pieces[m.entries[1].piece] = c
		m.entries = []entry{m.entries[0], m.entries[1], m.entries[0]}
		m.setField(posChunkSize, 4, 0) // each chunk has its own size
		m.fixed[posFlags] = 0x53
		m.setField(posNBytes, 8, 64+32+64)
	}, wantPut},
}

// wantPut wants that all chunks can take the place of others of one size.
func wantPut(t *testing.T, path string) {
	f, err := frame.Open(t.Context(), path, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	v, err := f.Engine().View(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer v.Release()
	n := f.NumChunks()
	g, err := frame.CreateFunc(t.Context(), "", func(b *frame.Batch) error {
		if err := b.Engine().FillSpecial(int64(64*(n+1)), chunk.Zeros); err != nil {
			return err
		}
		return b.Engine().PutChunks(context.Background(), v, func(yield func(int, int) bool) {
			for i := 0; i < n && yield(i, i); i++ {
			}
		})
	}, &frame.CreateOptions{ChunkSize: 64, Checksums: true})
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	if err := g.Verify(context.Background(), func(err error) error { return err }); err != nil {
		t.Error(err)
	}
}

// makeUninit makes a piece a chunk without content.
func (m *model) makeUninit(piece int) {
	c := m.pieces[piece][:32]
	putLE32(c, 12, 32)
	c[31] = 4 << 4
	m.pieces[piece], m.index = c, nil
}

// resizeChunks gives all chunks a size, as the frame has it.
func (m *model) resizeChunks(n int64) {
	for _, k := range m.chunkPieces() {
		putLE32(m.pieces[k], 4, n)
	}
	m.setField(posChunkSize, 4, n)
	m.setField(posNBytes, 8, n*int64(len(m.entries)))
}

// wantSmallCopies wants copies to take little memory and space, and not to trust more than the frame that they copy.
func wantSmallCopies(t *testing.T, path string) {
	f, err := frame.Open(t.Context(), path, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	const most = 64 << 20
	if f.CheckAlloc(most+1) == nil {
		t.Errorf("%d bytes of memory are allowed", most+1)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	var b bytes.Buffer
	_, err = f.Save(t.Context(), &b)
	runtime.ReadMemStats(&after)
	if n := after.TotalAlloc - before.TotalAlloc; err != nil || b.Len() > 1<<20 || n > most {
		t.Errorf("Save writes %d bytes with %d bytes of memory: %v", b.Len(), n, err)
	}
	g, err := frame.Copy(t.Context(), filepath.Join(t.TempDir(), "copy"), f, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	if g.CheckAlloc(1<<31) == nil {
		t.Errorf("%d bytes of memory are allowed for a copy", int64(1<<31))
	}
	if a, b := f.Info().NBytes, g.Info().NBytes; a != b {
		t.Errorf("a copy of %d bytes of %d", b, a)
	}
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
