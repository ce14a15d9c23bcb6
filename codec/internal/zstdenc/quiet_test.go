package zstdenc

import (
	"bytes"
	"math/rand"
	"testing"

	"github.com/goblosc/blosc2/codec/internal/trial"
)

// noise returns n random bytes.
func noise(n int, seed int64) []byte {
	b := make([]byte, n)
	rand.New(rand.NewSource(seed)).Read(b)
	return b
}

// TestQuiet checks which pieces are quiet: random ones that nothing repeats.
func TestQuiet(t *testing.T) {
	random := noise(12*pieceSize+100, 1)
	text := trial.Input(2, 4*pieceSize, 1)
	short := bytes.Clone(random)
	for i := range 2 * maxShort { // the ninth piece has short matches in the third; some may not be found
		copy(short[8*pieceSize+200*i:], short[2*pieceSize+100*i:][:4])
	}
	one := bytes.Clone(random)
	copy(one[8*pieceSize+200:], one[2*pieceSize+100:][:longEnough])
	flat := make([]byte, 8*pieceSize) // all bytes are equally frequent, and every match is long
	for i := range flat {
		flat[i] = byte(i)
	}
	for _, v := range []struct {
		name string
		src  []byte
		want string
	}{
		{"nothing", nil, ""},
		{"small", random[:leastQuiet-1], ""},
		{"random", random, "qqqqqqqqqqqq"},
		{"a sequence of numbers", flat, ""}, // found without the large table
		{"text", text, ""},
		{"random and text", append(bytes.Clone(random), text...), "qqqqqqqqqqqq...."},
		{"repeated", append(bytes.Clone(random), random[3*pieceSize:][:2*pieceSize]...), "qqq..qqqqqqq.."},
		{"short matches", short, "qq.qqqqq.qqq"},
		{"one match", one, "qq.qqqqq.qqq"},
	} {
		e := NewEncoder(9)
		e.Encode(make([]byte, room(1<<20)), noise(1<<20, 2)) // fills the tables
		e.begin(v.src)
		got := ""
		for _, n := range e.quiet.pieces {
			if n < maxShort {
				got += "q"
			} else {
				got += "."
			}
		}
		if got != v.want {
			t.Errorf("%s: %s, want %s", v.name, got, v.want)
		}
		if all := e.quiet.all(0, len(v.src)); all != (v.name == "random" || v.name == "nothing") {
			t.Errorf("%s: all %t", v.name, all)
		}
	}
}

// TestRepeatedNoise checks that the optimal parse finds repeated pieces of random bytes, near and far.
func TestRepeatedNoise(t *testing.T) {
	random := noise(300<<10, 3)
	src := append(bytes.Clone(random), random...)
	src = append(append(src, noise(30<<10, 4)...), random[1000:][:10000]...)
	d := newDecoders(t)
	dst := make([]byte, room(len(src)))
	k := NewEncoder(9).Encode(dst, src)
	d.check(t, dst[:k], src)
	if k > 330<<10+200 {
		t.Errorf("%d bytes, want at most %d", k, 330<<10+200)
	}
}

// TestRepeatedNumbers checks that the search in rows finds numbers of 8 bytes again that are in the midst of noise,
// where it skips positions: at least half of them.
func TestRepeatedNumbers(t *testing.T) {
	const blocks, piece = 9, 4096
	src := noise(blocks*maxBlock, 3)
	for i := 1; i < blocks; i++ {
		copy(src[i*maxBlock+100_000+8*i:], src[50_000+i*piece:][:piece])
	}
	dst := make([]byte, room(len(src)))
	for _, level := range []int{7, 8} {
		if k := NewEncoder(level).Encode(dst, src); k > len(src)-blocks/2*piece {
			t.Errorf("level %d: %d bytes of %d", level, k, len(src))
		}
	}
}

// TestBlockAfterNoise checks that the search in rows keeps long steps only for random bytes, and short ones where
// blocks are split. The same bytes alone do not become much smaller.
func TestBlockAfterNoise(t *testing.T) {
	for level, step := range map[int]int{5: keptRandom, 6: keptSplit} {
		e := NewEncoder(level)
		for kind, v := range trial.Kinds() {
			src := append(noise(2*maxBlock, 5), trial.Input(kind, maxBlock, 6)...)
			dst := make([]byte, room(len(src)))
			want := 2*maxBlock + e.Encode(dst, src[2*maxBlock:])
			if n := e.Encode(dst, src); n > want+want/200 {
				t.Errorf("level %d, %s: %d bytes, alone %d", level, v.Name, n, want)
			}
			if steps := 2*maxBlock-step<<8 == e.rows.last; v.Name == "noise" && !steps {
				t.Errorf("level %d: the steps grow from %d", level, e.rows.last)
			}
		}
	}
}

// TestSplitAfterNoise checks that blocks of random bytes after others are not examined, and all other blocks are.
func TestSplitAfterNoise(t *testing.T) {
	for _, level := range []int{6, 7, 8} {
		e := NewEncoder(level)
		for kind, v := range trial.Kinds() {
			src := append(noise(2*maxBlock, 5), trial.Input(kind, maxBlock, 6)...)
			e.begin(src)
			dst := make([]byte, room(len(src)))
			for start := 0; start < len(src); start += maxBlock {
				e.splitter = nil
				e.blockSize(start)
				random := start == maxBlock || start > 0 && v.Name == "noise"
				if examined := e.splitter != nil; examined == random {
					t.Errorf("level %d, %s: block at %d: examined %t", level, v.Name, start, examined)
				}
				e.block(dst, start, start+maxBlock)
			}
		}
	}
}

// TestShort checks where a sample chooses matches of 4 bytes: in bytes that are nearly equally frequent, and repeat
// numbers that were there before.
func TestShort(t *testing.T) {
	random := noise(sampleSize, 7)
	again := bytes.Clone(random) // every 40 bytes a match of 4 bytes
	for at := sampleSize / 2; at+40 <= sampleSize; at += 40 {
		copy(again[at:], again[at-sampleSize/2:][:4])
	}
	few := func(b []byte, n byte) []byte { // only n bytes occur
		b = bytes.Clone(b)
		for i := range b {
			b[i] %= n
		}
		return b
	}
	long := few(again, 200)
	for at := sampleSize / 2; at+40 <= sampleSize; at += 40 {
		copy(long[at:], long[at-sampleSize/2:][:8])
	}
	for _, v := range []struct {
		name string
		src  []byte
		want bool
	}{
		{"nothing", nil, false},
		{"random bytes", random, false},
		{"random bytes with matches", again, false}, // the histogram is flat
		{"200 bytes", few(random, 200), false},
		{"200 bytes with matches", few(again, 200), true},
		{"200 bytes with longer matches", long, false},
		{"200 bytes with matches, too few", few(again, 200)[:sampleSize/2-1], false},
		{"16 bytes with matches", few(again, 16), false}, // 4 of them have 16 bits
		{"zeros", make([]byte, sampleSize), false},
	} {
		e := NewEncoder(5)
		if got := e.quiet.short(v.src); got != v.want {
			t.Errorf("%s: %t, want %t", v.name, got, v.want)
		}
	}
}
