package frametest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/internal/manifest"
	"github.com/goblosc/blosc2/meta"
)

func sum(b []byte) string {
	s := sha256.Sum256(b)
	return hex.EncodeToString(s[:])
}

func TestFixtures(t *testing.T) {
	for i, c := range manifest.Frames(t) {
		t.Run(c.File, func(t *testing.T) {
			f, err := frame.Open(t.Context(), c.Path, nil)
			must(t, err)
			defer f.Close()
			must(t, f.Verify(context.Background(), func(err error) error { return err }))
			info := f.Info()
			all := content(t, f)
			if int64(len(all)) != info.NBytes || f.Info().NBytes != info.NBytes {
				t.Errorf("%d bytes, the header says %d", len(all), info.NBytes)
			}
			if c.Kind != "b2nd" {
				if sum(all) != c.SHA256 || info.NBytes != c.NBytes {
					t.Errorf("%d bytes with other content than %d", info.NBytes, c.NBytes)
				}
			}
			if c.Kind == "schunk" && (info.NumChunks != c.NChunks || info.TypeSize != c.TypeSize || info.ChunkSize != c.ChunkSize) {
				t.Errorf("%+v, want %+v", info, c)
			}
			checkChunks(t, f, c, all)
			checkRanges(t, f, all)
			if !testing.Short() || i%3 == 0 {
				checkCopies(t, f, all)
			}
		})
	}
}

// checkHeader compares the description of chunk i with the header of the chunk.
func checkHeader(t *testing.T, f *frame.Frame, i int, info frame.ChunkInfo) {
	raw, err := f.ReadRaw(t.Context(), nil, i)
	must(t, err)
	h, err := chunk.ParseHeader(raw, int64(len(raw)))
	must(t, err)
	var filters [6]chunk.Filter
	copy(filters[:], h.Params.Filters)
	want := frame.ChunkInfo{Special: h.Special, Off: info.Off, NBytes: h.NBytes, CBytes: h.CBytes, Blocks: h.NumBlocks}
	if h.Special == chunk.Regular {
		want.Stored, want.Codec, want.Filters = h.Stored, h.Params.Codec, filters
	}
	if info.Off < 0 {
		want.CBytes = 0
	}
	if info != want {
		t.Errorf("chunk %d: %+v, want %+v", i, info, want)
	}
}

// checkChunks compares single chunks and blocks with the manifest and with the whole.
func checkChunks(t *testing.T, f *frame.Frame, c manifest.Case, all []byte) {
	at := 0
	for i := range f.NumChunks() {
		b, err := f.ReadChunk(t.Context(), nil, i)
		must(t, err)
		info, err := f.ChunkInfo(t.Context(), i)
		must(t, err)
		if info.NBytes != len(b) || !bytes.Equal(b, all[at:at+len(b)]) {
			t.Fatalf("chunk %d: %+v, decoded %d bytes", i, info, len(b))
		}
		checkHeader(t, f, i, info)
		if c.ChunkSHA256 != nil && sum(b) != c.ChunkSHA256[i] {
			t.Errorf("chunk %d has other content", i)
		}
		if c.ChunkSizes != nil && len(b) != c.ChunkSizes[i] {
			t.Errorf("chunk %d has %d bytes, not %d", i, len(b), c.ChunkSizes[i])
		}
		if c.BlockSizes != nil {
			if info.Blocks != len(c.BlockSizes[i]) || !f.Info().VLBlocks {
				t.Errorf("chunk %d: %+v", i, info)
			}
			for k, n := range c.BlockSizes[i] {
				b, err := f.ReadBlock(t.Context(), nil, i, k)
				if err != nil || len(b) != n || sum(b) != c.BlockSHA256[i][k] {
					t.Errorf("block %d of chunk %d: %d bytes, %v", k, i, len(b), err)
				}
			}
		}
		at += len(b)
	}
	if at != len(all) {
		t.Errorf("chunks of %d bytes, %d in all", at, len(all))
	}
}

// checkRanges reads random ranges.
func checkRanges(t *testing.T, f *frame.Frame, all []byte) {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, uint64(len(all))))
	ranges := 30
	if testing.Short() {
		ranges = 10
	}
	for range ranges {
		off := rng.IntN(len(all) + 2)
		n := rng.IntN(len(all) + 2 - min(off, len(all)))
		if rng.IntN(2) == 0 {
			n = min(n, 100)
		}
		p := make([]byte, n)
		got, err := f.Content(t.Context()).ReadAt(p, int64(off))
		want := all[min(off, len(all)):min(off+n, len(all))]
		atEnd := off+n > len(all) || off >= len(all)
		if !bytes.Equal(p[:got], want) || atEnd && err != io.EOF || !atEnd && err != nil {
			t.Fatalf("ReadAt(%d bytes, %d) of %d = %d, %v", n, off, len(all), got, err)
		}
	}
}

// checkCopies copies a frame to all kinds of storage and compares.
func checkCopies(t *testing.T, f *frame.Frame, all []byte) {
	ctx, dir := context.Background(), t.TempDir()
	flat, err := frame.Copy(ctx, filepath.Join(dir, "flat"), f, &frame.CreateOptions{NoSync: true})
	must(t, err)
	same(t, f, flat, all)
	sparse, err := frame.Copy(ctx, filepath.Join(dir, "sparse"), flat, &frame.CreateOptions{Sparse: true, NoSync: true})
	must(t, err)
	same(t, f, sparse, all)
	again, err := frame.Copy(ctx, filepath.Join(dir, "again"), sparse, &frame.CreateOptions{NoSync: true})
	must(t, err)
	must(t, flat.Close())
	must(t, sparse.Close())
	must(t, again.Close())
	b, err := os.ReadFile(filepath.Join(dir, "flat"))
	must(t, err)
	b2, err := os.ReadFile(filepath.Join(dir, "again"))
	must(t, err)
	mem, err := appendTo(f, []byte("abc"))
	must(t, err)
	if !bytes.Equal(b, b2) || string(mem) != "abc"+string(b) {
		t.Error("copies differ by the way that they took")
	}
	m, err := frame.OpenBytes(b, nil)
	must(t, err)
	same(t, f, m, all)

	// At an offset in another file, with other bytes after it.
	inside := io.NewSectionReader(strings.NewReader(strings.Repeat("x", 77)+string(b)+"tail"), 77, int64(len(b)+4))
	in, err := frame.OpenReaderAt(ctx, inside, inside.Size(), nil)
	must(t, err)
	same(t, f, in, all)
	must(t, in.Close())
	r, err := frame.OpenReaderAt(ctx, struct{ io.ReaderAt }{bytes.NewReader(b)}, int64(len(b)), nil)
	must(t, err)
	same(t, f, r, all)
}

// same compares two frames.
func same(t *testing.T, want, got *frame.Frame, all []byte) {
	t.Helper()
	verify(t, got)
	if b := content(t, got); !bytes.Equal(b, all) {
		t.Fatalf("%s: other content", got.Path())
	}
	x, y := want.Info(), got.Info()
	x.Sparse, x.CBytes, x.FrameLen, x.Version = y.Sparse, y.CBytes, y.FrameLen, y.Version
	if a, b := describe(want, x), describe(got, y); a != b {
		t.Fatalf("%s\n%s", a, b)
	}
}

// describe returns the description of a frame, without its content.
func describe(f *frame.Frame, info frame.Info) string {
	var b strings.Builder
	j, _ := json.Marshal(info)
	b.Write(j)
	for _, l := range f.Meta() {
		b.WriteString(" " + l.Name + "=" + hex.EncodeToString(l.Content))
	}
	for _, name := range f.VLMetaNames() {
		v, err := f.VLMeta(name)
		b.WriteString(" " + name + "=" + hex.EncodeToString(v))
		if err != nil {
			b.WriteString(err.Error())
		}
	}
	return b.String()
}

// TestFixtureLayers checks that the layers that the manifest names are there.
func TestFixtureLayers(t *testing.T) {
	n := 0
	for _, c := range manifest.Frames(t) {
		f, err := frame.Open(t.Context(), c.Path, nil)
		must(t, err)
		for name := range c.VLMeta {
			if v, err := f.VLMeta(name); err != nil || len(v) == 0 {
				t.Errorf("%s: %s: %v", c.File, name, err)
			}
			n++
		}
		for name := range c.Meta {
			if v, err := metaLayer(f, name); err != nil || len(v) == 0 {
				t.Errorf("%s: %s: %v", c.File, name, err)
			}
			n++
		}
		if _, err := f.VLMeta("no such"); !errors.Is(err, fs.ErrNotExist) {
			t.Error(err)
		}
		if _, err := metaLayer(f, "no such"); !errors.Is(err, fs.ErrNotExist) {
			t.Error(err)
		}
		must(t, f.Close())
	}
	if n < 5 {
		t.Errorf("only %d layers", n)
	}
}

// TestGoldenArray rebuilds, byte for byte, a small frame that the reference wrote: a 2-d array of int16 with a
// metalayer and a variable-length metalayer.
func TestGoldenArray(t *testing.T) {
	chunk0 := unhex(t, "05010702 08000000 04000000 28000000 0000000000010500 0000000000000000", "0000 0100 0300 0400")
	chunk1 := unhex(t, "05010702 08000000 04000000 28000000 0000000000010500 0000000000000000", "0200 0000 0500 0000")
	b2nd := unhex(t, "97 00 02 92 d30000000000000002 d30000000000000003 92 d200000002 d200000002 92 d200000001 d200000002 00 db00000003 3c6932")
	want := unhex(t,
		"9e a8 62326672616d6500 d2000000b2",
		"cf0000000000000183 a4 12 00 55 02",
		"d30000000000000010 d30000000000000050 d200000002 d200000004 d200000008",
		"d10001 d10001 c3",
		"d806 000000000001 05 00 000000000000 0000",
		"93 cd0018 de0002 a4 62326e64 d200000072 a1 6d d2000000ac dc0002",
		"c600000035", hex.EncodeToString(b2nd),
		"c600000001 05",
		hex.EncodeToString(chunk0), hex.EncodeToString(chunk1),
		"05010708 10000000 10000000 30000000 0000000000010000 0000000000000000 0000000000000000 2800000000000000",
		"94 01 93 cd000d de0001 a1 6b d200000013 dc0001",
		"c600000022 05010701 02000000 02000000 22000000 0000000000010500 0000000000000000 a176",
		"ce00000051 d800 00000000000000000000000000000000",
	)
	if len(want) != 387 {
		t.Fatal(len(want))
	}
	o := &frame.CreateOptions{
		Params:    chunk.Params{TypeSize: 2, BlockSize: 4},
		ChunkSize: 8,
		Meta:      []meta.Layer{{Name: "b2nd", Content: b2nd}, {Name: "m", Content: []byte{5}}},
		NoSync:    true,
	}
	fill := func(b *frame.Batch) error {
		for _, c := range [][]byte{chunk0, chunk1} {
			if err := b.AppendRaw(t.Context(), c); err != nil {
				return err
			}
		}
		return b.SetVLMeta("k", []byte("\xa1v"))
	}
	name := filepath.Join(t.TempDir(), "a.b2nd")
	f, err := frame.CreateFunc(t.Context(), name, fill, o)
	must(t, err)
	must(t, f.Close())
	if got, err := os.ReadFile(name); err != nil || !bytes.Equal(got, want) {
		t.Errorf("file: %v\n%x\n%x", err, got, want)
	}
	if f, err = frame.CreateFunc(t.Context(), "", fill, o); err != nil {
		t.Fatal(err)
	}
	if got, err := appendTo(f, nil); err != nil || !bytes.Equal(got, want) {
		t.Errorf("memory: %v\n%x\n%x", err, got, want)
	}
	// The same content encoded from plain bytes, and a round trip through an edit.
	must(t, change(f, func(b *frame.Batch) error { return b.Delete(1) }))
	must(t, f.Append(t.Context(), []byte{2, 0, 0, 0, 5, 0, 0, 0}))
	if got, err := appendTo(f, nil); err != nil || !bytes.Equal(got, want) {
		t.Errorf("after an edit: %v\n%x\n%x", err, got, want)
	}
}

// TestGoldenEmpty checks the smallest frame, and that edits lead back to it.
func TestGoldenEmpty(t *testing.T) {
	want := unhex(t,
		"9e a8 62326672616d6500 d200000061 cf0000000000000084 a4 12 00 55 02",
		"d30000000000000000 d30000000000000000 d200000001 d200000000 d2ffffffff d10001 d10001 c2",
		"d806 000000000001 05 00 000000000000 0000 93 cd0007 de0000 dc0000", emptyTrailer)
	if len(want) != 132 {
		t.Fatal(len(want))
	}
	m := new(frame.Memory)
	name := filepath.Join(t.TempDir(), "a.b2frame")
	f, err := frame.Create(t.Context(), name, &frame.CreateOptions{NoSync: true})
	must(t, err)
	read := func() []byte {
		b, err := os.ReadFile(name)
		must(t, err)
		return b
	}
	if got := read(); !bytes.Equal(got, want) {
		t.Errorf("%x\n%x", got, want)
	}
	must(t, change(f, func(b *frame.Batch) error { return b.SetVLMeta("name", bytes.Repeat([]byte("x"), 1000)) }))
	must(t, change(f, func(b *frame.Batch) error { return b.SetVLMeta("other", []byte("y")) }))
	must(t, change(f, func(b *frame.Batch) error { return b.DeleteVLMeta("name") }))
	must(t, change(f, func(b *frame.Batch) error { return b.DeleteVLMeta("other") }))
	if got := read(); !bytes.Equal(got, want) {
		t.Errorf("after edits: %x\n%x", got, want)
	}
	must(t, f.Append(t.Context(), make([]byte, 100)))
	must(t, f.Append(t.Context(), []byte("abc")))
	must(t, change(f, func(b *frame.Batch) error { return b.Delete(1) }))
	must(t, change(f, func(b *frame.Batch) error { return b.Delete(0) }))
	copy(want[58:], []byte{0, 0, 0, 100}) // the chunk size is now known
	if got := read(); !bytes.Equal(got, want) {
		t.Errorf("after deleting all: %x\n%x", got, want)
	}
	must(t, f.Close())
	_, err = m.WriteAt(want, 0)
	must(t, err)
	f, err = frame.EditStorage(t.Context(), m, nil)
	must(t, err)
	verify(t, f)
	if f.Info().NBytes != 0 || f.NumChunks() != 0 {
		t.Error(f.Info())
	}
}

// TestGoldenVariable checks the flags of frames with chunks or blocks of variable size.
func TestGoldenVariable(t *testing.T) {
	f, err := frame.Create(t.Context(), "", nil)
	must(t, err)
	flags := func() byte {
		b, err := appendTo(f, nil)
		must(t, err)
		return b[offVersion]
	}
	must(t, f.Append(t.Context(), make([]byte, 64)))
	if got := flags(); got != 0x12 {
		t.Errorf("%#x", got)
	}
	must(t, f.Append(t.Context(), make([]byte, 65)))
	if got := flags(); got != 0x53 || f.Info().ChunkSize != 0 {
		t.Errorf("%#x", got)
	}
	f, err = frame.Create(t.Context(), "", nil)
	must(t, err)
	must(t, change(f, func(b *frame.Batch) error { return b.AppendBlocks(t.Context(), [][]byte{{1, 2, 3}, {4}}) }))
	if got := flags(); got != 0x93 || f.Info().ChunkSize != 4 {
		t.Errorf("%#x", got)
	}
	must(t, change(f, func(b *frame.Batch) error { return b.AppendBlocks(t.Context(), [][]byte{{1, 2, 3}, {4, 5}}) }))
	if got := flags(); got != 0xd3 || f.Info().ChunkSize != 0 {
		t.Errorf("%#x", got)
	}
}

// TestBlosc1Chunks puts chunks of C-Blosc 1 into frames, in memory, in files and in directories, and reads them there.
func TestBlosc1Chunks(t *testing.T) {
	cases := manifest.Read(t, "blosc1")
	if len(cases) != 126 {
		t.Fatalf("%d chunks of Blosc1, want 126", len(cases))
	}
	for i, c := range cases {
		raw, err := os.ReadFile(c.Path)
		must(t, err)
		o := &frame.CreateOptions{Params: chunk.Params{TypeSize: c.TypeSize}, Sparse: i%3 == 1, NoSync: true}
		fill := func(b *frame.Batch) error {
			if err := b.AppendRaw(t.Context(), raw); err != nil {
				return err
			}
			return b.AppendRaw(t.Context(), raw)
		}
		var f *frame.Frame
		if i%3 == 2 {
			o.Sparse = false
			f, err = frame.CreateFunc(t.Context(), "", fill, o)
		} else {
			f, err = frame.CreateFunc(t.Context(), filepath.Join(t.TempDir(), "f"), fill, o)
		}
		must(t, err)
		got := make([]byte, 2*c.NBytes)
		if n, err := f.Content(t.Context()).ReadAt(got, 0); n != len(got) || err != nil {
			t.Fatalf("%s: %d bytes read: %v", c.File, n, err)
		}
		if sum(got[:c.NBytes]) != c.SHA256 || !bytes.Equal(got[:c.NBytes], got[c.NBytes:]) {
			t.Errorf("%s: other content", c.File)
		}
		info, err := f.ChunkInfo(t.Context(), 1)
		must(t, err)
		last, err := f.ReadBlock(t.Context(), nil, 1, info.Blocks-1)
		must(t, err)
		if !bytes.HasSuffix(got, last) || len(last) == 0 {
			t.Errorf("%s: the last block alone differs", c.File)
		}
		must(t, f.Close())
	}
}
