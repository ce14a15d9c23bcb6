package ndarray

import (
	"context"
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/codec"
)

// TestCreateWithDictionary writes arrays whose chunks have dictionaries: they are smaller, and read back.
func TestCreateWithDictionary(t *testing.T) {
	ctx := context.Background()
	rng := rand.New(rand.NewPCG(3, 4))
	words := make([][16]byte, 200)
	for i := range words {
		for j := 0; j < 16; j += 8 {
			binary.LittleEndian.PutUint64(words[i][j:], rng.Uint64())
		}
	}
	data := make([]byte, 0, 64<<13)
	for len(data) < cap(data) {
		data = append(data, words[rng.IntN(len(words))][:]...)
	}
	for _, id := range []codec.ID{codec.Zstd, codec.LZ4, codec.LZ4HC} {
		size := map[bool]int64{}
		for _, dict := range []bool{false, true} {
			o := &Options{Chunks: []int32{256 << 10}, Blocks: []int32{1 << 10}}
			o.CParams = chunk.CParams{Codec: id, Filters: []chunk.Filter{}, Dict: dict}
			a, err := Create(ctx, "", []int64{int64(len(data))}, data, o)
			if err != nil {
				t.Fatal(err)
			}
			got, err := Read[uint8](ctx, a)
			if err != nil || string(got) != string(data) {
				t.Fatalf("%v, dictionary %v: other content (%v)", id, dict, err)
			}
			size[dict] = a.Frame().Info().CBytes
			a.Close()
		}
		if size[true] > size[false]*9/10 {
			t.Errorf("%v: %d bytes with dictionaries, %d without", id, size[true], size[false])
		}
	}
}
