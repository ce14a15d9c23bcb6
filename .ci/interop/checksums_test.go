package interop

import (
	"bytes"
	"io"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/frame"
)

// TestChecksums lets the reference read and edit frames with checksums. The reference must read the same content. It
// does not update the checksums, so Verify must find its edits.
func TestChecksums(t *testing.T) {
	_, b2check := programs(t)
	for _, sparse := range []bool{false, true} {
		for _, edit := range []string{"append PATH 400 7", "delete PATH 3", "vlmeta PATH v a3414243"} {
			name := filepath.Join(t.TempDir(), "frame")
			var want []byte
			o := &frame.CreateOptions{Checksums: true, BlockTable: true, Sparse: sparse, ChunkSize: 400, Params: chunk.Params{TypeSize: 4}}
			f, err := frame.CreateFunc(ctx, name, func(b *frame.Batch) error {
				for i := range 10 {
					p := bytes.Repeat([]byte{1, 2, byte(i), byte(i * 3)}, 100)
					want = append(want, p...)
					if err := b.Append(ctx, p); err != nil {
						return err
					}
				}
				return b.SetVLMeta("v", []byte("\xa1x"))
			}, o)
			if err != nil {
				t.Fatal(err)
			}
			f.Close()
			check := func(args ...string) []byte {
				t.Helper()
				out, err := exec.Command(b2check, args...).Output()
				if err != nil {
					t.Fatalf("%v: %v", args, err)
				}
				return out
			}
			if got := check("dump", name); !bytes.Equal(got, want) {
				t.Error("the reference reads other content")
			}
			check(strings.Fields(strings.ReplaceAll(edit, "PATH", name))...)
			if f, err = frame.Edit(ctx, name, nil); err != nil {
				t.Fatal(err)
			}
			faults := func() int {
				n := 0
				if err := f.Verify(ctx, func(error) error { n++; return nil }); err != nil {
					t.Fatal(err)
				}
				return n
			}
			if n := faults(); n != 1 || !f.Info().Checksums {
				t.Errorf("sparse %v, %s: %d faults", sparse, edit, n)
			}
			if err := inBatch(f, func(b *frame.Batch) error { return b.SetChecksums(ctx, true) }); err != nil {
				t.Fatal(err)
			}
			if n := faults(); n != 0 {
				t.Errorf("sparse %v, %s: %d faults with new checksums", sparse, edit, n)
			}
			var ours bytes.Buffer
			if _, err := io.Copy(&ours, f.Content(ctx)); err != nil {
				t.Fatal(err)
			}
			f.Close()
			if got := check("dump", name); !bytes.Equal(got, ours.Bytes()) {
				t.Errorf("sparse %v, %s: the reference reads other content", sparse, edit)
			}
		}
	}
}
