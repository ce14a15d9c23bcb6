package frame

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
	"testing"

	"github.com/goblosc/blosc2/chunk"
)

// uniform returns a frame of n bytes of a special value.
func uniform(t testing.TB, s chunk.Special, typeSize, chunkSize int, n int64) []byte {
	f, err := CreateMemory(&Options{CParams: chunk.CParams{TypeSize: typeSize}, ChunkSize: chunkSize}, nil)
	must(t, err)
	defer f.Close()
	must(t, f.FillSpecial(n, s))
	b, err := f.AppendTo(nil)
	must(t, err)
	return b
}

// salvageAndVerify salvages what is in files, and returns what Verify reports of the new frame. What needs a codec or
// filter that is not available counts as intact for both.
func salvageAndVerify(t testing.TB, files map[string][]byte, to *Options) error {
	name := filepath.Join(t.TempDir(), "broken")
	for file, b := range files {
		if file != "" {
			must(t, os.MkdirAll(name, 0o777))
		}
		must(t, os.WriteFile(filepath.Join(name, file), b, 0o666))
	}
	out := name + ".new"
	f, _, err := Salvage(context.Background(), name, out, to, nil)
	if err != nil {
		if errors.Is(err, ErrFormat) || errors.Is(err, ErrTooLarge) {
			return nil
		}
		return fmt.Errorf("salvage: %w", err)
	}
	must(t, f.Close())
	g, err := Open(out, nil)
	if err != nil {
		return fmt.Errorf("open: %w", err)
	}
	defer g.Close()
	var faults []error
	err = g.Verify(context.Background(), func(err error) error {
		if !errors.Is(err, ErrUnsupported) {
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
				if err := salvageAndVerify(t, map[string][]byte{"": b}, &Options{NoSync: true, Checksums: sums}); err != nil {
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
			f, err := Open(dir, nil)
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
				to := &Options{NoSync: true, Sparse: rng.IntN(2) == 0, Checksums: rng.IntN(2) == 0}
				if err := salvageAndVerify(t, files, to); err != nil {
					t.Errorf("seed %d: %q: %v", seed, how, err)
				}
			}
		})
	}
}
