package attack

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/frame"
)

// faultWork is something that writes a frame, to be interrupted by a fault of the operating system.
type faultWork struct {
	name   string
	sparse bool
	makes  string                              // the name that it makes, or "" if it changes "frame"
	do     func(path string, dir string) error // path is that of a frame
	old    bool                                // what it makes replaces a frame
}

// faultWorks returns all of them, for files and for directories.
func faultWorks() []faultWork {
	ctx := context.Background()
	edit := func(do func(f *frame.Frame) error) func(string, string) error {
		return func(path, _ string) error {
			f, err := frame.Edit(ctx, path, &frame.OpenOptions{Concurrency: 1})
			if err != nil {
				return err
			}
			defer f.Close()
			return do(f)
		}
	}
	var list []faultWork
	for _, sparse := range []bool{false, true} {
		to := func(dir string) (string, *frame.CreateOptions) {
			return filepath.Join(dir, "made"), &frame.CreateOptions{Sparse: sparse, Concurrency: 1, Checksums: true}
		}
		create := func(_, dir string) error {
			name, o := to(dir)
			o.ChunkSize = 4000
			return closed(frame.CreateFunc(ctx, name, func(b *frame.Batch) error { return appendNoise(b, 0, 12) }, o))
		}
		copied := func(path, dir string) error {
			f, err := frame.Open(ctx, path, nil)
			if err != nil {
				return err
			}
			defer f.Close()
			name, o := to(dir)
			return closed(frame.Copy(ctx, name, f, o))
		}
		overwrite := func(path, _ string) error {
			f, err := frame.Open(ctx, path, nil)
			if err != nil {
				return err
			}
			defer f.Close()
			return closed(frame.Copy(ctx, path, f, &frame.CreateOptions{Sparse: sparse, Overwrite: true, Concurrency: 1}))
		}
		salvage := func(path, dir string) error {
			name, o := to(dir)
			f, _, err := frame.Salvage(ctx, name, path, nil, o)
			return closed(f, err)
		}
		kind := map[bool]string{true: " of a directory", false: " of a file"}[sparse]
		list = append(list,
			faultWork{"Create" + kind, sparse, "made", create, false},
			faultWork{"Copy" + kind, sparse, "made", copied, false},
			faultWork{"Copy over itself" + kind, sparse, "", overwrite, true},
			faultWork{"Salvage" + kind, sparse, "made", salvage, false},
			faultWork{"Compact" + kind, sparse, "", edit(func(f *frame.Frame) error { return f.Compact(ctx) }), false},
			faultWork{"Append" + kind, sparse, "", edit(func(f *frame.Frame) error { return f.Append(ctx, noise(100)) }), false},
			faultWork{"Delete" + kind, sparse, "", edit(func(f *frame.Frame) error { return inBatch(f, func(b *frame.Batch) error { return b.Delete(3) }) }), false},
			faultWork{"SetVLMeta" + kind, sparse, "", edit(func(f *frame.Frame) error {
				return inBatch(f, func(b *frame.Batch) error { return b.SetVLMeta("more", noise(3)) })
			}), false},
			faultWork{"batch" + kind, sparse, "", edit(func(f *frame.Frame) error {
				b, err := f.Begin(ctx)
				if err != nil {
					return err
				}
				defer b.Rollback()
				if err := appendNoise(b, 200, 5); err != nil {
					return err
				}
				return errors.Join(b.Delete(0), b.Commit())
			}), false},
		)
	}
	return list
}

// closed closes a frame that was made.
func closed(f *frame.Frame, err error) error {
	if err != nil {
		return err
	}
	return f.Close()
}

// noise returns the content of a chunk, which does not compress.
func noise(seed int) []byte {
	b := make([]byte, 4000)
	x := uint32(seed)*2654435761 + 1
	for i := range b {
		x ^= x << 13
		x ^= x >> 17
		x ^= x << 5
		b[i] = byte(x)
	}
	return b
}

func appendNoise(b *frame.Batch, first, n int) error {
	for i := range n {
		if err := b.Append(context.Background(), noise(first+i)); err != nil {
			return err
		}
	}
	return nil
}

// makeFrame makes the frame that works begin with: some chunks, and dead bytes.
func makeFrame(path string, sparse bool) error {
	o := &frame.CreateOptions{Sparse: sparse, ChunkSize: 4000, Checksums: true, NoSync: true, Params: chunk.Params{TypeSize: 4}}
	f, err := frame.CreateFunc(context.Background(), path, func(b *frame.Batch) error { return appendNoise(b, 0, 10) }, o)
	if err != nil {
		return err
	}
	err = errors.Join(inBatch(f, func(b *frame.Batch) error { return b.Update(context.Background(), 2, noise(50)) }), inBatch(f, func(b *frame.Batch) error { return b.SetVLMeta("note", []byte{1}) }), inBatch(f, func(b *frame.Batch) error { return b.Delete(5) }))
	return errors.Join(err, f.Close())
}

// content returns the decoded bytes of a frame, which must be intact, and its metalayers.
func content(path string) ([]byte, error) {
	f, err := frame.Open(context.Background(), path, &frame.OpenOptions{RequireChecksums: true})
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var all bytes.Buffer
	if _, err := io.Copy(&all, f.Content(context.Background())); err != nil {
		return nil, err
	}
	for _, name := range f.VLMetaNames() {
		b, err := f.VLMeta(name)
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&all, "%s %x\n", name, b)
	}
	return all.Bytes(), f.Verify(context.Background(), func(err error) error { return err })
}

// tryFault does a work in an empty folder with a fault, and checks the files after it. with limits the work; it must
// also lift the limit. It returns whether the work succeeded.
func tryFault(w faultWork, dir string, with func(do func() error) error) (bool, error) {
	path := filepath.Join(dir, "frame")
	if err := makeFrame(path, w.sparse); err != nil {
		return false, err
	}
	before, err := content(path)
	if err != nil {
		return false, err
	}
	failed := with(func() error { return w.do(path, dir) })
	if failed != nil && !isFault(failed) {
		return false, fmt.Errorf("another error than that of the fault: %w", failed)
	}
	now, err := content(path)
	if err != nil {
		return false, fmt.Errorf("after %v the frame is damaged: %w", failed, err)
	}
	if (failed != nil || w.makes != "") && !bytes.Equal(now, before) {
		return false, fmt.Errorf("after %v the frame is changed", failed)
	}
	want := []string{"frame"}
	if w.makes != "" && failed == nil {
		want = append(want, w.makes)
		if _, err := content(filepath.Join(dir, w.makes)); err != nil {
			return false, fmt.Errorf("what was made is damaged: %w", err)
		}
	}
	if err := onlyFiles(dir, want); err != nil {
		return false, fmt.Errorf("after %v: %w", failed, err)
	}
	if err := closed(frame.Edit(context.Background(), path, nil)); err != nil {
		return false, fmt.Errorf("after %v the frame cannot be edited: %w", failed, err)
	}
	f, err := frame.Edit(context.Background(), path, nil)
	if err != nil {
		return false, err
	}
	defer f.Close()
	if err := f.Append(context.Background(), noise(999)); err != nil {
		return false, fmt.Errorf("after %v the frame cannot be edited: %w", failed, err)
	}
	return failed == nil, f.Verify(context.Background(), func(err error) error { return err })
}

// onlyFiles is an error if a folder holds other names, or a sparse frame in it has temporary files.
func onlyFiles(dir string, want []string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	if len(entries) != len(want) {
		return fmt.Errorf("files %v, want %q", entries, want)
	}
	temporary, err := filepath.Glob(filepath.Join(dir, "*", "*"))
	for _, name := range temporary {
		if base := filepath.Base(name); base != indexFile && !strings.HasSuffix(base, ".chunk") && base != ".b2lock" {
			err = errors.Join(err, fmt.Errorf("%s is left", name))
		}
	}
	return err
}
