package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/goblosc/blosc2/ndarray"
)

// small makes an environment that writes a few rows at a time and shows progress to b.
func small(b *bytes.Buffer) *env { return &env{ctx: context.Background(), err: b, slab: 1} }

// TestSlabs writes to selections in parts, and compares the items with those of one write.
func TestSlabs(t *testing.T) {
	ctx := context.Background()
	for _, text := range []string{":", "2:17", "-9:", " 3 : -2 , 1:4 ", "5:9, ..., 2", "5:5", "30:40", "7:, ", "4", "::2", "[3, 1, 9]", "...", "..., 1:3",
		"1:12, [0, 2], [1, 3]", "None, 2:4", "0:10, True", "-100:3"} {
		sel, err := ndarray.ParseSelection(text)
		if err != nil {
			t.Fatal(err)
		}
		var arrays [3]*ndarray.Array
		for i := range arrays {
			if arrays[i], err = ndarray.Zeros(ctx, "", []int64{20, 6, 4}, "<i4", &ndarray.CreateOptions{Chunks: []int64{3, 4, 4}}); err != nil {
				t.Fatal(err)
			}
		}
		shape, err := arrays[0].SelectionShape(sel...)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		n, _ := byteCount(shape, 4)
		data := make([]byte, n)
		for i := range data {
			data[i] = byte(i*7 + i/100)
		}
		if err := arrays[0].WriteBytes(ctx, data, sel...); err != nil {
			t.Fatal(err)
		}
		p, calls := &progress{}, 0
		err = writeSlabs(small(nil), arrays[1], text, sel, shape, p, func(b *ndarray.Batch, i, j int64, sel []ndarray.Index) error {
			calls++
			part := data
			if j >= 0 {
				part = data[i*n/shape[0] : j*n/shape[0]]
			}
			return b.WriteBytes(ctx, part, sel...)
		})
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if p.done.Load() != n || p.total.Load() != n {
			t.Errorf("%s: progress %d of %d, want %d", text, p.done.Load(), p.total.Load(), n)
		}
		if text == ":" && calls != 7 {
			t.Errorf("%d parts, want one for each row of chunks", calls)
		}
		want, err1 := ndarray.Read[int32](ctx, arrays[0])
		got, err2 := ndarray.Read[int32](ctx, arrays[1])
		if err1 != nil || err2 != nil || !equal(got, want) {
			t.Errorf("%s: the items differ: %v, %v", text, err1, err2)
		}
		if err := appendSlabs(small(nil), arrays[2], make([]byte, 20*6*4*4), p); err != nil || arrays[2].Shape()[0] != 40 {
			t.Errorf("appended: shape %v, %v", arrays[2].Shape(), err)
		}
	}
}

func equal(a, b []int32) bool {
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return len(a) == len(b)
}

// TestEditProgress shows the progress of the verbs that write, if the option asks for it.
func TestEditProgress(t *testing.T) {
	dir := t.TempDir()
	a := filepath.Join(dir, "a.b2nd")
	must(t, numbers(100_000), "create", "-raw", "-shape", "100,1000", "-dtype", "<f4", a)
	for _, args := range [][]string{
		{"append", "-progress", "-raw", a},
		{"set", "-progress", "-raw", a, "0:100"},
		{"set", "-progress", a, ":", "-value", "1"},
		{"compact", "-progress", a},
		{"repair", "-progress", a, filepath.Join(dir, "new.b2nd")},
		{"resize", "-progress", a, "50,1000"},
	} {
		code, _, errOut := callFree(numbers(100_000), args...)
		if code != 0 || !strings.Contains(errOut, " B") || args[0] != "resize" && !strings.Contains(errOut, "100%") {
			t.Errorf("%v: exit %d, %q", args, code, errOut)
		}
	}
}

// TestFollow counts the bytes of temporary files that appear, and of those in directories.
func TestFollow(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.b2nd")
	write := func(name string, n int) {
		t.Helper()
		if err := os.WriteFile(name, make([]byte, n), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	write(path, 1000)
	write(path+".00000001.tmp", 100) // of a process that was killed
	p := &progress{}
	p.follow(path, 500)
	if err := os.Mkdir(path+".00000003.tmp", 0o777); err != nil {
		t.Fatal(err)
	}
	write(path+".00000002.tmp", 30)
	write(filepath.Join(path+".00000003.tmp", "00000000.chunk"), 7)
	if got := (*p.look.Load())(); got != 37 || p.total.Load() != 500 {
		t.Errorf("%d of %d bytes, want 37 of 500", got, p.total.Load())
	}
	p.finish()
	if p.done.Load() != 500 {
		t.Errorf("%d bytes at the end", p.done.Load())
	}
	if got := storedSize(dir); got != 1137 {
		t.Errorf("%d bytes in the folder", got)
	}
}

// endlessFile is a large file, whose reads end a context.
type endlessFile struct {
	cancel context.CancelFunc
	reads  int
}

func (f *endlessFile) ReadAt(b []byte, _ int64) (int, error) {
	if f.reads++; f.reads > 9 {
		return 0, io.EOF
	}
	f.cancel()
	return len(b), nil
}

// TestInterruptedRead ends the context while readAll reads a file.
func TestInterruptedRead(t *testing.T) {
	for _, size := range []int64{1 << 26, 1 << 40} {
		for _, n := range []int64{-1, size} {
			ctx, cancel := context.WithCancel(t.Context())
			f := &endlessFile{cancel: cancel}
			in := &input{at: f, size: size}
			if _, err := in.readAll(ctx, n); !errors.Is(err, context.Canceled) || f.reads != 1 {
				t.Errorf("%d of %d bytes: %v after %d reads", n, size, err, f.reads)
			}
		}
	}
}
