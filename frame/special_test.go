package frame

import (
	"testing"

	"github.com/goblosc/blosc2/chunk"
)

// A frame of one special value has the block size of its chunks, also when that was automatic, as C-Blosc2 writes it.
func TestFillSpecialBlockSize(t *testing.T) {
	for _, c := range []struct{ typeSize, blockSize, chunkSize, want int }{
		{4, 0, 132, 132}, {8, 0, 1 << 20, 512 << 10}, {4, 64, 132, 64}, {4, 4096, 132, 132}, {12, 0, 4020, 4020},
	} {
		o := &Options{ChunkSize: c.chunkSize, CParams: chunk.CParams{TypeSize: c.typeSize, BlockSize: c.blockSize}}
		f, err := CreateMemory(o, func(b *Batch) error { return b.FillSpecial(int64(10*c.typeSize), chunk.Zeros) })
		if err != nil {
			t.Fatal(err)
		}
		if got := f.Info().BlockSize; got != c.want {
			t.Errorf("%+v: block size %d", c, got)
		}
		f.Close()
	}
}
