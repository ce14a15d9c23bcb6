package coder

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"
	"time"

	"github.com/goblosc/blosc2/codec"
	"github.com/goblosc/blosc2/internal/errs"
	"github.com/goblosc/blosc2/internal/race"
)

var dictCodecs = []codec.ID{codec.Zstd, codec.LZ4, codec.LZ4HC}

// records returns n bytes of short texts that have much in common.
func records(n int) []byte {
	rnd := rand.New(rand.NewPCG(9, uint64(n)))
	var b []byte
	for len(b) < n {
		b = fmt.Appendf(b, `{"station":"%05d","temperature":%.1f,"humidity":%d,"wind":{"speed":%.1f,"direction":%d}}`+"\n",
			rnd.IntN(100_000), rnd.NormFloat64()*10+10, rnd.IntN(100), rnd.ExpFloat64()*5, rnd.IntN(360))
	}
	return b[:n]
}

// dictOf returns the dictionary of a chunk, or nil.
func dictOf(t testing.TB, b []byte) []byte {
	t.Helper()
	h, err := ParseHeader(b, int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	if b[31]&b2flagDict == 0 {
		return nil
	}
	at := HeaderSize + 4*h.NumBlocks
	return b[at+4 : at+4+int(binary.LittleEndian.Uint32(b[at:]))]
}

func TestDict(t *testing.T) {
	t.Parallel()
	long := 30_001
	if brief() {
		long = 12_001
	}
	for _, id := range dictCodecs {
		for name, filters := range pipelines {
			for _, ts := range []int{1, 4} {
				for i, n := range []int{5120, long} {
					if brief() && i != ts/4 {
						continue
					}
					p := Params{Codec: id, TypeSize: ts, BlockSize: 2000, Filters: filters, Dict: true}
					what := fmt.Sprintf("%v, %s, items of %d, %d bytes", id, name, ts, n)
					src := records(n)
					b, err := Encode(nil, src, p, &Options{Concurrency: 1})
					if err != nil {
						t.Fatalf("%s: %v", what, err)
					}
					checkDict(t, what, p, src, b)
				}
			}
		}
	}
}

// checkDict checks the chunk that one worker made of src.
func checkDict(t *testing.T, what string, p Params, src, b []byte) {
	t.Helper()
	n := len(dictOf(t, b))
	none := n == 0 && p.Codec == codec.Zstd && len(src) < 6000 // the samples must have something in common
	if b[2]&flagStored == 0 && !none && (n < 256 || n > min(32768, len(src)/20)) {
		t.Errorf("%s: dictionary of %d bytes", what, n)
	}
	pool := NewPool(&Options{Concurrency: 3})
	if c, err := pool.Encode(nil, src, p); err != nil || !bytes.Equal(b, c) {
		t.Errorf("%s: %v, or other bytes with three workers", what, err)
	}
	if got, err := pool.Decode(nil, b); err != nil || !bytes.Equal(got, src) {
		t.Errorf("%s: %v, or other data", what, err)
	}
	l, err := p.Layout(len(src))
	if err != nil {
		t.Fatal(err)
	}
	w := pool.Get()
	var buf []byte
	l, err = w.Train(l, func(k int) ([]byte, error) {
		buf = append(buf[:0], src[k*l.BlockSize:k*l.BlockSize+l.BlockLen(k)]...)
		return buf, nil
	})
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	if !l.Stored {
		assembledWith(t, l, src, b)
	}
	var r Reader
	if err := w.OpenAt(&r, bytes.NewReader(b), 0, int64(len(b)), 0, 0.1); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	readAll(t, what, w, &r, src)
}

func TestDictOfLZ4(t *testing.T) {
	src := records(100_000)
	// 50 blocks of 4 streams: 200 samples of 31 bytes, but a twentieth of the chunk is less.
	p := Params{Codec: codec.LZ4, TypeSize: 4, BlockSize: 2000, Dict: true}
	b, err := Encode(nil, src, p, nil)
	if err != nil {
		t.Fatal(err)
	}
	var want []byte
	for k := range 4 {
		want = append(want, naiveForward(Shuffle, src[2000*k:2000*k+2000], nil, 4)...)
	}
	if got := dictOf(t, b); !bytes.Equal(got, want[:5000]) {
		t.Errorf("dictionary of %d bytes, want the first 5000 of the filtered blocks", len(got))
	}
}

// TestDictOfDelta checks that samples are filtered like the blocks.
func TestDictOfDelta(t *testing.T) {
	src := records(100_000)
	b, err := Encode(nil, src, Params{Codec: codec.LZ4, TypeSize: 4, BlockSize: 2000, Filters: []Filter{Delta}, Dict: true}, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := naiveForward(Delta, src[:2000], nil, 4)
	for k := 1; k < 3; k++ {
		want = append(want, naiveForward(Delta, src[2000*k:2000*k+2000], src[:2000], 4)...)
	}
	if got := dictOf(t, b); !bytes.Equal(got, want[:5000]) {
		t.Errorf("dictionary of %d bytes, want the first 5000 of the filtered blocks", len(got))
	}
}

// TestDictReopen decodes chunks with different dictionaries through one worker and one reader.
func TestDictReopen(t *testing.T) {
	w := NewPool(nil).Get()
	var r Reader
	for i := range 4 {
		src := records(20_000 + i)
		b, err := Encode(nil, src, Params{BlockSize: 1000, Filters: []Filter{}, Dict: true}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Open(&r, b); err != nil {
			t.Fatal(err)
		}
		readAll(t, "again", w, &r, src)
	}
}

func TestDictOfZstd(t *testing.T) {
	for _, blockSize := range []int{100_000, 5000} {
		src := records(100_000)
		b, err := Encode(nil, src, Params{BlockSize: blockSize, Filters: []Filter{}, Dict: true}, nil)
		if err != nil {
			t.Fatal(err)
		}
		n := max(8, 100_000/blockSize)
		var samples [][]byte
		for i := range n {
			samples = append(samples, src[i*(100_000/n/16):(i+1)*(100_000/n/16)])
		}
		p := Params{Codec: codec.Zstd}
		want := p.trainDict(samples, 5000)
		if len(want) < 256 {
			t.Fatalf("%d bytes", len(want))
		}
		if got := dictOf(t, b); !bytes.Equal(got, want) {
			t.Errorf("blocks of %d: dictionary of %d bytes, want another of %d", blockSize, len(got), len(want))
		}
	}
}

func TestDictGains(t *testing.T) {
	t.Parallel()
	src := records(300_000)
	for _, id := range dictCodecs {
		p := Params{Codec: id, BlockSize: 1000, Filters: []Filter{}}
		plain, err := Encode(nil, src, p, nil)
		if err != nil {
			t.Fatal(err)
		}
		p.Dict = true
		b, err := Encode(nil, src, p, nil)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%v: %d bytes, %d without dictionary", id, len(b), len(plain))
		if float64(len(b)) > 0.9*float64(len(plain)) {
			t.Errorf("%v: %d bytes, %d without dictionary", id, len(b), len(plain))
		}
	}
}

// TestNoDict has chunks that get no dictionary although the parameters ask for one.
func TestNoDict(t *testing.T) {
	many := Params{Codec: codec.LZ4, TypeSize: 255, BlockSize: 255, Split: SplitAlways}
	for name, c := range map[string]struct {
		src   []byte
		p     Params
		wants bool // NeedsDict reports true
	}{
		"short":           {records(5119), Params{BlockSize: 500}, false},
		"blosclz":         {records(50_000), Params{Codec: codec.BloscLZ, BlockSize: 500}, false},
		"zlib":            {records(50_000), Params{Codec: codec.Zlib, BlockSize: 500}, false},
		"no compression":  {records(50_000), Params{Level: codec.NoCompression}, false},
		"noise":           {noise(50_000), Params{Codec: codec.LZ4, BlockSize: 500}, true},
		"zeros":           {make([]byte, 50_000), Params{Codec: codec.LZ4, BlockSize: 500}, true},
		"too many blocks": {records(6000), many, true},
	} {
		plain, err := Encode(nil, c.src, c.p, nil)
		if err != nil {
			t.Fatal(err)
		}
		c.p.Dict = true
		l, err := c.p.Layout(len(c.src))
		if err != nil || l.NeedsDict != c.wants {
			t.Errorf("%s: NeedsDict %v, %v", name, l.NeedsDict, err)
		}
		for _, workers := range []int{1, 2} {
			b, err := Encode(nil, c.src, c.p, &Options{Concurrency: workers})
			if err != nil || !bytes.Equal(b, plain) {
				t.Errorf("%s: %v, or other bytes than without dictionary", name, err)
			}
		}
	}
}

func TestVLDict(t *testing.T) {
	t.Parallel()
	for _, id := range dictCodecs {
		for name, filters := range pipelines {
			src := records(10_000)
			blocks := cut(src, 7, 300)
			p := Params{Codec: id, TypeSize: 4, Filters: filters, Dict: true}
			b, err := NewPool(nil).EncodeVL(t.Context(), nil, blocks, p, -1)
			if err != nil {
				t.Fatal(err)
			}
			if dictOf(t, b) == nil && (name == "none" || name == "default") {
				t.Errorf("%v, %s: no dictionary", id, name)
			}
			if c, err := NewPool(&Options{Concurrency: 1}).EncodeVL(t.Context(), nil, blocks, p, -1); err != nil || !bytes.Equal(b, c) {
				t.Errorf("%v, %s: %v, or other bytes with one worker", id, name, err)
			}
			got, err := NewPool(nil).DecodeVL(b)
			if err != nil || len(got) != len(blocks) || !bytes.Equal(bytes.Join(got, nil), src) {
				t.Errorf("%v, %s: %v, or other data", id, name, err)
			}
			if b, err = NewPool(nil).EncodeVL(t.Context(), nil, [][]byte{src, src, src, src, src, src, src}, p, -1); err != nil || dictOf(t, b) != nil {
				t.Errorf("%v, %s: a dictionary for seven blocks; %v", id, name, err)
			}
		}
	}
}

func TestHostileDict(t *testing.T) {
	rounds := 1500
	if brief() {
		rounds = 300
	}
	rnd := rand.New(rand.NewPCG(5, 5))
	pool := NewPool(hostileOptions)
	for _, n := range []int{-1, 0, 32769, 1 << 20} { // sizes that the format does not allow
		body := binary.LittleEndian.AppendUint32(nil, uint32(n))
		body = append(body, make([]byte, 1<<16)...)
		b := chunkOf(50, 1, body)
		b[31] |= b2flagDict
		binary.LittleEndian.PutUint32(b[32:], uint32(len(b)-100)) // a stream of zeros
		if _, err := Decode(nil, b, nil); !errors.Is(err, errs.ErrCorrupt) {
			t.Errorf("dictionary of %d bytes: %v", n, err)
		}
		binary.LittleEndian.PutUint32(b[36:], 32768)
		if got, err := Decode(nil, b, nil); err != nil || !bytes.Equal(got, make([]byte, 50)) {
			t.Errorf("dictionary of 32768 bytes: %v", err)
		}
	}
	for _, id := range dictCodecs {
		regular, err := Encode(nil, records(8000), Params{Codec: id, BlockSize: 1000, Filters: []Filter{}, Dict: true}, nil)
		if err != nil {
			t.Fatal(err)
		}
		vl, err := NewPool(nil).EncodeVL(t.Context(), nil, cut(records(8000), 2, 700), Params{Codec: id, Filters: []Filter{}, Dict: true}, -1)
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range [][]byte{regular, vl} {
			name := id.String()
			head := HeaderSize + 4*8 + 4 + len(dictOf(t, b))
			bad := bytes.Clone(b)
			for i := range rounds {
				for range 1 + rnd.IntN(3) {
					bad[rnd.IntN(head)] = byte(rnd.Uint64())
				}
				attack(t, pool, name, bad)
				copy(bad, b)
				if i%5 == 0 {
					attack(t, pool, name+", cut off", b[:rnd.IntN(len(b))])
				}
			}
			at := HeaderSize + 4*8
			for _, n := range []uint32{0, 1, 8, 255, 32768, 32769, 1 << 31, 1<<32 - 1, uint32(len(b) - at - 4), uint32(len(b) - at - 3)} {
				binary.LittleEndian.PutUint32(bad[at:], n)
				attack(t, pool, name+", other dictionary size", bad)
			}
		}
	}
}

// TestDictMagic encodes records whose dictionary would begin as one with tables does.
func TestDictMagic(t *testing.T) {
	record := make([]byte, 78)
	for i := range record {
		record[i] = byte(i*i*7 + i*31)
	}
	copy(record, "\x37\xa4\x30\xec")
	src := bytes.Repeat(record, 200)[:10000]
	c, err := Encode(nil, src, Params{Codec: codec.Zstd, TypeSize: 1, Dict: true}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := Decode(nil, c, nil); err != nil || !bytes.Equal(got, src) {
		t.Errorf("%v, or other data", err)
	}
}

// TestDamagedDict has two chunks open at once with one worker. The dictionary of one is damaged.
func TestDamagedDict(t *testing.T) {
	src := records(20_000)
	c, err := Encode(nil, src, Params{Codec: codec.Zstd, BlockSize: 2000, Filters: []Filter{}, Dict: true}, nil)
	if err != nil {
		t.Fatal(err)
	}
	damaged := bytes.Clone(c)
	clear(dictOf(t, damaged)[4:40])
	var a, b Reader
	w := NewPool(&Options{Concurrency: 1}).Get()
	block := make([]byte, 2000)
	if err := errors.Join(w.Open(&a, c), w.DecodeBlock(block, &a, 3), w.Open(&b, damaged)); err != nil {
		t.Fatal(err)
	}
	if err := w.DecodeBlock(block, &b, 3); !errors.Is(err, errs.ErrCorrupt) {
		t.Errorf("a damaged dictionary: %v", err)
	}
	if err := w.DecodeBlock(block, &a, 3); err != nil || !bytes.Equal(block, src[6000:8000]) {
		t.Errorf("after a damaged dictionary: %v, or other data", err)
	}
}

// TestDictRetained decodes chunks with a dictionary. Afterwards their memory is free, though workers keep their
// decoders.
func TestDictRetained(t *testing.T) {
	src := records(60_000)
	for _, id := range dictCodecs {
		c, err := Encode(nil, src, Params{Codec: id, BlockSize: 2000, Filters: []Filter{}, Dict: true}, nil)
		if err != nil || dictOf(t, c) == nil {
			t.Fatalf("%v: no dictionary: %v", id, err)
		}
		for _, n := range []int{1, 2} {
			pool := NewPool(&Options{Concurrency: n})
			free := make(chan struct{})
			func() {
				b := bytes.Clone(c)
				runtime.AddCleanup(&b[0], func(ch chan struct{}) { close(ch) }, free)
				if _, err := pool.Decode(nil, b); err != nil {
					t.Fatal(err)
				}
			}()
			workers := pool.getWorkers(t.Context(), n, -1) // a pool drops its workers if they are not in use
			for try := 0; ; try++ {
				runtime.GC()
				select {
				case <-free:
				case <-time.After(10 * time.Millisecond):
					if try < 20 {
						continue
					}
					t.Errorf("%v, %d goroutines: the chunk is not free", id, n)
				}
				break
			}
			pool.putWorkers(workers)
		}
	}
}

// TestDictDecoders decodes blocks of chunks with different dictionaries, without one, and with a damaged one, in turns
// with one worker. That allocates nothing.
func TestDictDecoders(t *testing.T) {
	src := records(60_000)
	for _, id := range dictCodecs {
		o := &Options{Concurrency: 1}
		var chunks [][]byte
		for i, plain := range [][]byte{src[:20_000], src[20_000:40_000], src[40_000:]} {
			c, err := Encode(nil, plain, Params{Codec: id, BlockSize: 2000, Filters: []Filter{}, Dict: i < 2}, o)
			if err != nil {
				t.Fatal(err)
			}
			if (dictOf(t, c) != nil) != (i < 2) {
				t.Fatalf("%v: chunk %d: dictionary of %d bytes", id, i, len(dictOf(t, c)))
			}
			chunks = append(chunks, c)
		}
		damaged := bytes.Clone(chunks[0])
		clear(dictOf(t, damaged)[4:40])
		w := NewPool(o).Get()
		var r Reader
		block := make([]byte, 2000)
		decode := func(i int) {
			if err := w.OpenAt(&r, bytes.NewReader(chunks[i]), 0, int64(len(chunks[i])), 0, 0.1); err != nil {
				t.Fatal(err)
			}
			if err := w.DecodeBlock(block, &r, 3); err != nil || !bytes.Equal(block, src[i*20_000+3*2000:][:2000]) {
				t.Fatalf("%v: chunk %d is wrong: %v", id, i, err)
			}
		}
		for _, i := range []int{0, 1, 2, 1, 0, 2, 0, 1} {
			decode(i)
			if err := w.Open(&r, damaged); err != nil {
				t.Fatal(err)
			}
			if err := w.DecodeBlock(block, &r, 3); id == codec.Zstd && !errors.Is(err, errs.ErrCorrupt) {
				t.Errorf("%v: a damaged dictionary: %v", id, err)
			}
			decode(i)
		}
		if race.Enabled {
			continue
		}
		files := [2]*bytes.Reader{bytes.NewReader(chunks[0]), bytes.NewReader(chunks[1])}
		n := testing.AllocsPerRun(20, func() {
			for i, f := range files {
				err := errors.Join(w.OpenAt(&r, f, 0, int64(len(chunks[i])), 0, 0.1), w.DecodeBlock(block, &r, 3))
				if err != nil {
					t.Fatal(err)
				}
			}
		})
		if n != 0 {
			t.Errorf("%v: %v allocations", id, n)
		}
	}
}
