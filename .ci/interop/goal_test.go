package interop

import (
	"bytes"
	"context"
	"encoding/binary"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/ci/interop/ref"
	"github.com/goblosc/blosc2/ndarray"
)

// TestGoal lets C-Blosc2 read arrays whose chunks have codecs and filters that a goal has chosen. The data changes, and
// with it the choice.
func TestGoal(t *testing.T) {
	ctx := context.Background()
	for _, g := range []ndarray.Goal{ndarray.Balanced, ndarray.Smallest, ndarray.Fastest} {
		for _, dtype := range []string{"|u1", "<u2", "<f4", "<f8", "|S3", "|S28", "|S255", "|S300"} {
			r := rand.New(rand.NewPCG(1, uint64(g)))
			size := map[string]int{"|u1": 1, "<u2": 2, "<f4": 4, "<f8": 8, "|S3": 3, "|S28": 28, "|S255": 255, "|S300": 300}[dtype]
			n := (6 << 20) / size
			if g == ndarray.Smallest {
				n /= 16
			}
			if g == ndarray.Fastest && dtype == "<f4" {
				n *= 8 // enough for trials after the first ones
			}
			var data []byte
			for i := range n { // sorted numbers, few random bits, periodic bytes
				item := make([]byte, max(size, 8))
				switch 3 * i / n {
				case 0:
					binary.LittleEndian.PutUint64(item, uint64(i*7)+r.Uint64N(7))
				case 1:
					binary.LittleEndian.PutUint64(item, r.Uint64N(32)<<2)
				default:
					for j := range item {
						item[j] = byte(i%50) ^ byte(j*j)
					}
				}
				data = append(data, item[:size]...)
			}
			name := filepath.Join(t.TempDir(), "x.b2nd")
			a, err := ndarray.CreateBytes(ctx, name, []int64{int64(n)}, dtype, data, &ndarray.CreateOptions{Goal: g, Chunks: []int64{int64(max(n/16, 1))}, NoSync: true})
			if err != nil {
				t.Fatal(err)
			}
			kinds := map[string]bool{}
			for i := range a.Frame().NumChunks() {
				raw, err := a.Frame().ReadRaw(ctx, nil, i)
				if err != nil {
					t.Fatal(err)
				}
				h, err := chunk.ParseHeader(raw, int64(len(raw)))
				if err != nil {
					t.Fatal(err)
				}
				kinds[h.Params.Codec.String()+" "+string(rune('0'+h.Params.Filters[0].Code()))+string(rune('0'+h.Params.Filters[1].Code()))] = true
			}
			a.Close()
			c, err := ref.OpenArray(name)
			if err != nil {
				t.Fatal(err)
			}
			if got, err := c.Dump(); err != nil || !bytes.Equal(got, data) {
				t.Errorf("%v, %s: C-Blosc2 reads other items, %v", g, dtype, err)
			}
			c.Close()
			t.Log(g, dtype, len(kinds), "kinds of chunks")
			if g == ndarray.Fastest && dtype == "<f4" && len(kinds) < 2 {
				t.Errorf("all chunks are alike: %v", kinds)
			}
		}
	}
}
