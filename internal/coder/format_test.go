package coder

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"strings"
	"testing"

	"github.com/goblosc/blosc2/codec"
	"github.com/goblosc/blosc2/internal/errs"
)

// unhex decodes hex digits with spaces and bars between them.
func unhex(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.NewReplacer(" ", "", "|", "", "\n", "").Replace(s))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// These are the chunks that the description of the format prints. C-Blosc2 wrote them.
func TestAnnotatedChunks(t *testing.T) {
	const none = " 00000000000000000000000000000000"
	for name, c := range map[string]struct {
		chunk string
		src   []byte
		p     Params
	}{
		"abc": {"05010701 03000000 03000000 23000000 | 00000000000105000000000000000000 | 616263",
			[]byte("abc"), Params{}},
		"empty": {"05010704 00000000 01000000 20000000 | 00000000000105000000000000000000",
			nil, Params{TypeSize: 4}},
		"no compression": {"05010704 28000000 28000000 48000000 | 00000000000105000000000000000000" + strings.Repeat("09", 40),
			bytes.Repeat([]byte{9}, 40), Params{TypeSize: 4, Level: codec.NoCompression}},
		"zeros when encoding": {"05018501 a00f0000 a00f0000 20000000 | 00000000000105000000000000000010",
			make([]byte, 4000), Params{}},
		"31 zeros": {"05010701 1f000000 1f000000 3f000000 | 00000000000105000000000000000000" + strings.Repeat("00", 31),
			make([]byte, 31), Params{}},
		"1003 sevens": {"05011501 eb030000 eb030000 29000000 | " + none + " 24000000 | f9ffffff 01",
			bytes.Repeat([]byte{7}, 1003), Params{Codec: codec.BloscLZ, Filters: []Filter{}}},
	} {
		want := unhex(t, c.chunk)
		if got, err := Encode(nil, c.src, c.p, nil); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: %v\n got %x\nwant %x", name, err, got, want)
		}
		if got, err := Decode(nil, want, nil); err != nil || !bytes.Equal(got, c.src) {
			t.Errorf("%s: decodes to %x, %v", name, got, err)
		}
	}
}

func TestSpecial(t *testing.T) {
	repeat := func(s string, n int) []byte { return bytes.Repeat([]byte(s), n) }
	long := noise(300)
	for name, c := range map[string]struct {
		s      Special
		n      int
		value  []byte
		p      Params
		header string
		want   []byte
	}{
		"zeros":       {Zeros, 8000, nil, Params{TypeSize: 4, BlockSize: 2000}, "05010504 401f0000 d0070000 20000000 | 000000000000000000000000000000 10", make([]byte, 8000)},
		"ragged":      {Zeros, 8001, nil, Params{TypeSize: 4, BlockSize: 2000}, "05010504 411f0000 d0070000 20000000 | 000000000000000000000000000000 10", make([]byte, 8001)},
		"uninit":      {Uninit, 8000, nil, Params{TypeSize: 8, BlockSize: 8000}, "05010508 401f0000 401f0000 20000000 | 000000000000000000000000000000 40", make([]byte, 8000)},
		"float32 NaN": {NaNs, 400, nil, Params{TypeSize: 4, BlockSize: 200}, "05010504 90010000 c8000000 20000000 | 000000000000000000000000000000 20", repeat("\x00\x00\xc0\x7f", 100)},
		"float64 NaN": {NaNs, 400, nil, Params{TypeSize: 8, BlockSize: 200}, "05010508 90010000 c8000000 20000000 | 000000000000000000000000000000 20", repeat("\x00\x00\x00\x00\x00\x00\xf8\x7f", 50)},
		"value":       {Value, 90, []byte("abc"), Params{TypeSize: 3, BlockSize: 9}, "05010503 5a000000 09000000 23000000 | 000000000000000000000000000000 30 616263", repeat("abc", 30)},
		"long value":  {Value, 900, long, Params{TypeSize: 300, BlockSize: 300}, "05010501 84030000 2c010000 4c010000 | 000000000000000000000000000000 30" + hex.EncodeToString(long), bytes.Repeat(long, 3)},
		"two items":   {Value, 400, []byte("abcdefgh"), Params{TypeSize: 4, BlockSize: 100}, "05010504 90010000 60000000 28000000 | 000000000000000000000000000000 30 6162636465666768", repeat("abcdefgh", 50)},
		"large item":  {Value, 80, []byte("abcdefgh"), Params{TypeSize: 1, BlockSize: 5}, "05010501 50000000 08000000 28000000 | 000000000000000000000000000000 30 6162636465666768", repeat("abcdefgh", 10)},
		"none":        {Zeros, 0, nil, Params{TypeSize: 4}, "05010504 00000000 01000000 20000000 | 000000000000000000000000000000 10", nil},
	} {
		want := unhex(t, c.header)
		b, err := EncodeSpecial([]byte("head"), c.s, c.n, c.value, c.p)
		if err != nil || string(b[:4]) != "head" || !bytes.Equal(b[4:], want) {
			t.Errorf("%s: %v\n got %x\nwant %x", name, err, b, want)
			continue
		}
		b = b[4:]
		for _, extra := range []string{"", "more"} {
			got, err := Decode(nil, append(bytes.Clone(b), extra...), nil)
			if err != nil || !bytes.Equal(got, c.want) {
				t.Errorf("%s: %v, or other data", name, err)
			}
		}
		w := NewPool(nil).Get()
		var r Reader
		if err := w.Open(&r, b); err != nil {
			t.Fatal(err)
		}
		if s, v := r.Special, r.Value; s != c.s || !bytes.Equal(v, c.value) {
			t.Errorf("%s: reader returns %v, %x", name, s, v)
		}
		for off := range min(c.n, 20) {
			for _, n := range []int{0, 1, 2, 5, 50} {
				n = min(n, c.n-off)
				got := bytes.Repeat([]byte{0xee}, n)
				FillSpecial(got, c.s, c.value, c.p.TypeSize, off)
				if !bytes.Equal(got, c.want[off:off+n]) {
					t.Errorf("%s: %d bytes at %d: %x", name, n, off, got)
				}
			}
		}
	}
	for name, c := range map[string]struct {
		s     Special
		n     int
		value []byte
		p     Params
		err   error
	}{
		"not special":       {Regular, 100, nil, Params{}, errs.ErrParam},
		"unknown":           {5, 100, nil, Params{}, errs.ErrParam},
		"NaN of 2 bytes":    {NaNs, 100, nil, Params{TypeSize: 2}, errs.ErrParam},
		"ragged NaN":        {NaNs, 101, nil, Params{TypeSize: 4}, errs.ErrParam},
		"ragged uninit":     {Uninit, 101, nil, Params{TypeSize: 4}, errs.ErrParam},
		"no value":          {Value, 100, nil, Params{TypeSize: 4}, errs.ErrParam},
		"ragged value":      {Value, 100, []byte("abc"), Params{TypeSize: 3}, errs.ErrParam},
		"value of no bytes": {Value, 0, []byte("abc"), Params{TypeSize: 3}, errs.ErrParam},
		"below zero":        {Zeros, -1, nil, Params{}, errs.ErrTooLarge},
		"too large":         {Zeros, MaxBytes + 1, nil, Params{}, errs.ErrTooLarge},
		"bad level":         {Zeros, 10, nil, Params{Level: 11}, errs.ErrParam},
	} {
		if b, err := EncodeSpecial(nil, c.s, c.n, c.value, c.p); !errors.Is(err, c.err) || len(b) > 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
	if b, err := EncodeSpecial(nil, Zeros, MaxBytes, nil, Params{}); err != nil {
		t.Errorf("the largest chunk: %v", err)
	} else if _, err := Decode(nil, b, nil); !errors.Is(err, errs.ErrTooLarge) {
		t.Errorf("2 GiB out of 32 bytes: %v", err)
	}
}

func TestEncodeZeros(t *testing.T) {
	for _, n := range []int{0, 1, 31, 32, 33, 256 << 10, 256<<10 + 1, 10<<20 + 7} {
		b, err := EncodeZeros(n, 1, 256<<10)
		if err != nil {
			t.Fatal(err)
		}
		h, err := ParseHeader(b, int64(len(b)))
		if err != nil || h.CBytes != len(b) || h.Special != Regular || len(b) > 40+n/10_000 && n > 31 {
			t.Errorf("%d zeros: %d bytes, %+v, %v", n, len(b), h, err)
		}
		if got, err := Decode(nil, b, nil); err != nil || !bytes.Equal(got, make([]byte, n)) {
			t.Errorf("%d zeros: %d bytes decoded, %v", n, len(got), err)
		}
	}
	b, err := EncodeZeros(MaxBytes, 8, 1)
	if err != nil {
		t.Fatal(err)
	}
	r, err := newReaderAt(bytes.NewReader(b), int64(len(b)), nil)
	if err != nil {
		t.Fatal(err)
	}
	end := []byte{1, 1, 1}
	if n, err := r.ReadAt(end, MaxBytes-3); n != 3 || !bytes.Equal(end, make([]byte, 3)) {
		t.Errorf("the end: %v %v", end, err)
	}
	if _, err := EncodeZeros(MaxBytes+1, 1, 0); !errors.Is(err, errs.ErrTooLarge) {
		t.Errorf("one byte too many: %v", err)
	}
}

// chunkOf builds a chunk of one unsplit block without filters from the given streams.
func chunkOf(n, streams int, body []byte) []byte {
	h := Header{Version: 5, VersionLZ: 1, Format: 1, TypeSize: streams, NBytes: n, BlockSize: n, CBytes: 36 + len(body)}
	if streams == 1 {
		h.notSplit = true
	}
	return append(append(h.append(nil), 36, 0, 0, 0), body...)
}

func TestRuns(t *testing.T) {
	for v := 1; v <= 255; v++ {
		length := binary.LittleEndian.AppendUint32(nil, uint32(-int32(v)))
		got, err := Decode(nil, chunkOf(50, 1, append(length, 1)), nil)
		if err != nil || !bytes.Equal(got, bytes.Repeat([]byte{byte(v)}, 50)) {
			t.Errorf("run of %d: %x, %v", v, got, err)
		}
		src := bytes.Repeat([]byte{byte(v)}, 50)
		if b, err := Encode(nil, src, Params{Codec: codec.LZ4, Filters: []Filter{}}, nil); err != nil || len(b) != 41 || int8(b[40]) != 1 {
			t.Errorf("run of %d: %x, %v", v, b, err)
		}
	}
	two := []byte{0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 1} // zeros, ones
	if got, err := Decode(nil, chunkOf(50, 2, two), nil); err != nil || !bytes.Equal(got, append(make([]byte, 25), bytes.Repeat([]byte{1}, 25)...)) {
		t.Errorf("two streams: %x, %v", got, err)
	}
	for name, body := range map[string][]byte{
		"token 0":      {0xff, 0xff, 0xff, 0xff, 0},
		"token 2":      {0xff, 0xff, 0xff, 0xff, 2},
		"no token":     {0xff, 0xff, 0xff, 0xff},
		"run of 256":   {0x00, 0xff, 0xff, 0xff, 1},
		"run of 2^31":  {0x00, 0x00, 0x00, 0x80, 1},
		"no length":    {0xff, 0xff, 0xff},
		"no stream":    {5, 0, 0, 0},
		"short stream": {5, 0, 0, 0, 1, 2, 3, 4},
		"empty":        {},
	} {
		got, err := Decode(nil, chunkOf(50, 1, body), nil)
		var e *Error
		if !errors.Is(err, errs.ErrCorrupt) || !errors.As(err, &e) || e.Block != 0 || len(got) != 0 {
			t.Errorf("%s: %x, %v", name, got, err)
		}
	}
	if got, err := Decode(nil, chunkOf(50, 1, []byte{0xff, 0xff, 0xff, 0xff, 3}), nil); err != nil || got[0] != 1 {
		t.Errorf("token 3: %x, %v", got, err)
	}
	if _, err := Decode(nil, chunkOf(51, 2, two), nil); !errors.Is(err, errs.ErrCorrupt) {
		t.Errorf("51 bytes in two streams: %v", err)
	}
	if _, err := Decode(nil, chunkOf(5, 16, two), nil); !errors.Is(err, errs.ErrCorrupt) {
		t.Errorf("5 bytes in 16 streams: %v", err)
	}
}

func TestBlockSizes(t *testing.T) {
	shuffle, bit, none := []Filter(nil), []Filter{BitShuffle}, []Filter{}
	for _, c := range []struct {
		p      Params
		nbytes int
		want   int
		split  bool
	}{
		// The worked examples of the format description.
		{Params{Codec: codec.BloscLZ, Level: 5, Filters: shuffle, TypeSize: 4, Split: SplitForward}, 10_000_000, 262144, true},
		{Params{Codec: codec.Zstd, Level: 5, Filters: shuffle, TypeSize: 8}, 10_000_000, 524288, true},
		{Params{Codec: codec.Zstd, Level: 9, Filters: shuffle, TypeSize: 8}, 100_000_000, 1048576, false},
		{Params{Codec: codec.Zlib, Level: 6, Filters: bit, TypeSize: 2}, 3_000_000, 524288, false},
		{Params{Codec: codec.LZ4HC, Level: 1, Filters: shuffle, TypeSize: 3}, 1_000_000, 32766, false},
		{Params{Codec: codec.LZ4, Level: 9, Filters: none, TypeSize: 16}, 40_000, 40_000, false},
		{Params{Codec: codec.LZ4, Level: 9, Filters: shuffle, TypeSize: 16}, 40_000_000, 4194304, true},
		// The edges of the rules.
		{Params{}, 10_000_000, 65536, true},
		{Params{TypeSize: 17}, 10_000_000, 262140, false},
		{Params{TypeSize: 16}, 10_000_000, 1 << 20, true},
		{Params{TypeSize: 16, Split: SplitAlways, Level: 9}, 100_000_000, 4 << 20, true},
		{Params{TypeSize: 255, Split: SplitAlways, Level: 1}, 100_000_000, 4 << 20 / 255 * 255, true},
		{Params{TypeSize: 16, Split: SplitNever}, 10_000_000, 262144, false},
		{Params{TypeSize: 8, Level: 6}, 10_000_000, 524288, false},
		{Params{TypeSize: 8, Codec: codec.LZ4, Level: 1}, 10_000_000, 262144, true},
		{Params{TypeSize: 8, Codec: codec.LZ4, Level: 3}, 10_000_000, 262144, true},
		{Params{TypeSize: 8, Codec: codec.LZ4, Level: 7}, 10_000_000, 1 << 20, true},
		{Params{TypeSize: 8, Codec: codec.LZ4, Level: 8}, 10_000_000, 2 << 20, true},
		{Params{TypeSize: 8, Codec: codec.LZ4, Level: 9}, 10_000_000, 4 << 20, true},
		{Params{TypeSize: 8, Codec: codec.LZ4, Filters: bit, Level: 1}, 10_000_000, 16384, false},
		{Params{TypeSize: 8, Codec: codec.LZ4, Filters: bit, Level: 2}, 10_000_000, 32768, false},
		{Params{TypeSize: 8, Codec: codec.LZ4, Filters: bit, Level: 3}, 10_000_000, 65536, false},
		{Params{TypeSize: 8, Codec: codec.LZ4, Filters: bit, Level: 4}, 10_000_000, 131072, false},
		{Params{TypeSize: 8, Codec: codec.LZ4, Filters: bit, Level: 6}, 10_000_000, 262144, false},
		{Params{TypeSize: 8, Codec: codec.LZ4, Filters: bit, Level: 9}, 10_000_000, 262144, false},
		{Params{TypeSize: 8, Codec: codec.LZ4, Level: codec.NoCompression}, 10_000_000, 8192, false},
		{Params{TypeSize: 8, Codec: codec.Zlib, Level: codec.NoCompression}, 10_000_000, 16384, false},
		{Params{TypeSize: 4}, 127, 124, false},
		{Params{TypeSize: 4}, 128, 128, true},
		{Params{TypeSize: 4}, 131, 128, true},
		{Params{TypeSize: 4}, 32767, 32764, true},
		{Params{TypeSize: 4}, 3, 1, false},
		{Params{TypeSize: 4}, 4, 4, false},
		{Params{TypeSize: 4}, 0, 1, false},
		{Params{TypeSize: 4, BlockSize: 1001}, 10_000, 1000, true},
		{Params{TypeSize: 4, BlockSize: 3}, 10_000, 4, false},
		{Params{TypeSize: 4, BlockSize: 20_000}, 10_003, 10_000, true},
		{Params{TypeSize: 300}, 10_000_000, 262144 / 300 * 300, true}, // the header's item size is 1
		{Params{TypeSize: 300, BlockSize: 70_000}, 10_000_000, 69_900, true},
		{Params{TypeSize: 1 << 20}, 10_000_000, 262144, true},
		{Params{TypeSize: 1 << 20, Filters: none}, 10_000_000, 262144, false},
	} {
		got, err := c.p.BlockSizeFor(c.nbytes)
		if err != nil || got != c.want {
			t.Errorf("%+v, %d bytes: block size %d, want %d; %v", c.p, c.nbytes, got, c.want, err)
		}
		l, err := c.p.Layout(c.nbytes)
		if split := !l.Stored && !l.notSplit; err != nil || split != c.split || l.BlockSize != c.want {
			t.Errorf("%+v, %d bytes: split %v, want %v; %v", c.p, c.nbytes, split, c.split, err)
		}
	}
}

// TestStoredWithDict has the chunks that C-Blosc2 writes but cannot read: stored, with the dictionary flag.
func TestStoredWithDict(t *testing.T) {
	src := noise(1000)
	b, err := Encode(nil, src, Params{}, nil)
	if err != nil || b[2]&flagStored == 0 {
		t.Fatalf("noise is not stored: %v", err)
	}
	b[31] |= b2flagDict
	if got, err := Decode(nil, b, nil); err != nil || !bytes.Equal(got, src) {
		t.Errorf("%v, or other data", err)
	}
	z, err := EncodeSpecial(nil, Zeros, 1000, nil, Params{})
	if err != nil {
		t.Fatal(err)
	}
	z[31] |= b2flagDict
	if got, err := Decode(nil, z, nil); err != nil || !bytes.Equal(got, make([]byte, 1000)) {
		t.Errorf("%v, or other data", err)
	}
}

func TestVersions(t *testing.T) {
	src := contents["ramp"](1000)
	b, err := Encode(nil, src, Params{Codec: codec.LZ4, TypeSize: 4, Filters: []Filter{Shuffle}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for v := range 256 {
		b[0] = byte(v)
		got, err := Decode(nil, b, nil)
		switch {
		case v >= 1 && v <= 6:
			if err != nil || !bytes.Equal(got, src) {
				t.Errorf("version %d: %v", v, err)
			}
		case v == 0 && !errors.Is(err, errs.ErrCorrupt) || v > 6 && !errors.Is(err, errors.ErrUnsupported):
			t.Errorf("version %d: %v", v, err)
		}
	}
	// Alphas of Blosc2 have no sixth filter; its byte is noise.
	b[21], b[29] = 0xab, 0xcd
	b[0] = versionAlpha
	if got, err := Decode(nil, b, nil); err != nil || !bytes.Equal(got, src) {
		t.Errorf("alpha with noise in slot 5: %v", err)
	}
	b[0] = 4
	if _, err := Decode(nil, b, nil); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("beta with filter %d: %v", b[21], err)
	}
}

// TestBlosc1Rules builds chunks as releases of Blosc1 before the "not split" flag wrote them.
func TestBlosc1Rules(t *testing.T) {
	stream := func(b []byte) []byte { return append(binary.LittleEndian.AppendUint32(nil, uint32(len(b))), b...) }
	build := func(ts, blockSize int, flags byte, data []byte, streams int) []byte {
		n := len(data)
		out := []byte{2, 1, flags, byte(ts)}
		out = binary.LittleEndian.AppendUint32(out, uint32(n))
		out = binary.LittleEndian.AppendUint32(out, uint32(blockSize))
		out = binary.LittleEndian.AppendUint32(out, 0)
		nblocks := blocksIn(n, blockSize)
		at := len(out)
		out = append(out, make([]byte, 4*nblocks)...)
		for k := range nblocks {
			binary.LittleEndian.PutUint32(out[at+4*k:], uint32(len(out)))
			block := data[k*blockSize : min(n, (k+1)*blockSize)]
			ns := streams
			if len(block) < blockSize {
				ns = 1
			}
			for j := range ns {
				ne := len(block) / ns
				out = append(out, stream(block[j*ne:(j+1)*ne])...)
			}
		}
		binary.LittleEndian.PutUint32(out[12:], uint32(len(out)))
		return out
	}
	src := noise(5000)
	for _, c := range []struct {
		ts, blockSize, streams int
		flags                  byte
	}{
		{4, 512, 4, 0x20}, // 128 items: split
		{4, 508, 1, 0x20}, // 127 items: not split though the flag is clear
		{4, 512, 1, 0x30}, // the flag is set
		{16, 2048, 16, 0x20},
		{17, 2176, 1, 0x20}, // items too large
		{1, 128, 1, 0x20},
	} {
		b := build(c.ts, c.blockSize, c.flags, src, c.streams)
		if got, err := Decode(nil, b, nil); err != nil || !bytes.Equal(got, src) {
			t.Errorf("%+v: %v", c, err)
		}
	}
	// Bitshuffle of blocks whose item count is not a multiple of eight: copied.
	want := contents["ramp"](4*127*3 + 4*96 + 2)
	var blocks []byte
	for k := 0; k < len(want); k += 508 {
		block := want[k:min(k+508, len(want))]
		if len(block)/4%8 == 0 {
			block = naiveForward(BitShuffle, block, nil, 4)
		}
		blocks = append(blocks, block...)
	}
	if bytes.Equal(blocks, want) {
		t.Fatal("no block is shuffled")
	}
	if got, err := Decode(nil, build(4, 508, 0x34, blocks, 1), nil); err != nil || !bytes.Equal(got, want) {
		t.Errorf("bitshuffle: %v, or other data", err)
	}
	// Delta of the 16-byte header: before shuffle.
	want = contents["ramp"](4096)
	blocks = nil
	for k := 0; k < len(want); k += 1024 {
		var ref []byte
		if k > 0 {
			ref = want[:1024]
		}
		blocks = append(blocks, naiveForward(Shuffle, naiveForward(Delta, want[k:k+1024], ref, 4), nil, 4)...)
	}
	if got, err := Decode(nil, build(4, 1024, 0x39, blocks, 1), nil); err != nil || !bytes.Equal(got, want) {
		t.Errorf("delta: %v, or other data", err)
	}
}

func TestStrings(t *testing.T) {
	if s := Zeros.String() + Special(9).String() + Delta.String() + Filter(99).String(); s != "zerosspecial value 9deltafilter 99" {
		t.Error(s)
	}
	for id := range 256 {
		if Filter(id).String() == "" {
			t.Errorf("filter %d has no name", id)
		}
	}
}
