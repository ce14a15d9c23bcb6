package lazy

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/goblosc/blosc2/codec"
	"github.com/goblosc/blosc2/frame/remote"
	"github.com/goblosc/blosc2/internal/link"
	"github.com/goblosc/blosc2/ndarray"
)

// TestFar counts the requests and bytes of operands on a server. Each is read once, several chunks at a time.
func TestFar(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	data := make([]int32, 1<<20)
	for i := range data {
		data[i] = rng.Int32N(1 << 30)
	}
	l := &link.Link{Latency: 20 * time.Millisecond, Objects: map[string]link.Object{}}
	local, size := map[string]ndarray.Reader{}, map[string]int64{}
	add := func(name string, shape, chunks []int64) {
		n := shape[0] * shape[1]
		a, err := ndarray.Create(t.Context(), "", shape, data[:n], &ndarray.CreateOptions{Codec: codec.LZ4, Chunks: chunks, Blocks: []int64{min(chunks[0], 16), 64}})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { a.Close() })
		var b bytes.Buffer
		if _, err := a.Save(t.Context(), &b); err != nil {
			t.Fatal(err)
		}
		local[name], size[name] = a, int64(b.Len())
		l.Objects["/"+name] = link.Object{Data: b.Bytes(), ETag: `"1"`}
	}
	add("a", []int64{1024, 1024}, []int64{64, 256})
	add("b", []int64{1024, 1024}, []int64{128, 128})
	add("row", []int64{1, 1024}, []int64{1, 1024})
	for text, names := range map[string][]string{
		"a * 2":                        {"a"},
		"a + b":                        {"a", "b"},
		"a * a + a":                    {"a"},
		"sum(a - b, axis=1)":           {"a", "b"},
		"where(a > b, row, row + 1.5)": {"a", "b", "row"},
	} {
		t.Run(text, func(t *testing.T) {
			x, err := Parse(text)
			if err != nil {
				t.Fatal(err)
			}
			far, bytes := map[string]ndarray.Reader{}, int64(0)
			for _, name := range names {
				src, err := remote.Open(t.Context(), "http://host/"+name, &remote.Options{Client: l.Client()})
				if err != nil {
					t.Fatal(err)
				}
				defer src.Close()
				a, err := ndarray.OpenSource(t.Context(), src, nil)
				if err != nil {
					t.Fatal(err)
				}
				defer a.Close()
				far[name], bytes = a, bytes+size[name]
			}
			o := &ndarray.CreateOptions{Chunks: []int64{100, 200}, Blocks: []int64{10, 200}} // unlike the operands
			if strings.HasPrefix(text, "sum") {
				o = nil
			}
			l.Stats()
			got, err := x.Eval(t.Context(), "", far, o)
			if err != nil {
				t.Fatal(err)
			}
			defer got.Close()
			s := l.Stats()
			if n := len(names); s.Requests > 8*n || s.Rounds > 5 || s.Bytes > bytes*103/100 {
				t.Errorf("%d requests in %d rounds, %d bytes of %d", s.Requests, s.Rounds, s.Bytes, bytes)
			}
			want, err := x.Eval(t.Context(), "", local, o)
			if err != nil {
				t.Fatal(err)
			}
			defer want.Close()
			if y, z := items(t, got), items(t, want); !slices.Equal(y, z) {
				t.Error("other items")
			}
		})
	}
}

// items returns the bytes of the items of an array, its dtype and its shape.
func items(t *testing.T, a *ndarray.Array) []byte {
	t.Helper()
	b := make([]byte, a.Size()*int64(a.DType().Size))
	if err := a.ReadBytes(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	return append(b, fmt.Sprint(a.DType(), a.Shape())...)
}
