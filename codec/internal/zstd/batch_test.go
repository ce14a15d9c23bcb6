package zstd

import (
	"bytes"
	"math/rand"
	"sync"
	"testing"

	"github.com/goblosc/blosc2/codec/internal/trial"
	"github.com/klauspost/compress/zstd"
)

// sample is a frame and its content.
type sample struct{ frame, content []byte }

// partner returns a frame that is decoded together with other frames. Its literals are in four streams, for which
// decoding pairs of literals is not faster.
var partner = sync.OnceValue(func() sample {
	r := rand.New(rand.NewSource(1))
	content := make([]byte, 1500)
	for i := range content {
		content[i] = byte(r.NormFloat64() * 20)
	}
	e, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithAllLitEntropyCompression(true))
	if err != nil {
		panic(err)
	}
	return sample{e.EncodeAll(content, nil), content}
})

// checkBatch decodes src in a batch with valid frames. It wants the same content as from decoding src alone, or an
// error if that failed.
func checkBatch(t testing.TB, d *Decoder, src, want []byte, alone error) {
	t.Helper()
	p := partner()
	contents := [][]byte{p.content, want, want, p.content}
	var dst [4][]byte
	var n [4]int
	var intact [4]func() bool
	for i, c := range contents {
		dst[i], intact[i] = guarded(len(c))
		n[i] = len(c)
	}
	err := d.DecodeBatch(dst[:], [][]byte{p.frame, src, src, p.frame}, n[:])
	if (err == nil) != (alone == nil) {
		t.Fatalf("%.200x to %d: alone %v, in a batch %v", src, len(want), alone, err)
	}
	for i, b := range dst {
		if !intact[i]() {
			t.Fatalf("%.200x to %d: frame %d of a batch wrote outside", src, len(want), i)
		}
		if err == nil && !bytes.Equal(b, contents[i]) {
			t.Fatalf("%.200x to %d: other bytes in frame %d of a batch", src, len(want), i)
		}
	}
}

// TestBatch decodes batches of frames of all kinds, some whole and some in part. Some of the frames are invalid.
func TestBatch(t *testing.T) {
	rounds := 2000
	if testing.Short() {
		rounds = 100
	}
	forEachKernel(t, func(t *testing.T) {
		valid := 0
		for seed := range rounds {
			r := rand.New(rand.NewSource(int64(seed)))
			d, alone := newDecoder(t, nil), newDecoder(t, nil)
			d.minPairs = []int{0, 4096, 1 << 20}[seed%3]
			var dst, src, want [][]byte
			var n []int
			fails := false
			for range r.Intn(7) {
				s := randomSample(t, r)
				if r.Intn(20) == 0 {
					s.frame = mutate(r, s.frame)
				}
				b := make([]byte, len(s.content))
				wanted := len(b)
				if wanted > 1 && r.Intn(3) == 0 {
					wanted = 1 + r.Intn(wanted-1)
				}
				var err error
				if wanted < len(b) {
					err = alone.DecodePrefix(b, s.frame, wanted)
				} else {
					err = alone.Decode(b, s.frame)
				}
				fails = fails || err != nil
				dst, src, n = append(dst, make([]byte, len(b))), append(src, s.frame), append(n, wanted)
				want = append(want, b[:wanted])
			}
			err := d.DecodeBatch(dst, src, n)
			if (err != nil) != fails {
				t.Fatalf("seed %d: %v, one by one fails %v", seed, err, fails)
			}
			for i, w := range want {
				if err == nil && !bytes.Equal(dst[i][:len(w)], w) {
					t.Fatalf("seed %d: other bytes in frame %d", seed, i)
				}
			}
			if err == nil {
				valid++
			}
			if b := d.batch; b.dst != nil || b.src != nil || b.n != nil || b.waiting != nil || b.err != nil ||
				b.second != nil && (b.second.streams.src != nil || b.second.batch.waiting != nil) {
				t.Fatalf("seed %d: the decoder retains memory of its caller", seed)
			}
		}
		if valid < rounds/2 || valid == rounds {
			t.Errorf("%d of %d batches are valid", valid, rounds)
		}
	})
}

// randomSample returns a frame with streams of many literals, or any other frame.
func randomSample(t *testing.T, r *rand.Rand) sample {
	switch r.Intn(4) {
	case 0:
		frame, content := randomFrame(r, 1<<(1+r.Intn(16)), nil)
		return sample{frame, content}
	case 1:
		content := trial.Input(r.Intn(len(trial.Kinds())), r.Intn(20000), r.Int63())
		return sample{encode(t, levels[r.Intn(4)], form{r.Intn(2) == 0, r.Intn(2) == 0}, content), content}
	}
	content := make([]byte, 300+r.Intn(20000))
	spread := 1 + 40*r.Float64()
	for i := range content {
		content[i] = byte(r.NormFloat64() * spread)
	}
	return sample{encode(t, levels[r.Intn(4)], form{}, content), content}
}

// TestBoth decodes the four streams of two frames in an interleaved loop. It wants the same symbols as from decoding
// one stream after another, and nearly all of them.
func TestBoth(t *testing.T) {
	if !BatchIsFaster() {
		t.Skip("four streams at a time are as fast here")
	}
	r := rand.New(rand.NewSource(1))
	rounds := 300
	if testing.Short() {
		rounds = 60
	}
	for range rounds {
		var both [2]streams4
		var tables [2]huffmanTable
		var want [2][]byte
		for i := range both {
			s := sample{}
			for s.frame == nil {
				s = randomSample(t, r)
				if d := newDecoder(t, nil); !fourStreams(d, s) {
					s = sample{}
				}
			}
			d := newDecoder(t, nil)
			both[i], want[i] = literalsOf(t, d, s)
			tables[i] = d.ownHuffman
			both[i].table = &tables[i]
		}
		n := min(both[0].ends[0], both[1].ends[0])
		both[0].runBoth(&both[1])
		least := n
		for i := range both {
			s := &both[i]
			for j := range s.outs {
				start := j * ((len(s.dst) + 3) / 4)
				done := s.outs[j] - start
				least = min(least, done)
				if !bytes.Equal(s.dst[start:s.outs[j]], want[i][start:s.outs[j]]) {
					t.Fatalf("stream %d: other symbols", j)
				}
			}
			if err := s.finish(); err != nil || !bytes.Equal(s.dst, want[i]) {
				t.Fatalf("finished: %v, or others", err)
			}
		}
		if least < n-60 && least < n*3/4 {
			t.Fatalf("%d of %d symbols in the interleaved loop", least, n)
		}
	}
}

// fourStreams reports whether the first block of a frame has literals in four streams.
func fourStreams(d *Decoder, s sample) bool {
	_, at, err := d.readHeader(s.frame[4:])
	if err != nil || len(s.frame) < at+8 || s.frame[at+4]>>1&3 != 2 {
		return false
	}
	h, ok := readLiteralsHeader(s.frame[at+7:])
	return ok && h.kind == huffmanLiterals && h.streams == 4 && h.stored <= h.size
}

// literalsOf returns the streams of the literals in the first block of a frame, and the literals.
func literalsOf(t *testing.T, d *Decoder, s sample) (streams4, []byte) {
	_, at, err := d.readHeader(s.frame[4:])
	if err != nil {
		t.Fatal(err)
	}
	at += 7
	h, _ := readLiteralsHeader(s.frame[at:])
	at += h.length
	end := at + h.stored
	start, err := d.readHuffman(&d.ownHuffman, s.frame, at, end)
	if err != nil {
		t.Fatal(err)
	}
	var one, other streams4
	want := make([]byte, h.size)
	if !one.init(want, s.frame, start, end, h.size, &d.ownHuffman) {
		t.Fatal("no streams")
	}
	if err := one.finish(); err != nil { // with only the loop for the end of a stream
		t.Fatal(err)
	}
	other.init(make([]byte, h.size), s.frame, start, end, h.size, &d.ownHuffman)
	return other, want
}

// TestBatchAlloc checks that only the first batch allocates memory.
func TestBatchAlloc(t *testing.T) {
	p := partner()
	d := newDecoder(t, nil)
	dst, src, n := [][]byte{make([]byte, len(p.content)), make([]byte, len(p.content))}, [][]byte{p.frame, p.frame}, []int{len(p.content), len(p.content)}
	if err := d.DecodeBatch(dst, src, n); err != nil {
		t.Fatal(err)
	}
	if d.batch.second == nil {
		t.Fatal("the frames have no streams to interleave")
	}
	if got := testing.AllocsPerRun(100, func() {
		if err := d.DecodeBatch(dst, src, n); err != nil {
			t.Fatal(err)
		}
	}); got != 0 {
		t.Errorf("%v allocations", got)
	}
}
