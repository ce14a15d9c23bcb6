package frametest

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/codec"
	"github.com/goblosc/blosc2/frame"
)

// victim is an intact frame that a test damages: the bytes of its files by name ("" for a contiguous frame), and the
// offset of each chunk.
type victim struct {
	what   string
	sums   bool
	fixed  bool // its chunks have one size
	files  map[string][]byte
	chunks [][]byte // decoded
	in     []string // the file of each chunk, "-" when the index alone has it
	from   []int64
	to     []int64
}

// victims makes frames of all kinds. Some have chunks of older states in dead space.
func victims(t testing.TB) []victim {
	var all []victim
	for _, sums := range []bool{false, true} {
		for _, sparse := range []bool{false, true} {
			for _, kind := range []string{"int32", "bytes", "int64", "variable", "blocks", "specials"} {
				dir := filepath.Join(t.TempDir(), "x")
				o := &frame.CreateOptions{Sparse: sparse, NoSync: true, Checksums: sums, Concurrency: 1, Params: chunk.Params{TypeSize: 4, BlockSize: 80}}
				size := 480
				switch kind {
				case "bytes":
					o.Params = chunk.Params{TypeSize: 1, Codec: codec.FromCode(1), BlockSize: 64}
				case "int64":
					o.Params = chunk.Params{TypeSize: 8, Level: codec.NoCompression}
				case "blocks":
					o.Params = chunk.Params{}
				}
				if kind != "variable" && kind != "blocks" {
					o.ChunkSize = size
				}
				f, err := frame.Create(t.Context(), dir, o)
				must(t, err)
				for i := range 9 {
					p := bytes.Repeat(small(i), 3)[:size]
					for k := range p {
						if i%3 == 1 {
							p[k] = byte(i*k*k*7 + k*k*k>>4*91) // hardly to be compressed
						}
					}
					switch kind {
					case "variable":
						p = p[:96*(1+i*7%5)]
					case "specials":
						if i%4 == 2 {
							p = make([]byte, size)
						}
					}
					switch {
					case kind == "blocks":
						must(t, change(f, func(b *frame.Batch) error { return b.AppendBlocks(t.Context(), [][]byte{p[:30+i], p[50:]}) }))
					case i < 7:
						must(t, f.Append(t.Context(), p))
					default:
						must(t, change(f, func(b *frame.Batch) error { return b.Insert(t.Context(), i-6, p) }))
					}
				}
				must(t, change(f, func(b *frame.Batch) error { return b.SetVLMeta("v", []byte("some value")) }))
				all = append(all, victimOf(t, fmt.Sprintf("%s-sparse=%v-sums=%v", kind, sparse, sums), f, dir))
				must(t, f.Close())
			}
		}
	}
	return all
}

// victimOf notes where the parts of f are.
func victimOf(t testing.TB, what string, f *frame.Frame, name string) victim {
	v := victim{what: what, sums: f.Info().Checksums, fixed: f.Info().ChunkSize > 0, files: map[string][]byte{}}
	read := func(file string) {
		b, err := os.ReadFile(filepath.Join(name, file))
		must(t, err)
		v.files[file] = b
	}
	if f.Info().Sparse {
		for _, x := range names(t, name) {
			read(x)
		}
	} else {
		read("")
	}
	for i := range f.NumChunks() {
		b, err := f.ReadChunk(t.Context(), nil, i)
		must(t, err)
		c, err := f.ChunkInfo(t.Context(), i)
		must(t, err)
		v.chunks = append(v.chunks, b)
		switch {
		case c.Off < 0:
			v.in, v.from, v.to = append(v.in, "-"), append(v.from, 0), append(v.to, 0)
		case f.Info().Sparse:
			v.in, v.from, v.to = append(v.in, chunkFile(c.Off)), append(v.from, 0), append(v.to, int64(c.CBytes))
		default:
			v.in, v.from, v.to = append(v.in, ""), append(v.from, c.Off), append(v.to, c.Off+int64(c.CBytes))
		}
	}
	return v
}

// garbageBytes returns n bytes that compress, or not, or are all zero.
func garbageBytes(rng *rand.Rand, n int) []byte {
	p := make([]byte, n)
	switch rng.IntN(5) {
	case 0:
	case 1:
		for i := range p {
			p[i] = byte(rng.Uint32())
		}
	default:
		start := rng.IntN(100)
		for i := range p {
			p[i] = byte(start + i/9)
		}
	}
	return p
}

// damage changes the files in one way. It returns a description, and the number of bytes by which it moves the content
// of a contiguous frame.
func (v *victim) damage(rng *rand.Rand, files map[string][]byte) (what string, moved int64) {
	list := slices.Sorted(maps.Keys(files))
	name := list[rng.IntN(len(list))]
	if rng.IntN(2) == 0 {
		name = list[len(list)-1] // the index file of a sparse frame
	}
	b := files[name]
	if len(b) == 0 {
		return "nothing", 0
	}
	at := rng.IntN(len(b))
	part := func() { // near the start or the end, where header and trailer are, or a chunk header
		switch i := rng.IntN(len(v.chunks)); rng.IntN(4) {
		case 0:
			at = rng.IntN(min(len(b), 120))
		case 1:
			at = len(b) - 1 - rng.IntN(min(len(b), 200))
		case 2:
			if v.in[i] == name && int(v.from[i]) < len(b) {
				at = min(int(v.from[i])+rng.IntN(32), len(b)-1)
			}
		}
	}
	switch rng.IntN(8) {
	case 0:
		files[name] = b[:at]
		return fmt.Sprintf("%q cut at %d", name, at), 0
	case 1, 2:
		part()
		n := min(1+rng.IntN(80), len(b)-at)
		clear(b[at : at+n])
		return fmt.Sprintf("%d zeros at %d of %q", n, at, name), 0
	case 3, 4, 5:
		part()
		bit := rng.IntN(8)
		b[at] ^= 1 << bit
		return fmt.Sprintf("bit %d of byte %d of %q", bit, at, name), 0
	case 6:
		i, k := rng.IntN(len(v.chunks)), rng.IntN(len(v.chunks))
		if v.in[i] == "-" || v.in[k] == "-" || v.to[i]-v.from[i] != v.to[k]-v.from[k] {
			return "nothing", 0
		}
		x, y := files[v.in[i]], files[v.in[k]]
		if int64(len(x)) < v.to[i] || int64(len(y)) < v.to[k] {
			return "nothing", 0
		}
		x, y = x[v.from[i]:v.to[i]], y[v.from[k]:v.to[k]]
		was := slices.Clone(x)
		copy(x, y)
		copy(y, was)
		return fmt.Sprintf("chunks %d and %d swapped", i, k), 0
	}
	garbage := garbageBytes(rng, 1+rng.IntN(300))
	if rng.IntN(2) == 0 {
		files[name] = append(b, garbage...)
		return fmt.Sprintf("%d bytes behind %q", len(garbage), name), 0
	}
	if name != "" {
		return "nothing", 0
	}
	files[name] = append(garbage, b...)
	return fmt.Sprintf("%d bytes in front", len(garbage)), int64(len(garbage))
}

// check salvages damaged files and compares with what must be there.
func (v *victim) check(t testing.TB, files map[string][]byte, moved int64) error {
	name := filepath.Join(t.TempDir(), "broken")
	for file, b := range files {
		if file != "" {
			must(t, os.MkdirAll(name, 0o777))
		}
		must(t, os.WriteFile(filepath.Join(name, file), b, 0o666))
	}
	start := time.Now()
	r := salvagePath(t, name)
	if d := time.Since(start); d > 20*time.Second {
		return fmt.Errorf("took %v", d)
	}
	var whole []int // chunks that are as they were
	for i, p := range v.in {
		if p == "-" {
			continue
		}
		b, from, to := files[p], v.from[i]+moved, v.to[i]+moved
		if int64(len(b)) >= to && bytes.Equal(b[from:to], v.files[p][v.from[i]:v.to[i]]) {
			whole = append(whole, i)
		}
	}
	if r.err != nil {
		if len(whole) > 0 || !errors.Is(r.err, frame.ErrFormat) {
			return fmt.Errorf("%d chunks are whole: %w", len(whole), r.err)
		}
		return nil
	}
	defer r.f.Close()
	if r.unsure {
		return nil // it cannot be read
	}
	var got [][]byte
	for i := range r.f.NumChunks() {
		b, err := r.f.ReadChunk(t.Context(), nil, i)
		must(t, err)
		got = append(got, b)
	}
	told := strings.Join(r.told, "\n")
	filled := strings.Contains(told, "takes its place") // which may be the wrong one
	place := func(p []byte) int { return slices.IndexFunc(got, func(q []byte) bool { return bytes.Equal(p, q) }) }
	last := -1
	for _, i := range whole {
		k := place(v.chunks[i])
		switch {
		case k < 0:
			return fmt.Errorf("chunk %d is lost: %+v, %s", i, r.Salvaged, told)
		case !filled && r.Index && v.fixed && len(got) == len(v.chunks) && k != i, !filled && r.Index && k < last:
			return fmt.Errorf("chunk %d is at %d: %+v", i, k, r.Salvaged)
		}
		last = k
	}
	for k, q := range got {
		known := slices.ContainsFunc(v.chunks, func(p []byte) bool { return bytes.Equal(p, q) })
		zeros := len(bytes.Trim(q, "\x00")) == 0
		if v.sums && r.f.Info().Checksums && !known && (!zeros && !strings.Contains(told, "checksum") || told == "") {
			return fmt.Errorf("chunk %d is none of the frame: %+v, %s", k, r.Salvaged, told)
		}
	}
	if len(got) < len(v.chunks) && told == "" {
		return fmt.Errorf("%d chunks of %d, and nothing was told", len(got), len(v.chunks))
	}
	return nil
}

// TestSalvageMutations damages frames of all kinds in one to three random ways: flipped bits, zeros, missing bytes,
// swapped chunks, bytes before and after the frame. The new frame must have all chunks whose bytes are unchanged, in
// their order if Salvaged.Index is set. With checksums it must not have other chunks. About one in 300 other seeds
// breaks these rules: those that damage both the header of a chunk and its index entry or checksum.
func TestSalvageMutations(t *testing.T) {
	for _, v := range victims(t) {
		t.Run(v.what, func(t *testing.T) {
			for seed := range 24 {
				rng := rand.New(rand.NewPCG(uint64(seed), 91))
				files := map[string][]byte{}
				for name, b := range v.files {
					files[name] = slices.Clone(b)
				}
				var how []string
				moved := int64(0)
				for range 1 + rng.IntN(3) {
					if moved > 0 {
						break // places are no longer known
					}
					what, by := v.damage(rng, files)
					how = append(how, what)
					moved += by
				}
				if err := v.check(t, files, moved); err != nil {
					t.Errorf("seed %d: %s: %v", seed, strings.Join(how, ", "), err)
				}
			}
		})
	}
}

// uniform returns a frame of n bytes of a special value.
func uniform(t testing.TB, s chunk.Special, typeSize, chunkSize int, n int64) []byte {
	f, err := frame.Create(t.Context(), "", &frame.CreateOptions{Params: chunk.Params{TypeSize: typeSize}, ChunkSize: chunkSize})
	must(t, err)
	defer f.Close()
	must(t, change(f, func(b *frame.Batch) error { return b.Engine().FillSpecial(n, s) }))
	b, err := appendTo(f, nil)
	must(t, err)
	return b
}

// salvageAndVerify salvages what is in files, and returns what Verify reports of the new frame. What needs a codec or
// filter that is not available counts as intact for both.
func salvageAndVerify(t testing.TB, files map[string][]byte, to *frame.CreateOptions) error {
	name := filepath.Join(t.TempDir(), "broken")
	for file, b := range files {
		if file != "" {
			must(t, os.MkdirAll(name, 0o777))
		}
		must(t, os.WriteFile(filepath.Join(name, file), b, 0o666))
	}
	out := name + ".new"
	f, _, err := frame.Salvage(context.Background(), out, name, nil, to)
	if err != nil {
		if errors.Is(err, frame.ErrFormat) || errors.Is(err, frame.ErrTooLarge) {
			return nil
		}
		return fmt.Errorf("salvage: %w", err)
	}
	must(t, f.Close())
	g, err := frame.Open(t.Context(), out, nil)
	if err != nil {
		return fmt.Errorf("open: %w", err)
	}
	defer g.Close()
	var faults []error
	err = g.Verify(context.Background(), func(err error) error {
		if !errors.Is(err, errors.ErrUnsupported) {
			faults = append(faults, err)
		}
		return nil
	})
	if err = errors.Join(append(faults, err)...); err != nil {
		return fmt.Errorf("%w\n%+v", err, g.Info())
	}
	return nil
}

// TestSalvageRagged salvages frames whose index is one special value and whose last chunk is no whole number of items.
func TestSalvageRagged(t *testing.T) {
	for _, sums := range []bool{false, true} {
		for _, special := range []chunk.Special{chunk.NaNs, chunk.Uninit, chunk.Zeros} {
			for _, n := range []int64{5999, 6000, 6001, 11999, 12001} {
				b := uniform(t, special, 4, 6000, 12000)
				binary.BigEndian.PutUint64(b[offNBytes:], uint64(n))
				if err := salvageAndVerify(t, map[string][]byte{"": b}, &frame.CreateOptions{NoSync: true, Checksums: sums}); err != nil {
					t.Errorf("%v, %d bytes: %v", special, n, err)
				}
			}
		}
	}
}

// setField sets a number of a header, of the frame or of a chunk, to a value at the edges.
func (v *victim) setField(rng *rand.Rand, files map[string][]byte) string {
	list := slices.Sorted(maps.Keys(files))
	name := list[len(list)-1] // the index file of a sparse frame
	if i := rng.IntN(len(v.chunks)); rng.IntN(3) == 0 && v.in[i] != "-" {
		if b := files[v.in[i]]; int64(len(b)) >= v.to[i] {
			at := v.from[i] + 4*rng.Int64N(8)
			old := binary.LittleEndian.Uint32(b[at:])
			now := edge(rng, uint64(old), 31)
			binary.LittleEndian.PutUint32(b[at:], uint32(now))
			return fmt.Sprintf("%d in place of %d at %d of %q", now, old, at, v.in[i])
		}
	}
	b := files[name]
	if len(b) < fixedLen {
		return "nothing"
	}
	switch at := []int{offNBytes, offCBytes, offTypeSize, offBlockSize, offChunkSize, offFilters, offCompcode, offCodec, offVersion}[rng.IntN(9)]; at {
	case offNBytes, offCBytes:
		old := binary.BigEndian.Uint64(b[at:])
		now := edge(rng, old, 40)
		binary.BigEndian.PutUint64(b[at:], now)
		return fmt.Sprintf("%d in place of %d at %d", now, old, at)
	case offTypeSize, offBlockSize, offChunkSize:
		old := binary.BigEndian.Uint32(b[at:])
		now := edge(rng, uint64(old), 31)
		binary.BigEndian.PutUint32(b[at:], uint32(now))
		return fmt.Sprintf("%d in place of %d at %d", now, old, at)
	default:
		at += rng.IntN(2)
		b[at] = byte(rng.IntN(256))
		return fmt.Sprintf("%d at %d", b[at], at)
	}
}

// edge returns a number that is near to another one or to a power of two.
func edge(rng *rand.Rand, old uint64, bits int) uint64 {
	switch rng.IntN(4) {
	case 0:
		return old + rng.Uint64N(17) - 8
	case 1:
		return old * rng.Uint64N(4)
	case 2:
		return uint64(rng.IntN(40))
	}
	return 1<<rng.IntN(bits) + rng.Uint64N(3) - 1
}

// TestSalvageVerifies wants Verify to find no fault in what Salvage makes, of frames of all kinds with random damage.
func TestSalvageVerifies(t *testing.T) {
	all := victims(t)
	for _, special := range []chunk.Special{chunk.NaNs, chunk.Uninit, chunk.Zeros} {
		for _, size := range []int{4, 8} {
			dir := filepath.Join(t.TempDir(), "x")
			must(t, os.WriteFile(dir, uniform(t, special, size, 480, 480*9), 0o666))
			f, err := frame.Open(t.Context(), dir, nil)
			must(t, err)
			all = append(all, victimOf(t, fmt.Sprintf("uniform-%v-%d", special, size), f, dir))
			must(t, f.Close())
		}
	}
	seeds := 12
	if testing.Short() {
		seeds = 3
	}
	for _, v := range all {
		t.Run(v.what, func(t *testing.T) {
			for seed := range seeds {
				rng := rand.New(rand.NewPCG(uint64(seed), 17))
				files := map[string][]byte{}
				for name, b := range v.files {
					files[name] = bytes.Clone(b)
				}
				var how []string
				for range 1 + rng.IntN(4) {
					what := ""
					if rng.IntN(3) > 0 {
						what = v.setField(rng, files)
					} else {
						what, _ = v.damage(rng, files)
					}
					how = append(how, what)
				}
				to := &frame.CreateOptions{NoSync: true, Sparse: rng.IntN(2) == 0, Checksums: rng.IntN(2) == 0}
				if err := salvageAndVerify(t, files, to); err != nil {
					t.Errorf("seed %d: %q: %v", seed, how, err)
				}
			}
		})
	}
}

// TestSalvageChecksums damages the header or the frame length, the index and one chunk. The index still decodes. The
// checksums show which chunk is damaged.
func TestSalvageChecksums(t *testing.T) {
	m := frame.NewMemory(nil)
	f, err := frame.Create(t.Context(), "", &frame.CreateOptions{Checksums: true, Storage: m})
	must(t, err)
	rng := rand.New(rand.NewPCG(1, 1))
	var want []byte
	for range 5 {
		p := make([]byte, 1000)
		for i := range p {
			p[i] = byte(rng.Uint32())
		}
		must(t, f.Append(t.Context(), p))
		want = append(want, p...)
	}
	clear(want[:1000]) // the lost chunk
	c, err := f.ChunkInfo(t.Context(), 0)
	must(t, err)
	for _, at := range []int{offFrameLen + 4, offVersion + 1} {
		b := slices.Clone(m.Bytes())
		b[at] ^= 32
		b[c.Off+500] ^= 1
		b[indexPos(b)+27] ^= 1 // a byte of its header without use
		r := salvage(t, b)
		must(t, r.err)
		if r.Chunks != 4 || r.Lost != 1 || !r.Index {
			t.Errorf("byte %d: %+v, reports %q", at, r.Salvaged, r.told)
		}
		if lost := len(want) - len(r.whole); lost > 0 && !bytes.Equal(r.whole, want[1000:]) || lost <= 0 && !bytes.Equal(r.whole, want) {
			t.Errorf("byte %d: other data", at)
		}
	}
}
