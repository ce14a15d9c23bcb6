package frametest

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/codec"
	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/internal/coder"
	"github.com/goblosc/blosc2/internal/manifest"
	"github.com/goblosc/blosc2/meta"
)

// salvaged is what Salvage has made of bytes or of a directory.
type salvaged struct {
	frame.Salvaged
	f      *frame.Frame
	err    error
	told   []string
	unsure bool
	whole  []byte // all decoded bytes
}

// salvage runs Salvage on the frame in b.
func salvage(t testing.TB, b []byte) salvaged {
	t.Helper()
	name := filepath.Join(t.TempDir(), "broken")
	must(t, os.WriteFile(name, b, 0o666))
	return salvagePath(t, name)
}

func salvagePath(t testing.TB, name string) (r salvaged) {
	t.Helper()
	r.f, r.Salvaged, r.err = frame.Salvage(context.Background(), filepath.Join(t.TempDir(), "new"), name, func(err error) { r.told = append(r.told, err.Error()) }, &frame.CreateOptions{NoSync: true, Concurrency: 1})
	for i, what := range r.told {
		if slices.Contains(r.told[:i], what) {
			t.Errorf("told twice: %s", what)
		}
	}
	if r.err == nil {
		t.Cleanup(func() { r.f.Close() })
		must(t, r.f.Verify(context.Background(), func(err error) error {
			if errors.Is(err, errors.ErrUnsupported) { // it may be intact
				r.unsure = true
				return nil
			}
			return err
		}))
		if !r.unsure && r.f.Info().NBytes < 1<<20 {
			r.whole = content(t, r.f)
		}
	}
	return r
}

// wreckage makes a frame of n chunks of 160 bytes, the last of 80, in an array of one dimension, with dead bytes.
func wreckage(t testing.TB, o frame.CreateOptions, n int) (b []byte, want [][]byte) {
	t.Helper()
	rec := meta.Array{Shape: []int64{int64(40 * n)}, ChunkShape: []int32{40}, BlockShape: []int32{20}, DType: "<i4"}
	record, err := rec.Append(nil)
	must(t, err)
	o.Params, o.ChunkSize = chunk.Params{TypeSize: 4, BlockSize: 80}, 160
	o.Meta = []meta.Layer{{Name: "b2nd", Content: record}, {Name: "m", Content: []byte("fixed")}}
	m := frame.NewMemory(nil)
	f, err := frame.Create(t.Context(), "", &o)
	must(t, err)
	b, err = appendTo(f, nil)
	must(t, err)
	m.WriteAt(b, 0)
	f, err = frame.EditStorage(t.Context(), m, nil)
	must(t, err)
	for i := range n {
		must(t, f.Append(t.Context(), small(i)))
		want = append(want, small(i))
	}
	must(t, change(f, func(b *frame.Batch) error { return b.SetVLMeta("v", []byte("value")) }))
	return slices.Clone(m.Bytes()), want
}

// TestSalvage damages parts of frames and expects all intact chunks and metalayers in the new frame.
func TestSalvage(t *testing.T) {
	const n = 12
	for _, sums := range []bool{false, true} {
		b, chunks := wreckage(t, frame.CreateOptions{Checksums: sums}, n)
		f, err := frame.OpenBytes(b, nil)
		must(t, err)
		index, trailer := indexPos(b), indexPos(b)
		for h, err := coder.ParseHeader(b[index:], int64(len(b))); err == nil; err = errors.New("once") {
			trailer += int64(h.CBytes)
		}
		fifth, err := f.ChunkInfo(t.Context(), 5)
		must(t, err)
		without := func(i int) []byte {
			c := slices.Clone(chunks)
			c[i] = make([]byte, 160)
			return bytes.Join(c, nil)
		}
		all := bytes.Join(chunks, nil)
		for _, c := range []struct {
			what  string
			cut   int64 // number of bytes that stay, or 0
			from  int64 // zeros in [from, to)
			to    int64
			want  []byte
			lost  int
			array bool
			vl    bool
			told  string
		}{
			{"nothing", 0, 0, 0, all, 0, true, true, ""},
			{"the index", 0, index, index + 16, all, 0, true, true, "index"},
			{"the end", index, 0, 0, all, 0, true, false, "header"},
			{"the trailer", 0, trailer, int64(len(b)), all, 0, true, false, "trailer"},
			{"the header", 0, 0, 60, all, 0, true, true, "header"},
			{"the codec in the header", 0, 25, 30, all, 0, true, true, ""},
			{"the magic", 0, 1, 9, all, 0, true, true, "header"},
			{"header and index", 0, 0, 60, nil, 0, true, true, ""},
			{"a chunk", 0, fifth.Off, fifth.Off + 32, without(5), 1, true, true, "chunk 5"},
			{"a chunk and the index", 0, fifth.Off, fifth.Off + 32, without(5), 1, true, true, "index"},
		} {
			t.Run(fmt.Sprintf("%s-%v", c.what, sums), func(t *testing.T) {
				broken := slices.Clone(b)
				clear(broken[c.from:c.to])
				if strings.HasSuffix(c.what, "and index") || strings.HasSuffix(c.what, "and the index") {
					clear(broken[index : index+16])
				}
				if c.what == "header and index" {
					c.want = all
				}
				if c.cut > 0 {
					broken = broken[:c.cut]
				}
				r := salvage(t, broken)
				must(t, r.err)
				if !bytes.Equal(r.whole, c.want) || r.Lost != c.lost {
					t.Errorf("%+v: %d bytes, want %d", r.Salvaged, len(r.whole), len(c.want))
				}
				if _, err := metaLayer(r.f, "b2nd"); (err == nil) != c.array {
					t.Errorf("the array: %v", err)
				}
				if _, err := r.f.VLMeta("v"); (err == nil) != c.vl {
					t.Errorf("the value: %v", err)
				}
				if told := strings.Join(r.told, "\n"); !strings.Contains(told, c.told) || c.what == "nothing" && told != "" {
					t.Errorf("told %q, want %q", told, c.told)
				}
				if v, err := metaLayer(r.f, "m"); err != nil || string(v) != "fixed" {
					t.Errorf("metalayer: %v", err)
				}
				if c.vl && r.f.Info().Checksums != sums {
					t.Errorf("checksums %v", !sums)
				}
			})
		}
	}
}

// TestSalvageFields breaks single fields of the header, some of them also where there is no index: all chunks must be
// there.
func TestSalvageFields(t *testing.T) {
	const n = 6
	b, chunks := wreckage(t, frame.CreateOptions{}, n)
	index := indexPos(b)
	for _, c := range []struct {
		what     string
		from, to int
		flip     byte // instead of zeros
	}{
		{"the number of bytes", offNBytes, offNBytes + 8, 0},
		{"one bit of it", offNBytes + 6, offNBytes + 7, 1},
		{"the length of the frame", offFrameLen, offFrameLen + 8, 0},
		{"the size of the chunks area", offCBytes, offCBytes + 8, 0},
		{"one bit of it", offCBytes + 6, offCBytes + 7, 1},
		{"the size of items", offTypeSize, offTypeSize + 4, 0},
		{"one bit of it", offTypeSize + 3, offTypeSize + 4, 8},
		{"the size of chunks, larger", offChunkSize + 2, offChunkSize + 3, 1},
		{"the size of chunks, smaller", offChunkSize + 3, offChunkSize + 4, 0x80},
	} {
		for _, indexed := range []bool{true, false} {
			if !indexed && c.from != offFrameLen && c.from != offCBytes {
				continue // then nothing identifies the chunks
			}
			d := slices.Clone(b)
			if clear(d[c.from:c.to]); c.flip > 0 {
				d[c.from] = b[c.from] ^ c.flip
			}
			if !indexed {
				clear(d[index : index+32])
			}
			r := salvage(t, d)
			must(t, r.err)
			if !bytes.Equal(r.whole, bytes.Join(chunks, nil)) || len(r.told) == 0 {
				t.Errorf("%s, index %v: %+v, %d bytes, told %q", c.what, indexed, r.Salvaged, len(r.whole), r.told)
			}
		}
	}
}

// TestSalvageItemSize damages the item size in the header of an array whose codec depends on it. The first chunk may
// be one that can be decoded with every item size.
func TestSalvageItemSize(t *testing.T) {
	const n = 5
	for _, c := range []struct {
		rows  int64
		first *chunk.Params
	}{
		{16 * n, nil},
		{17 * n, nil}, // a chunk is missing
		{17 * n, &chunk.Params{TypeSize: 4, BlockSize: 512}},
		{17 * n, &chunk.Params{TypeSize: 4, BlockSize: 512, Codec: codec.LZ4, Level: 5}},
	} {
		shape := []int64{c.rows, 16}
		rec := meta.Array{Shape: shape, ChunkShape: []int32{16, 16}, BlockShape: []int32{8, 16}, DType: "<f4"}
		record, err := rec.Append(nil)
		must(t, err)
		for _, sparse := range []bool{false, true} {
			name := filepath.Join(t.TempDir(), "broken")
			f, err := frame.Create(t.Context(), name, &frame.CreateOptions{
				NoSync: true, Sparse: sparse, ChunkSize: 1024, Meta: []meta.Layer{{Name: "b2nd", Content: record}},
				Params: chunk.Params{Codec: codec.ZFPAcc, CodecMeta: 0xfd, TypeSize: 4, BlockSize: 512},
			})
			must(t, err)
			items := make([]byte, 1024)
			for i := range len(items) / 4 {
				binary.LittleEndian.PutUint32(items[4*i:], math.Float32bits(float32(i)))
			}
			left := n
			if c.first != nil {
				first, err := chunk.Encode(nil, items, *c.first)
				must(t, err)
				must(t, change(f, func(b *frame.Batch) error { return b.AppendRaw(t.Context(), first) }))
				left--
			}
			for range left {
				must(t, f.Append(t.Context(), items))
			}
			want := content(t, f)
			must(t, f.Close())
			file := name
			if sparse {
				file = filepath.Join(name, "chunks.b2frame")
			}
			b, err := os.ReadFile(file)
			must(t, err)
			for _, size := range []uint32{1, 5, 8, 260} {
				for _, indexed := range []bool{true, false} {
					if !indexed && sparse {
						continue
					}
					d := slices.Clone(b)
					binary.BigEndian.PutUint32(d[offTypeSize:], size)
					if !indexed {
						clear(d[indexPos(b):][:32])
					}
					must(t, os.WriteFile(file, d, 0o666))
					r := salvagePath(t, name)
					must(t, r.err)
					got, whole := r.f.Info().TypeSize, bytes.Equal(r.whole, want)
					if r.Chunks != n || r.Lost > 0 || got != 4 || whole != (shape[0] == 16*n) || len(r.told) == 0 {
						t.Errorf("%v, sparse %v, index %v: item size %d becomes %d: %+v, %v", shape, sparse, indexed, size, got, r.Salvaged, r.told)
					}
				}
			}
		}
	}
}

// TestSalvageReaching gives a chunk a size that reaches over the next one, which still decodes, in a frame without an
// index.
func TestSalvageReaching(t *testing.T) {
	f, err := frame.CreateFunc(t.Context(), "", func(b *frame.Batch) error {
		for i := range 4 {
			if err := b.Append(t.Context(), bytes.Repeat(small(i), 25)); err != nil {
				return err
			}
		}
		return nil
	}, &frame.CreateOptions{ChunkSize: 4000, Params: chunk.Params{TypeSize: 4}})
	must(t, err)
	want := content(t, f)
	b, err := appendTo(f, nil)
	must(t, err)
	info, err := f.ChunkInfo(t.Context(), 0)
	must(t, err)
	if info.CBytes >= 2000 {
		t.Fatalf("%d bytes: not compressed", info.CBytes)
	}
	b[info.Off+13]++
	index := indexPos(b)
	clear(b[:20])
	clear(b[index : index+32])
	if r := salvage(t, b); r.err != nil || !bytes.Equal(r.whole, want) {
		t.Errorf("%+v: %d bytes, want %d: %v", r.Salvaged, len(r.whole), len(want), r.err)
	}
}

// TestSalvageNested salvages a file with a chunk at every 40 bytes. Each contains all later ones, uncompressed. The
// work must not be the square of the size.
func TestSalvageNested(t *testing.T) {
	const size, step = 256 << 10, 40
	b := make([]byte, size+64)
	for at := 0; at+step < size; at += step {
		n := uint32(size - at - step)
		copy(b[at:], []byte{5, 1, 0x35, 1})
		binary.LittleEndian.PutUint32(b[at+4:], n)
		binary.LittleEndian.PutUint32(b[at+8:], n)
		binary.LittleEndian.PutUint32(b[at+12:], n+step)
		binary.LittleEndian.PutUint32(b[at+32:], 36)
		binary.LittleEndian.PutUint32(b[at+36:], n)
	}
	r := salvage(t, b)
	if told := strings.Join(r.told, "\n"); !strings.Contains(told, "too many false chunk headers") {
		t.Errorf("%+v, %d reports, %v", r.Salvaged, len(r.told), r.err)
	}
}

// TestSalvageForms salvages frames with chunks of any size, blocks of any size, special values, and chunks in another
// order than that of their positions, without header or index.
func TestSalvageForms(t *testing.T) {
	make := func(o frame.CreateOptions, fill func(b *frame.Batch) error) []byte {
		f, err := frame.CreateFunc(t.Context(), "", fill, &o)
		must(t, err)
		b, err := appendTo(f, nil)
		must(t, err)
		return b
	}
	variable := func(b *frame.Batch) error {
		for i := range 6 {
			if err := b.Append(t.Context(), small(i)[:(i*7%5+1)*32]); err != nil {
				return err
			}
		}
		return nil
	}
	for _, c := range []struct {
		what string
		o    frame.CreateOptions
		fill func(b *frame.Batch) error
	}{
		{"variable", frame.CreateOptions{Params: chunk.Params{TypeSize: 4}}, variable},
		{"blocks", frame.CreateOptions{}, func(b *frame.Batch) error {
			return errors.Join(b.AppendBlocks(t.Context(), [][]byte{small(1), small(2)[:7]}), b.AppendBlocks(t.Context(), [][]byte{small(3)}))
		}},
		{"specials", frame.CreateOptions{Params: chunk.Params{TypeSize: 4}, ChunkSize: 160}, func(b *frame.Batch) error {
			zeros, err := chunk.EncodeSpecial(nil, chunk.Zeros, 160, nil, chunk.Params{TypeSize: 4})
			return errors.Join(err, b.Append(t.Context(), small(1)), b.AppendRaw(t.Context(), zeros), b.Append(t.Context(), small(2)), b.AppendRaw(t.Context(), zeros))
		}},
		{"order", frame.CreateOptions{Params: chunk.Params{TypeSize: 4}, ChunkSize: 160}, func(b *frame.Batch) error {
			return errors.Join(b.Append(t.Context(), small(1)), b.Insert(t.Context(), 0, small(2)), b.Insert(t.Context(), 1, small(3)), b.Append(t.Context(), small(4)))
		}},
		{"typesize 8", frame.CreateOptions{Params: chunk.Params{TypeSize: 8}}, variable},
	} {
		for _, header := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s-%v", c.what, header), func(t *testing.T) {
				c.o.Concurrency = 1
				b := make(c.o, c.fill)
				f, err := frame.OpenBytes(b, nil)
				must(t, err)
				want := content(t, f)
				n := f.NumChunks()
				if header {
					b[offCBytes+6] ^= 1 // the index is not where it should be
				} else {
					clear(b[:20])
				}
				r := salvage(t, b)
				must(t, r.err)
				if !bytes.Equal(r.whole, want) || r.f.NumChunks() != n || !r.Index {
					t.Errorf("%+v, %d bytes, want %d: %v", r.Salvaged, len(r.whole), len(want), r.told)
				}
			})
		}
	}
}

// TestSalvageSparse breaks sparse frames.
func TestSalvageSparse(t *testing.T) {
	for _, what := range []string{"nothing", "a chunk", "a file", "the index", "the index file", "a negative number"} {
		dir := filepath.Join(t.TempDir(), "x")
		var want [][]byte
		f, err := frame.CreateFunc(t.Context(), dir, func(b *frame.Batch) error {
			for i := range 5 {
				want = append(want, small(i))
				if err := b.Append(t.Context(), small(i)); err != nil {
					return err
				}
			}
			return b.SetVLMeta("v", []byte("value"))
		}, &frame.CreateOptions{Sparse: true, NoSync: true, Params: chunk.Params{TypeSize: 4}})
		must(t, err)
		must(t, f.Close())
		lost, vl := 0, true
		switch what {
		case "a chunk":
			must(t, os.Truncate(filepath.Join(dir, chunkFile(2)), 50))
			want[2], lost = make([]byte, 160), 1
		case "a file":
			must(t, os.Remove(filepath.Join(dir, chunkFile(2))))
			want[2], lost = make([]byte, 160), 1
		case "the index":
			name := filepath.Join(dir, indexFile)
			b, err := os.ReadFile(name)
			must(t, err)
			n := endOfHeader(b)
			clear(b[n : n+10])
			must(t, os.WriteFile(name, b, 0o666))
		case "the index file":
			must(t, os.Remove(filepath.Join(dir, indexFile)))
			vl = false
		case "a negative number":
			must(t, os.Remove(filepath.Join(dir, indexFile)))
			must(t, os.Link(filepath.Join(dir, chunkFile(2)), filepath.Join(dir, chunkFile(-1))))
			vl = false
		}
		r := salvagePath(t, dir)
		must(t, r.err)
		if !bytes.Equal(r.whole, bytes.Join(want, nil)) || r.Lost != lost || r.Info().Sparse {
			t.Errorf("%s: %+v %v", what, r.Salvaged, r.told)
		}
		if _, err := r.f.VLMeta("v"); (err == nil) != vl {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// TestSalvageSparseEntries breaks entries of the index of a sparse frame: the files that none names take their places.
func TestSalvageSparseEntries(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "x")
	var want []byte
	f, err := frame.CreateFunc(t.Context(), dir, func(b *frame.Batch) error {
		for i := range 5 {
			want = append(want, small(i)...)
			if err := b.Append(t.Context(), small(i)); err != nil {
				return err
			}
		}
		return nil
	}, &frame.CreateOptions{Sparse: true, NoSync: true, Params: chunk.Params{TypeSize: 4}})
	must(t, err)
	head := f.Info().FrameLen
	must(t, f.Close())
	name := filepath.Join(dir, indexFile)
	b, err := os.ReadFile(name)
	must(t, err)
	n := endOfHeader(b)
	plain, err := chunk.Decode(nil, b[n:])
	must(t, err)
	plain[8*1], plain[8*3] = 0, 99 // the same as another, and no file
	x, err := coder.ParseHeader(b[n:], head)
	must(t, err)
	out, err := coder.Encode(nil, plain, coder.IndexParams(), nil)
	must(t, err)
	b = slices.Concat(b[:n], out, b[n+x.CBytes:])
	binary.BigEndian.PutUint64(b[offFrameLen:], uint64(len(b)))
	must(t, os.WriteFile(name, b, 0o666))
	r := salvagePath(t, dir)
	if r.err != nil || !bytes.Equal(r.whole, want) || r.Lost != 0 || len(r.told) != 2 {
		t.Errorf("%+v: %v, %q", r.Salvaged, r.err, r.told)
	}
}

// TestAppendOddSpecial appends special values that are no whole items of the frame. C-Blosc2 accepts them only as
// ordinary chunks.
func TestAppendOddSpecial(t *testing.T) {
	ctx := t.Context()
	check := func(f *frame.Frame, i int, want []byte) {
		t.Helper()
		got, err := f.ReadChunk(ctx, nil, i)
		must(t, err)
		info, err := f.ChunkInfo(ctx, i)
		must(t, err)
		if !bytes.Equal(got, want) || info.Special != chunk.Regular {
			t.Errorf("chunk %d is %v, %d bytes", i, info.Special, len(got))
		}
	}
	for _, typeSize := range []int{5, 8, 300} {
		for _, special := range []chunk.Special{chunk.Zeros, chunk.NaNs, chunk.Uninit} {
			c, err := chunk.EncodeSpecial(nil, special, 484, nil, chunk.Params{TypeSize: 4})
			must(t, err)
			want, err := chunk.Decode(nil, c)
			must(t, err)
			o := &frame.CreateOptions{Params: chunk.Params{TypeSize: typeSize}}
			f, err := frame.CreateFunc(ctx, "", func(b *frame.Batch) error {
				return cmp.Or(b.AppendRaw(ctx, c), b.InsertRaw(ctx, 0, c), b.Append(ctx, want), b.UpdateRaw(ctx, 2, c))
			}, o)
			must(t, err)
			for i := range 3 {
				check(f, i, want)
			}
		}
		zeros := make([]byte, 8*501)
		for _, goal := range []chunk.Goal{0, chunk.Balanced} {
			o := &frame.CreateOptions{Params: chunk.Params{TypeSize: typeSize}, Goal: goal}
			f, err := frame.CreateFunc(ctx, "", func(b *frame.Batch) error {
				return cmp.Or(b.Append(ctx, bytes.Repeat([]byte("12345"), 480)), b.Append(ctx, zeros[:501]))
			}, o)
			must(t, err)
			check(f, 1, zeros[:501])
		}
	}
	dir := filepath.Join(t.TempDir(), "dir")
	r, err := frame.CreateRegions(ctx, dir, 8*501, &frame.CreateOptions{
		Params: chunk.Params{TypeSize: 8, BlockSize: 64}, ChunkSize: 501, NoSync: true,
	})
	must(t, err)
	for i := range 8 {
		must(t, r.Write(ctx, i, make([]byte, 501)))
	}
	must(t, r.Finish(ctx))
	must(t, r.Close())
	f, err := frame.Open(ctx, dir, nil)
	must(t, err)
	defer f.Close()
	for i := range 8 {
		check(f, i, make([]byte, 501))
	}
}

// TestAppendOtherItems appends NaNs and values whose items have another size than those of the frame.
func TestAppendOtherItems(t *testing.T) {
	ctx := t.Context()
	nan := chunk.Params{TypeSize: 4}
	for i, c := range []struct {
		special  chunk.Special
		value    string
		typeSize int
		stored   chunk.Special
	}{
		{chunk.NaNs, "", 1, chunk.Regular},
		{chunk.NaNs, "", 4, chunk.NaNs},
		{chunk.NaNs, "", 8, chunk.Value},
		{chunk.NaNs, "", 10, chunk.Regular},
		{chunk.NaNs, "", 16, chunk.Value},
		{chunk.NaNs, "", 300, chunk.Regular},
		{chunk.Value, "abcd", 2, chunk.Regular},
		{chunk.Value, "abcd", 4, chunk.Value},
		{chunk.Value, "abcd", 24, chunk.Value},
		{chunk.Value, "abcd", 300, chunk.Regular},
		{chunk.Value, strings.Repeat("abc", 100), 300, chunk.Value},
		{chunk.Value, "\x00\x00\x00\x00", 3, chunk.Regular},
		{chunk.Value, "\x00\x00\x00\x00", 12, chunk.Value},
	} {
		z, err := chunk.EncodeSpecial(nil, c.special, 48000, []byte(c.value), nan)
		must(t, err)
		want, err := chunk.Decode(nil, z)
		must(t, err)
		f, err := frame.CreateFunc(ctx, "", func(b *frame.Batch) error { return b.AppendRaw(ctx, z) }, &frame.CreateOptions{
			Params: chunk.Params{TypeSize: c.typeSize},
		})
		must(t, err)
		got, err := f.ReadChunk(ctx, nil, 0)
		must(t, err)
		raw, err := f.ReadRaw(ctx, nil, 0)
		must(t, err)
		h, err := chunk.ParseHeader(raw, int64(len(raw)))
		must(t, err)
		if !bytes.Equal(got, want) || h.Special != c.stored || h.Special == chunk.Value && h.CBytes != 32+c.typeSize || h.CBytes > 2000 {
			t.Errorf("case %d: %v of %d bytes, %d decoded", i, h.Special, h.CBytes, len(got))
		}
	}
}

// Info returns that of the new frame.
func (r *salvaged) Info() frame.Info { return r.f.Info() }

// TestSalvageCut cuts a frame at every length, and zeros a piece at every place: Salvage must not fail as long as one
// chunk is whole, and all whole chunks must be there.
func TestSalvageCut(t *testing.T) {
	b, chunks := wreckage(t, frame.CreateOptions{}, 3)
	f, err := frame.OpenBytes(b, nil)
	must(t, err)
	var ends []int64
	for i := range chunks {
		c, err := f.ChunkInfo(t.Context(), i)
		must(t, err)
		ends = append(ends, c.Off+int64(c.CBytes))
	}
	for n := 0; n < len(b); n += 3 {
		r := salvage(t, b[:n])
		whole := 0
		for i, end := range ends {
			if int64(n) >= end {
				whole++
				if r.err != nil || !bytes.Contains(r.whole, chunks[i]) {
					t.Errorf("cut at %d: chunk %d is lost: %v", n, i, r.err)
				}
			}
		}
		if r.err != nil && (whole > 0 || !errors.Is(r.err, frame.ErrFormat)) {
			t.Errorf("cut at %d: %v", n, r.err)
		}
	}
	for n := 0; n+40 < len(b); n += 7 {
		c := slices.Clone(b)
		clear(c[n : n+40])
		r := salvage(t, c)
		for i, end := range ends {
			if off := end - (ends[1] - ends[0]); (int64(n) >= end || int64(n+40) <= off) && (r.err != nil || !bytes.Contains(r.whole, chunks[i])) {
				t.Errorf("zeros at %d: chunk %d is lost: %v, %v", n, i, r.err, r.told)
			}
		}
	}
}

// TestSalvageRefused salvages bytes that are not a frame, and salvages to a name that already exists.
func TestSalvageRefused(t *testing.T) {
	if r := salvage(t, bytes.Repeat([]byte("no frame"), 1000)); !errors.Is(r.err, frame.ErrFormat) {
		t.Errorf("no frame: %v", r.err)
	}
	if r := salvage(t, nil); !errors.Is(r.err, frame.ErrFormat) {
		t.Errorf("nothing: %v", r.err)
	}
	if r := salvagePath(t, filepath.Join(t.TempDir(), "none")); !errors.Is(r.err, os.ErrNotExist) {
		t.Errorf("no file: %v", r.err)
	}
	b, _ := wreckage(t, frame.CreateOptions{}, 2)
	name := filepath.Join(t.TempDir(), "x")
	must(t, os.WriteFile(name, b, 0o666))
	if _, _, err := frame.Salvage(context.Background(), name, name, nil, nil); !errors.Is(err, fs.ErrExist) {
		t.Errorf("onto itself: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, _, err := frame.Salvage(ctx, name+"2", name, nil, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
	// Headers of large chunks at every place, all but the last block of which can be decoded.
	evil := bytes.Repeat([]byte{5, 1, 0x15, 1, 0, 0, 0, 1, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1, 0, 0}, 1<<16)
	if r := salvage(t, evil); r.err == nil {
		t.Error("a file of headers")
	}
}

// FuzzSalvage salvages any bytes.
func FuzzSalvage(f *testing.F) {
	_, frames := manifest.Contiguous(f, 1500)
	for _, b := range frames {
		f.Add(b)
	}
	b, _ := wreckage(f, frame.CreateOptions{Checksums: true}, 4)
	f.Add(b)
	clear(b[:20])
	f.Add(b)
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) > 1<<15 {
			return
		}
		if r := salvage(t, b); r.err == nil && r.f.NumChunks() < r.Chunks {
			t.Errorf("%+v of %d", r.Salvaged, r.f.NumChunks())
		}
	})
}
