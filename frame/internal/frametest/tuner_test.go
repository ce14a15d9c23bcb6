package frametest

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/codec"
	"github.com/goblosc/blosc2/frame"
)

// twoKinds returns n items of 4 bytes: sorted integers, and in the second half a few random bits.
func twoKinds(n int) []byte {
	r := rand.New(rand.NewPCG(1, 2))
	b := make([]byte, 0, 4*n)
	x := uint32(0)
	for i := range n {
		if x += r.Uint32N(9); i >= n/2 {
			x = 0x00800000 + r.Uint32N(1<<9)<<3
		}
		b = binary.LittleEndian.AppendUint32(b, x)
	}
	return b
}

// appendAll appends data in chunks of size bytes, one batch for each four.
func appendAll(t *testing.T, f *frame.Frame, data []byte, size int) {
	t.Helper()
	for len(data) > 0 {
		b, err := f.Begin(t.Context())
		must(t, err)
		for range 4 {
			n := min(size, len(data))
			if n > 0 {
				must(t, b.Append(t.Context(), data[:n]))
			}
			data = data[n:]
		}
		must(t, b.Commit())
	}
}

// contents compares the content of f with data, and verifies f.
func contents(t *testing.T, f *frame.Frame, data []byte) {
	t.Helper()
	got := make([]byte, len(data))
	_, err := f.Content(t.Context()).ReadAt(got, 0)
	must(t, err)
	if !bytes.Equal(got, data) {
		t.Error("other content")
	}
	verify(t, f)
}

// TestGoalAppend appends chunks to frames with a goal: frames are the same for any number of goroutines. It edits and
// copies them.
func TestGoalAppend(t *testing.T) {
	data := twoKinds(1<<19 + 77)
	for _, g := range []chunk.Goal{chunk.Balanced, chunk.Fastest, chunk.Smallest} {
		for _, blockSize := range []int{0, 16 << 10} {
			data := data
			if g == chunk.Smallest {
				data = data[:len(data)/4]
			}
			var first []byte
			for _, goroutines := range []int{1, 2, 8} {
				f, err := frame.Create(t.Context(), "", &frame.CreateOptions{
					Goal: g, Params: chunk.Params{TypeSize: 4, BlockSize: blockSize}, Concurrency: goroutines, Checksums: true,
				})
				must(t, err)
				appendAll(t, f, data, 100_000)
				contents(t, f, data)
				raw, err := appendTo(f, nil)
				must(t, err)
				if first == nil {
					first = raw
				} else if !bytes.Equal(raw, first) {
					t.Errorf("%v: other bytes with %d goroutines", g, goroutines)
				}
				if p := f.Info().Params; p.TypeSize != 4 || p.BlockSize != blockSize || g == chunk.Fastest && p.Codec != codec.LZ4 {
					t.Errorf("%v: the header has %+v", g, p)
				}
				b, err := f.Begin(t.Context())
				must(t, err)
				must(t, b.Update(t.Context(), 1, data[:100_000]))
				must(t, b.Insert(t.Context(), 0, data[100_000:200_000]))
				must(t, b.Delete(2))
				must(t, b.Commit())
				want := append(bytes.Clone(data[100_000:200_000]), data[:100_000]...)
				want = append(want, data[200_000:]...)
				contents(t, f, want)
			}
		}
	}
}

// TestGoalCopy compresses a frame again: with special chunks, with chunks that the index references twice, and with
// chunks of variable size.
func TestGoalCopy(t *testing.T) {
	data := twoKinds(1 << 16)
	f, err := frame.Create(t.Context(), "", &frame.CreateOptions{Params: chunk.Params{TypeSize: 4, Codec: codec.BloscLZ, Level: 1}, Checksums: true})
	must(t, err)
	appendAll(t, f, data, 64<<10)
	zeros := make([]byte, 64<<10)
	must(t, f.Append(t.Context(), zeros))
	must(t, f.Append(t.Context(), data[:1000]))
	want := append(append(bytes.Clone(data), zeros...), data[:1000]...)
	for _, g := range []chunk.Goal{chunk.Balanced, chunk.Smallest, chunk.Fastest} {
		c, err := frame.Copy(t.Context(), "", f, &frame.CreateOptions{Goal: g})
		must(t, err)
		contents(t, c, want)
		if p := c.Info().Params; p.Codec == codec.BloscLZ || !c.Info().Checksums {
			t.Errorf("%v: the header has %v", g, p.Codec)
		}
		if g != chunk.Fastest && c.Info().CBytes >= f.Info().CBytes {
			t.Errorf("%v: %d bytes of %d", g, c.Info().CBytes, f.Info().CBytes)
		}
	}
	must(t, f.Append(t.Context(), data[:3000])) // chunks of variable size
	c, err := frame.Copy(t.Context(), "", f, &frame.CreateOptions{Goal: chunk.Balanced})
	must(t, err)
	contents(t, c, append(want, data[:3000]...))
}
