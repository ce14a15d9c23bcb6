package frame

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/codec"
	"github.com/goblosc/blosc2/meta"
)

// checkSums checks that the newest state has the right checksum for each chunk.
func checkSums(t testing.TB, f *Frame) {
	t.Helper()
	s := f.snap.Load()
	if !s.checksums.kept() || s.checksums.fault != nil {
		t.Fatalf("no checksums: %+v", s.checksums)
	}
	if s.index.list != nil && len(s.index.checksums) != len(s.index.list) {
		t.Fatalf("%d checksums for %d chunks", len(s.index.checksums), len(s.index.list))
	}
	for i, e := range s.index.list {
		raw, err := f.ReadRaw(t.Context(), nil, i)
		must(t, err)
		if want := crc32.Checksum(raw, crc32.MakeTable(crc32.Castagnoli)); e >= 0 && s.index.checksums[i] != want || e < 0 && s.index.checksums[i] != 0 {
			t.Fatalf("chunk %d: checksum %#x, want %#x", i, s.index.checksums[i], want)
		}
	}
}

// TestChecksumsModel runs random programs of edits on frames that keep checksums.
func TestChecksumsModel(t *testing.T) {
	seeds, edits := uint64(12), 60
	if testing.Short() {
		seeds, edits = 6, 20 // each kind, with each size of chunks
	}
	for seed := range seeds {
		kind := []string{"file", "memory", "sparse"}[seed%3]
		common := []int{0, 64}[seed/3%2]
		t.Run(fmt.Sprintf("%s/%d", kind, seed), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 23))
			f, reopen := modelFrame(t, kind, common)
			m := &model{chunkSize: common}
			if common == 0 {
				m.chunkSize = -1
			}
			f.opts.Verify = true
			must(t, one(f).SetChecksums(context.Background(), true))
			for range edits {
				next, err := edit(t, rng, f, m, common)
				must(t, err)
				m = next
				m.check(t, f, rng)
				checkSums(t, f)
				if f.path != "" && rng.IntN(5) == 0 {
					must(t, f.Compact(context.Background()))
					checkSums(t, f)
				}
				if rng.IntN(4) == 0 {
					f = reopen(f)
					f.opts.Verify = true
					m.check(t, f, rng)
					checkSums(t, f)
					verify(t, f)
				}
			}
			b, err := appendTo(f, nil)
			must(t, err)
			c, err := OpenBytes(b, &OpenOptions{Verify: true})
			must(t, err)
			m.check(t, c, rng)
			checkSums(t, c)
			must(t, one(f).SetChecksums(context.Background(), false))
			if f = reopen(f); f.Info().Checksums || f.snap.Load().index.checksums != nil {
				t.Error("the checksums are still there")
			}
			m.check(t, f, rng)
			must(t, f.Close())
		})
	}
}

// checkedFrame makes a frame with checksums and some of everything.
func checkedFrame(t testing.TB) []byte {
	t.Helper()
	o := &options{
		Checksums: true, ChunkSize: 256, Params: chunk.Params{TypeSize: 4, BlockSize: 64, Codec: codec.FromCode(1)},
		Meta: []meta.Layer{{Name: "fixed", Content: []byte("some text")}, {Name: "none", Content: nil}},
	}
	rng := newRand(5)
	f, err := CreateFunc(t.Context(), "", func(b *Batch) error {
		for i := range 6 {
			p := make([]byte, 256)
			for k := range p {
				if p[k] = byte(k / 40 * i); i%2 == 0 {
					p[k] = byte(rng.Uint32())
				}
			}
			if err := b.Append(t.Context(), p); err != nil {
				return err
			}
		}
		c, err := chunk.EncodeSpecial(nil, chunk.Zeros, 256, nil, o.Params)
		return errors.Join(err, b.AppendRaw(t.Context(), c), b.SetVLMeta("v", []byte("a value")), b.SetVLMeta("empty", nil))
	}, o.create())
	must(t, err)
	b, err := appendTo(f, nil)
	must(t, err)
	return b
}

// everything returns the content of a frame, read in three ways that must agree.
func everything(b []byte) (string, error) {
	f, err := OpenBytes(b, &OpenOptions{Verify: true, Concurrency: 1})
	if err != nil {
		return "", err
	}
	defer f.Close()
	var all, chunks, blocks bytes.Buffer
	_, err = io.Copy(&all, f.Content(context.Background()))
	for i := 0; i < f.NumChunks() && err == nil; i++ {
		var p []byte
		if p, err = f.ReadChunk(context.Background(), nil, i); err == nil {
			chunks.Write(p)
			for k := 0; k < 4 && err == nil; k++ {
				p, err = f.ReadBlock(context.Background(), nil, i, k)
				blocks.Write(p)
			}
		}
	}
	if err == nil && (!bytes.Equal(all.Bytes(), chunks.Bytes()) || !bytes.Equal(all.Bytes(), blocks.Bytes())) {
		err = errors.New("blocks, chunks and bytes differ")
	}
	out := fmt.Sprintf("%x %v", all.Bytes(), f.Meta())
	for _, n := range f.VLMetaNames() {
		v, e := f.VLMeta(n)
		err = errors.Join(err, e)
		out += fmt.Sprintf(" %s %x", n, v)
	}
	return out, err
}

// TestChecksumsFlips changes each bit of a frame with checksums: reading must give the same, or an error.
func TestChecksumsFlips(t *testing.T) {
	b := checkedFrame(t)
	want, err := everything(b)
	must(t, err)
	found := map[string]int{}
	data := strings.Index(want, "]") // of the metalayers
	step := 1
	if testing.Short() {
		step = 5
	}
	for i := 0; i < len(b); i += step {
		for bit := range 8 {
			c := slices.Clone(b)
			c[i] ^= 1 << bit
			got, err := everything(c)
			switch {
			case err == nil && got != want && got[:data] == want[:data] && len(faults(t, c)) > 0:
				found["layer lost"]++ // which Verify reports
			case err == nil && got != want:
				t.Fatalf("byte %d, bit %d: other content", i, bit)
			case errors.Is(err, ErrChecksum):
				found["checksum"]++
			case err != nil:
				found["format"]++
			default:
				found["no effect"]++
			}
		}
	}
	t.Log(found)
	if found["checksum"] < 8*1000/step {
		t.Error("few errors of checksums")
	}
}

// faults returns what Verify reports.
func faults(t testing.TB, b []byte) []error {
	t.Helper()
	f, err := OpenBytes(b, nil)
	must(t, err)
	defer f.Close()
	var list []error
	must(t, f.Verify(context.Background(), func(err error) error { list = append(list, err); return nil }))
	return list
}

// TestChecksumsPlace changes a byte in a chunk that decodes all the same: Verify must name the chunk and its place,
// and reading the other block must fail, too.
func TestChecksumsPlace(t *testing.T) {
	b := checkedFrame(t)
	f, err := OpenBytes(b, nil)
	must(t, err)
	info, err := f.ChunkInfo(t.Context(), 2)
	must(t, err)
	b = slices.Clone(b)
	b[info.Off+int64(info.CBytes)-1] ^= 1
	list := faults(t, b)
	var at *Error
	if len(list) != 1 || !errors.As(list[0], &at) || at.Part != "chunk" || at.Chunk != 2 || at.Off != info.Off || !errors.Is(at, ErrChecksum) {
		t.Errorf("%v", list)
	}
	f, err = OpenBytes(b, nil)
	must(t, err)
	if _, err := f.ReadChunk(t.Context(), nil, 2); err != nil {
		t.Errorf("not asked to verify: %v", err)
	}
	for _, read := range []func(f *Frame) error{
		func(f *Frame) error { _, err := f.ReadBlock(t.Context(), nil, 2, 0); return err },
		func(f *Frame) error { _, err := f.Content(t.Context()).ReadAt(make([]byte, 1), 512); return err },
		func(f *Frame) error { _, err := f.ReadChunk(t.Context(), nil, 2); return err },
		func(f *Frame) error { _, err := f.ReadRaw(t.Context(), nil, 2); return err },
		func(f *Frame) error { _, err := io.Copy(io.Discard, f.Content(t.Context())); return err },
	} {
		for _, opened := range []func() (*Frame, error){
			func() (*Frame, error) { return OpenBytes(b, &OpenOptions{Verify: true}) },
			func() (*Frame, error) {
				return OpenReaderAt(t.Context(), bytes.NewReader(b), int64(len(b)), &OpenOptions{Verify: true})
			},
		} {
			f, err := opened()
			must(t, err)
			if err := read(f); !errors.Is(err, ErrChecksum) || !errors.Is(err, ErrCorrupt) {
				t.Errorf("reading: %v", err)
			}
			if err := read(f); !errors.Is(err, ErrChecksum) {
				t.Errorf("reading again: %v", err)
			}
		}
	}
	if _, err := appendTo(f, nil); !errors.Is(err, ErrChecksum) {
		t.Errorf("a copy: %v", err)
	}
	e, err := EditStorage(t.Context(), NewMemory(slices.Clone(b)), nil)
	must(t, err)
	if err := one(e).SetChecksums(context.Background(), true); !errors.Is(err, ErrChecksum) {
		t.Errorf("checksums set again: %v", err)
	}
	must(t, e.Append(t.Context(), make([]byte, 256)))
	if err := e.Verify(context.Background(), func(err error) error { return err }); !errors.Is(err, ErrChecksum) {
		t.Errorf("after an edit: %v", err)
	}
}

// foreign edits a frame as a library does that knows nothing of checksums.
func foreign(t testing.TB, b []byte, change func(b *Batch) error) []byte {
	t.Helper()
	m := NewMemory(slices.Clone(b))
	f, err := EditStorage(t.Context(), m, nil)
	must(t, err)
	must(t, f.edit(context.Background(), func(b *Batch) error {
		b.next.checksums, b.next.index.checksums = nil, nil
		return change(b)
	}))
	return m.Bytes()
}

// TestChecksumsForeign edits frames without updating the checksums, which must be noticed, and renews them.
func TestChecksumsForeign(t *testing.T) {
	b := checkedFrame(t)
	if list := faults(t, b); list != nil {
		t.Fatalf("before: %v", list)
	}
	p := make([]byte, 256)
	for i := range p {
		p[i] = byte(i * i * 37)
	}
	for _, c := range []struct {
		what   string
		change func(b *Batch) error
		opens  bool // with OpenOptions.Verify
		part   string
	}{
		{"append", func(b *Batch) error { return b.Insert(t.Context(), 0, p) }, false, "index"},
		{"delete", func(b *Batch) error { return b.Delete(3) }, false, "index"},
		{"metalayer", func(b *Batch) error { return b.SetMeta("fixed", []byte("same text")) }, false, "metalayer fixed"},
		{"vlmeta", func(b *Batch) error { return b.SetVLMeta("v", []byte("another value")) }, true, "variable-length metalayer v"},
		{"no vlmeta", func(b *Batch) error { return b.DeleteVLMeta("v") }, true, "variable-length metalayers"},
		{"new vlmeta", func(b *Batch) error { return b.SetVLMeta("w", []byte("another value")) }, true, "variable-length metalayer w"},
	} {
		t.Run(c.what, func(t *testing.T) {
			got := foreign(t, b, c.change)
			list := faults(t, got)
			var at *Error
			if len(list) != 1 || !errors.Is(list[0], ErrChecksum) || !errors.As(list[0], &at) || at.Part != c.part {
				t.Fatalf("%v", list)
			}
			if _, err := OpenBytes(got, &OpenOptions{Verify: true}); (err == nil) != c.opens || err != nil && !errors.Is(err, ErrChecksum) {
				t.Errorf("opening: %v", err)
			}
			m := NewMemory(slices.Clone(got))
			f, err := EditStorage(t.Context(), m, nil)
			must(t, err)
			must(t, f.Append(t.Context(), p)) // does not make them right
			if list := faults(t, m.Bytes()); len(list) != 1 || !errors.Is(list[0], ErrChecksum) {
				t.Fatalf("after an edit: %v", list)
			}
			must(t, one(f).SetChecksums(context.Background(), true))
			checkSums(t, f)
			if list := faults(t, m.Bytes()); list != nil {
				t.Fatalf("renewed: %v", list)
			}
			want, err := f.ReadChunk(t.Context(), nil, 0)
			must(t, err)
			f, err = OpenBytes(m.Bytes(), &OpenOptions{Verify: true})
			must(t, err)
			if got, err := f.ReadChunk(t.Context(), nil, 0); err != nil || !bytes.Equal(got, want) {
				t.Errorf("renewed: %v", err)
			}
		})
	}
}

// TestChecksumsLimits fills the trailer: the layer of the checksums is one of sixteen, and not the caller's.
func TestChecksumsLimits(t *testing.T) {
	f, err := Create(t.Context(), "", &CreateOptions{Checksums: true})
	must(t, err)
	if err := one(f).SetVLMeta(checksumLayer, nil); !errors.Is(err, ErrParam) {
		t.Errorf("the layer itself: %v", err)
	}
	for i := range 15 {
		must(t, one(f).SetVLMeta(fmt.Sprint(i), nil))
	}
	if err := one(f).SetVLMeta("one more", nil); !errors.Is(err, ErrTooLarge) {
		t.Errorf("one more: %v", err)
	}
	if n := len(f.VLMetaNames()); n != 15 {
		t.Errorf("%d names", n)
	}
	must(t, one(f).DeleteVLMeta(checksumLayer))
	must(t, one(f).SetVLMeta("one more", nil))
	if err := one(f).SetChecksums(context.Background(), true); !errors.Is(err, ErrTooLarge) {
		t.Errorf("checksums with sixteen others: %v", err)
	}
	verify(t, f)
}

// TestChecksumsCopy copies frames with checksums to other storage and back.
func TestChecksumsCopy(t *testing.T) {
	b := checkedFrame(t)
	want, err := everything(b)
	must(t, err)
	dir := t.TempDir()
	for i, o := range []*options{nil, {Sparse: true}, {Checksums: true}} {
		f, err := OpenBytes(b, nil)
		must(t, err)
		c, err := Copy(context.Background(), filepath.Join(dir, fmt.Sprint(i)), f, o.copying())
		must(t, err)
		checkSums(t, c)
		back, err := appendTo(c, nil)
		must(t, err)
		must(t, c.Close())
		if got, err := everything(back); err != nil || got != want {
			t.Errorf("%d: other content: %v", i, err)
		}
	}
}

// FuzzChecksums replaces the checksums by any bytes, stored or as their content.
func FuzzChecksums(f *testing.F) {
	b := checkedFrame(f)
	fr, err := OpenBytes(b, nil)
	must(f, err)
	content, err := fr.VLMeta(checksumLayer)
	must(f, err)
	f.Add(content, false)
	f.Add(fr.snap.Load().vlmeta[0].Content, true)
	f.Add([]byte("\x81\xa7version\x01"), false)
	f.Fuzz(func(t *testing.T, p []byte, stored bool) {
		if len(p) > 1<<16 {
			return
		}
		if !stored {
			var err error
			p, err = chunk.Encode(nil, p, chunk.Params{})
			must(t, err)
		}
		c := foreign(t, b, func(b *Batch) error {
			b.next.vlmeta = withLayer(b.next.vlmeta, checksumLayer, p)
			return nil
		})
		goodError(t, readEverything(c))
		editEverything(c)
		m := NewMemory(c)
		fr, err := EditStorage(t.Context(), m, nil)
		must(t, err)
		must(t, fr.Append(t.Context(), make([]byte, 256)))
		if _, err := everything(m.Bytes()); err != nil && !errors.Is(err, ErrCorrupt) {
			t.Error(err)
		}
		if one(fr).SetChecksums(context.Background(), true) == nil {
			checkSums(t, fr)
			_, err := everything(m.Bytes())
			must(t, err)
		}
	})
}

// BenchmarkVerify reads whole frames of 32-bit numbers, with and without comparing checksums.
func BenchmarkVerify(b *testing.B) {
	rng := newRand(3)
	walk, noisy := 0, func(i int) float64 { return math.Sin(float64(i)/500) + 1e-3*rng.Float64() }
	for _, c := range []struct {
		what string
		p    chunk.Params
		item func(i int) uint32
	}{
		{"zstd-range", chunk.Params{}, func(i int) uint32 { return uint32(i) }},
		{"zstd-walk", chunk.Params{}, func(int) uint32 { walk += rng.IntN(201) - 100; return uint32(walk) }},
		{"zstd-noisy", chunk.Params{}, func(i int) uint32 { return math.Float32bits(float32(noisy(i))) }},
		{"lz4-walk", chunk.Params{Codec: codec.FromCode(1)}, func(int) uint32 { walk += rng.IntN(201) - 100; return uint32(walk) }},
		{"lz4-noisy", chunk.Params{Codec: codec.FromCode(1)}, func(i int) uint32 { return math.Float32bits(float32(noisy(i))) }},
		{"blosclz-walk", chunk.Params{Codec: codec.FromCode(0)}, func(int) uint32 { walk += rng.IntN(201) - 100; return uint32(walk) }},
		{"stored", chunk.Params{Level: codec.NoCompression}, func(i int) uint32 { return uint32(i) }},
	} {
		c.p.TypeSize = 4
		name := filepath.Join(b.TempDir(), c.what)
		p := make([]byte, 4<<20)
		f, err := CreateFunc(b.Context(), name, func(t *Batch) error {
			for i := range 8 {
				for k := 0; k < len(p); k += 4 {
					binary.LittleEndian.PutUint32(p[k:], c.item(k/4+i<<20))
				}
				if err := t.Append(b.Context(), p); err != nil {
					return err
				}
			}
			return nil
		}, &CreateOptions{Params: c.p, Checksums: true, NoSync: true})
		must(b, err)
		all := make([]byte, f.Info().NBytes)
		must(b, f.Close())
		for _, check := range []bool{false, true} {
			b.Run(fmt.Sprintf("%s/%v", c.what, check), func(b *testing.B) {
				f, err := Open(b.Context(), name, &OpenOptions{Verify: check})
				must(b, err)
				defer f.Close()
				b.SetBytes(int64(len(all)))
				b.ReportAllocs()
				for b.Loop() {
					if _, err := f.Content(b.Context()).ReadAt(all, 0); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(len(all))/float64(f.Info().CBytes), "ratio")
			})
		}
	}
}

// counting counts the reads and the bytes that are read.
type counting struct {
	io.ReaderAt
	calls int
	n     int64
}

func (c *counting) ReadAt(p []byte, off int64) (int, error) {
	c.calls++
	c.n += int64(len(p))
	return c.ReaderAt.ReadAt(p, off)
}

// TestChecksumsPartial reads one block of a large chunk: the first read reads the whole chunk, later ones only the
// needed bytes.
func TestChecksumsPartial(t *testing.T) {
	p := make([]byte, 1<<20)
	rng := newRand(1)
	for i := range p {
		p[i] = byte(rng.Uint32())
	}
	f, err := CreateFunc(t.Context(), "", func(b *Batch) error { return b.Append(t.Context(), p) }, &CreateOptions{Checksums: true, Params: chunk.Params{BlockSize: 1 << 14}})
	must(t, err)
	b, err := appendTo(f, nil)
	must(t, err)
	src := &counting{ReaderAt: bytes.NewReader(b)}
	f, err = OpenReaderAt(t.Context(), src, int64(len(b)), &OpenOptions{Verify: true})
	must(t, err)
	for i, most := range []int64{1<<20 + 1<<16, 1 << 16, 1 << 16} {
		src.n = 0
		got, err := f.ReadBlock(t.Context(), nil, 0, 5)
		if err != nil || !bytes.Equal(got, p[5<<14:6<<14]) || src.n > most || i == 0 && src.n < 1<<20 {
			t.Errorf("read %d: %d bytes: %v", i, src.n, err)
		}
	}
}
