package ref

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// ramp returns n bytes that compress, in items of 4 bytes.
func ramp(n int) []byte {
	b := make([]byte, 0, n+4)
	for i := uint32(0); len(b) < n; i++ {
		b = binary.LittleEndian.AppendUint32(b, i*3)
	}
	return b[:n]
}

func shuffled(codec uint8) CParams {
	return CParams{Codec: codec, Level: 5, TypeSize: 4, Filters: [6]uint8{5: 1}}
}

func TestVersion(t *testing.T) {
	if v := Version(); !strings.HasPrefix(v, "3.") {
		t.Errorf("C-Blosc2 %s, want 3.x", v)
	}
}

func TestCompress(t *testing.T) {
	src := ramp(200_001)
	keep := bytes.Clone(src)
	for _, codec := range []uint8{0, 1, 2, 4, 5} {
		for _, threads := range []int{1, 3} {
			p := shuffled(codec)
			p.Threads, p.BlockSize, p.Split = threads, 16384, SplitNever
			chunk, err := Compress(src, &p)
			if err != nil {
				t.Fatal(err)
			}
			nbytes, cbytes, blockSize, err := Sizes(chunk)
			if err != nil || nbytes != len(src) || cbytes != len(chunk) || blockSize != 16384 || cbytes >= nbytes {
				t.Errorf("codec %d: sizes %d, %d, %d, %v of a chunk of %d bytes", codec, nbytes, cbytes, blockSize, err, len(chunk))
			}
			if chunk[21] != 1 || chunk[2]&0x10 == 0 {
				t.Errorf("codec %d: header %x", codec, chunk[:32])
			}
			got, err := Decompress(chunk, threads)
			if err != nil || !bytes.Equal(got, src) {
				t.Errorf("codec %d, %d threads: wrong content, %v", codec, threads, err)
			}
			got, err = Items(chunk, 100, 7)
			if err != nil || !bytes.Equal(got, src[400:428]) {
				t.Errorf("codec %d: items %x, %v", codec, got, err)
			}
		}
	}
	if !bytes.Equal(src, keep) {
		t.Error("the input was written to")
	}
}

func TestDict(t *testing.T) {
	p := shuffled(5)
	p.Dict = true
	chunk, err := Compress(bytes.Repeat(ramp(500), 400), &p)
	if err != nil {
		t.Fatal(err)
	}
	if chunk[31]&1 == 0 {
		t.Errorf("no dictionary in %x", chunk[:32])
	}
}

func TestDamaged(t *testing.T) {
	p := shuffled(5)
	chunk, err := Compress(ramp(10_000), &p)
	if err != nil {
		t.Fatal(err)
	}
	for _, bad := range [][]byte{nil, chunk[:10], chunk[:len(chunk)-1]} {
		if _, err := Decompress(bad, 1); err == nil {
			t.Errorf("%d bytes of %d decompress", len(bad), len(chunk))
		}
	}
	if _, err := Compress(ramp(10_000), &CParams{Codec: 77, Level: 5, TypeSize: 1}); err == nil {
		t.Error("codec 77 compresses")
	}
}

func TestCompressBlocks(t *testing.T) {
	blocks := [][]byte{ramp(1000), ramp(3), ramp(5000), []byte("hello")}
	p := shuffled(5)
	chunk, err := CompressBlocks(blocks, &p)
	if err != nil {
		t.Fatal(err)
	}
	got, err := Decompress(chunk, 1)
	if err != nil || !bytes.Equal(got, slices.Concat(blocks...)) {
		t.Errorf("wrong content, %v", err)
	}
	if chunk[0] != 6 || binary.LittleEndian.Uint32(chunk[8:]) != 4 {
		t.Errorf("header %x", chunk[:32])
	}
}

func TestSpecial(t *testing.T) {
	item := []byte{1, 2, 3, 4}
	nan := []byte{0, 0, 0xc0, 0x7f}
	for special, want := range map[int][]byte{Zeros: {0, 0, 0, 0}, NaNs: nan, Value: item, Uninit: nil} {
		p := shuffled(5)
		chunk, err := CompressSpecial(special, 400, item, &p)
		if err != nil {
			t.Fatal(err)
		}
		if int(chunk[31]>>4) != special {
			t.Errorf("special %d: header %x", special, chunk[:32])
		}
		got, err := Decompress(chunk, 1)
		if err != nil || want != nil && !bytes.Equal(got, bytes.Repeat(want, 100)) {
			t.Errorf("special %d: wrong content, %v", special, err)
		}
	}
}

// storages calls f for memory and disk, contiguous and sparse.
func storages(t *testing.T, f func(t *testing.T, st Storage)) {
	for _, disk := range []bool{false, true} {
		for _, sparse := range []bool{false, true} {
			t.Run(fmt.Sprintf("disk=%t,sparse=%t", disk, sparse), func(t *testing.T) {
				st := Storage{Sparse: sparse, CParams: shuffled(5), Metalayers: []Meta{{"one", []byte{0xc0}}, {"two", []byte("two")}}}
				if disk {
					st.Path = filepath.Join(t.TempDir(), "f.b2frame")
				}
				f(t, st)
			})
		}
	}
}

func TestSChunk(t *testing.T) {
	storages(t, func(t *testing.T, st Storage) {
		s, err := NewSChunk(&st)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		var want [][]byte
		content := func(i int) []byte { return bytes.Repeat([]byte{byte(i), 1, 2, 3}, 1000) }
		must := func(err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
		}
		chunk := func(i int) []byte {
			c, err := Compress(content(i), &st.CParams)
			must(err)
			return c
		}
		for i := range 4 {
			must(s.Append(content(i)))
			want = append(want, content(i))
		}
		must(s.AppendRaw(chunk(4)))
		must(s.InsertRaw(1, chunk(5)))
		must(s.UpdateRaw(0, chunk(6)))
		must(s.Delete(3))
		want = slices.Insert(append(want, content(4)), 1, content(5))
		want[0] = content(6)
		want = slices.Delete(want, 3, 4)

		must(s.SetVLMeta("a", []byte("first")))
		must(s.SetVLMeta("b", bytes.Repeat([]byte("b"), 1000)))
		must(s.SetVLMeta("a", []byte("second value")))
		must(s.SetVLMeta("gone", nil))
		must(s.DeleteVLMeta("gone"))
		must(s.SetMeta("two", []byte("TWO")))

		verify := func(s *SChunk) {
			t.Helper()
			got, err := s.Dump()
			if err != nil || !bytes.Equal(got, slices.Concat(want...)) {
				t.Errorf("wrong content, %v", err)
			}
			info, err := s.Info()
			must(err)
			if info.NBytes != 20_000 || info.NChunks != 5 || info.ChunkSize != 4000 || info.TypeSize != 4 || info.Codec != 5 ||
				!slices.Equal(info.Filters, []int{0, 0, 0, 0, 0, 1}) || info.Geometry != nil {
				t.Errorf("info %+v", info)
			}
			if len(info.Metalayers) != 2 || string(info.Metalayers["two"]) != "TWO" {
				t.Errorf("metalayers %q", info.Metalayers)
			}
			if len(info.VLMeta) != 2 || string(info.VLMeta["a"]) != "second value" || len(info.VLMeta["b"]) != 1000 {
				t.Errorf("vlmeta %q", info.VLMeta)
			}
		}
		verify(s)
		if st.Path != "" {
			again, err := OpenSChunk(st.Path)
			must(err)
			verify(again)
			again.Close()
		}
		if st.Path == "" || !st.Sparse { // a frame of a directory cannot be taken as bytes
			frame, err := s.Frame()
			must(err)
			again, err := SChunkFrom(frame)
			must(err)
			verify(again)
			again.Close()
		}
	})
}

func TestFillSpecial(t *testing.T) {
	s, err := NewSChunk(&Storage{CParams: shuffled(5)})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.FillSpecial(10_000, Zeros, 8000); err != nil {
		t.Fatal(err)
	}
	got, err := s.Dump()
	if err != nil || s.Len() != 5 || !bytes.Equal(got, make([]byte, 40_000)) {
		t.Errorf("%d chunks, %d bytes, %v", s.Len(), len(got), err)
	}
}

func TestArray(t *testing.T) {
	storages(t, func(t *testing.T, st Storage) {
		p := &Params{st, []int64{7, 10}, []int32{4, 5}, []int32{2, 3}, "<i4"}
		items := ramp(280)
		a, err := ArrayOf(p, items)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { a.Close() }()
		must := func(err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
		}
		dump := func(want []byte) {
			t.Helper()
			got, err := a.Dump()
			if err != nil || !bytes.Equal(got, want) {
				t.Errorf("wrong items, %v", err)
			}
		}
		dump(items)
		got, err := a.Slice([]int64{2, 3}, []int64{4, 5})
		if err != nil || !bytes.Equal(got, slices.Concat(items[92:100], items[132:140])) {
			t.Errorf("slice %x, %v", got, err)
		}
		info, err := a.Info()
		must(err)
		if info.NDim != 2 || !slices.Equal(info.Shape, p.Shape) || !slices.Equal(info.Chunks, p.Chunks) ||
			!slices.Equal(info.Blocks, p.Blocks) || info.DType != "<i4" || info.NChunks != 4 || len(info.Metalayers) != 3 {
			t.Errorf("info %+v %+v", info, info.Geometry)
		}
		text, err := json.Marshal(info)
		if err != nil || !bytes.Contains(text, []byte(`"two":"74776f"`)) || !bytes.Contains(text, []byte(`"blocks":[2,3]`)) {
			t.Errorf("JSON %s, %v", text, err)
		}

		items = bytes.Clone(items)
		copy(items[40:80], make([]byte, 40))
		must(a.SetSlice([]int64{1, 0}, []int64{2, 10}, make([]byte, 40)))
		dump(items)
		more := ramp(120)
		must(a.Append(more, 0))
		items = append(items, more...)
		dump(items)
		rows := ramp(160)
		must(a.Insert(rows, 0, 4)) // whole chunks
		items = slices.Insert(items, 4*40, rows...)
		dump(items)
		must(a.Resize([]int64{8, 10}))
		items = items[:8*40]
		dump(items)
		must(a.Delete(0, 4, 4))
		items = items[:4*40]
		dump(items)

		if st.Path == "" {
			frame, err := a.Frame()
			must(err)
			a.Close()
			a, err = ArrayFrom(frame)
			must(err)
		} else {
			a.Close()
			a, err = OpenArray(st.Path)
			must(err)
		}
		dump(items)
	})
}

func TestSpecialArray(t *testing.T) {
	item := []byte{1, 2, 3, 4}
	p := &Params{Storage{CParams: shuffled(0)}, []int64{5, 6}, []int32{3, 3}, []int32{2, 2}, "<f4"}
	for special, want := range map[int][]byte{Zeros: {0, 0, 0, 0}, NaNs: {0, 0, 0xc0, 0x7f}, Value: item, Uninit: nil} {
		a, err := SpecialArray(p, special, item)
		if err != nil {
			t.Fatal(err)
		}
		got, err := a.Dump()
		if err != nil || want != nil && !bytes.Equal(got, bytes.Repeat(want, 30)) {
			t.Errorf("special %d: %x, %v", special, got, err)
		}
		a.Close()
	}
}

func TestEmptyArray(t *testing.T) {
	for _, shape := range [][]int64{{}, {0}, {3, 0}} {
		part := make([]int32, len(shape))
		for i, n := range shape {
			part[i] = int32(n)
		}
		a, err := EmptyArray(&Params{Storage{CParams: shuffled(0)}, shape, part, part, "<f4"})
		if err != nil {
			t.Fatal(err)
		}
		info, err := a.Info()
		if err != nil || !slices.Equal(info.Shape, shape) {
			t.Errorf("shape %d of %d, %v", info.Shape, shape, err)
		}
		a.Close()
	}
}
