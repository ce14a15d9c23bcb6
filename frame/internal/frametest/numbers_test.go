package frametest

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/codec"
	"github.com/goblosc/blosc2/frame"
)

// withEntries replaces the index of a sparse frame.
func withEntries(t *testing.T, dir string, entries ...uint64) {
	t.Helper()
	var plain []byte
	for _, e := range entries {
		plain = binary.LittleEndian.AppendUint64(plain, e)
	}
	index, err := chunk.Encode(nil, plain, chunk.Params{TypeSize: 8, Level: codec.NoCompression})
	must(t, err)
	name := filepath.Join(dir, indexFile)
	b, err := os.ReadFile(name)
	must(t, err)
	head, tail := binary.BigEndian.Uint32(b[11:]), binary.BigEndian.Uint32(b[len(b)-22:])
	b = bytes.Join([][]byte{b[:head], index, b[len(b)-int(tail):]}, nil)
	binary.BigEndian.PutUint64(b[16:], uint64(len(b)))
	must(t, os.WriteFile(name, b, 0o666))
}

// TestChunkFileNumbers edits sparse frames in which the entry of a lost chunk is a large number.
func TestChunkFileNumbers(t *testing.T) {
	item := func(k int) []byte { return []byte{byte(k), 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15} }
	for _, entry := range []uint64{math.MaxInt64, 1 << 62, 1 << 32, 1<<32 - 1, 1<<32 - 2} {
		t.Run(fmt.Sprint(entry), func(t *testing.T) {
			ctx, dir := t.Context(), filepath.Join(t.TempDir(), "x")
			f, err := frame.CreateFunc(ctx, dir, func(b *frame.Batch) error {
				return errors.Join(b.Append(ctx, item(1)), b.Append(ctx, item(2)), b.Append(ctx, item(3)))
			}, &frame.CreateOptions{Sparse: true, NoSync: true, Params: chunk.Params{TypeSize: 8, Level: codec.NoCompression}})
			must(t, err)
			must(t, f.Close())
			withEntries(t, dir, 0, 1, entry)
			lost, err := os.ReadFile(filepath.Join(dir, chunkFile(2)))
			must(t, err)
			want := [][]byte{item(1), item(2), nil}
			update := func(f *frame.Frame, i int, p []byte) error {
				return change(f, func(b *frame.Batch) error { return b.Update(ctx, i, p) })
			}
			edit := func(change func(f *frame.Frame)) {
				t.Helper()
				f, err := frame.Edit(ctx, dir, &frame.OpenOptions{NoSync: true})
				must(t, err)
				change(f)
				must(t, f.Close())
				f, err = frame.Open(ctx, dir, nil)
				must(t, err)
				defer f.Close()
				for i, w := range want {
					got, err := f.ReadChunk(ctx, nil, i)
					if !bytes.Equal(got, w) || (err != nil) != (w == nil) || err != nil && !errors.Is(err, frame.ErrCorrupt) {
						t.Errorf("chunk %d: %v, %v", i, got, err)
					}
				}
				for _, name := range chunkFiles(t, dir) {
					if len(name) != len(chunkFile(0)) {
						t.Errorf("file %s", name)
					}
				}
			}
			edit(func(f *frame.Frame) {
				for k := 4; k < 7; k++ {
					must(t, f.Append(ctx, item(k)))
					want = append(want, item(k))
				}
				must(t, update(f, 0, item(7)))
				want[0] = item(7)
			})
			if got, err := os.ReadFile(filepath.Join(dir, chunkFile(2))); entry > math.MaxUint32 && !bytes.Equal(got, lost) {
				t.Errorf("the file of the lost chunk was replaced: %v", err)
			}
			edit(func(f *frame.Frame) {
				must(t, update(f, 2, item(8)))
				must(t, update(f, 1, item(9)))
				want[2], want[1] = item(8), item(9)
				verify(t, f)
			})
		})
	}
}
