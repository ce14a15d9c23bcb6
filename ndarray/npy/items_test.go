package npy

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/goblosc/blosc2/internal/golden"
	"github.com/goblosc/blosc2/meta"
	"github.com/goblosc/blosc2/ndarray"
)

// npyLines returns the fields of the lines about .npy files in testdata/making.txt.gz of package numpytest.
func npyLines(t *testing.T) [][]string {
	t.Helper()
	var out [][]string
	for _, line := range golden.Lines(t, "../internal/numpytest/testdata/making.txt.gz") {
		if rest, ok := strings.CutPrefix(line, "npy;"); ok {
			out = append(out, strings.Split(rest, ";"))
		}
	}
	if len(out) < 100 {
		t.Fatalf("only %d lines", len(out))
	}
	return out
}

// rawBytes returns the items of an array as they are stored.
func rawBytes(t *testing.T, a *ndarray.Array) []byte {
	t.Helper()
	b := make([]byte, a.NBytes())
	if err := a.ReadBytes(context.Background(), b); err != nil {
		t.Fatal(err)
	}
	return b
}

// TestNumPyFiles reads .npy files that NumPy wrote. It writes them in C order, which must produce the same bytes.
func TestNumPyFiles(t *testing.T) {
	ctx := context.Background()
	for _, c := range npyLines(t) {
		file, err1 := hex.DecodeString(c[0])
		items, err2 := hex.DecodeString(c[1])
		if err1 != nil || err2 != nil {
			t.Fatal(err1, err2)
		}
		h, err := ReadHeader(bytes.NewReader(file))
		if err != nil {
			t.Fatal(err)
		}
		a, err := Read(ctx, "", bytes.NewReader(file), nil)
		if err != nil {
			t.Fatalf("%v %v: %v", h.DType, h.Shape, err)
		}
		if !bytes.Equal(rawBytes(t, a), items) {
			t.Errorf("%v %v, Fortran %v: the items differ", h.DType, h.Shape, h.Fortran)
		}
		var out bytes.Buffer
		if err := Write(ctx, &out, a); err != nil {
			t.Fatal(err)
		}
		if !h.Fortran && !bytes.Equal(out.Bytes(), file) {
			t.Errorf("%v %v written as %q", h.DType, h.Shape, out.Bytes()[:min(out.Len(), 200)])
		}
		if h.Fortran {
			again, err := ReadHeader(&out)
			if err != nil || again.Fortran || again.DType.String() != h.DType.String() || !bytes.Equal(out.Bytes(), items) {
				t.Errorf("%v %v written: %v", h.DType, h.Shape, err)
			}
			b, err := h.Append(nil)
			if err != nil || !bytes.HasPrefix(file, b) {
				t.Errorf("%v %v, Fortran: header %q", h.DType, h.Shape, b)
			}
		}
	}
}

// TestReadNames checks the errors for a name that exists, and for one in a directory that does not exist.
func TestReadNames(t *testing.T) {
	name := filepath.Join(t.TempDir(), "a.b2nd")
	if err := os.WriteFile(name, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	for _, fortran := range []bool{false, true} {
		file, err := Header{DType: meta.Of('u', 1), Shape: []int64{2, 3}, Fortran: fortran}.Append(nil)
		if err != nil {
			t.Fatal(err)
		}
		_, err = Read(context.Background(), name, bytes.NewReader(append(file, "abcdef"...)), nil)
		if !errors.Is(err, fs.ErrExist) || !strings.HasSuffix(err.Error(), "; open it with Edit, or set Overwrite to replace it") {
			t.Errorf("Fortran order %v: %v", fortran, err)
		}
		dir := filepath.Join(filepath.Dir(name), "none")
		_, err = Read(context.Background(), filepath.Join(dir, "a"), bytes.NewReader(append(file, "abcdef"...)), nil)
		if !errors.Is(err, fs.ErrNotExist) || !strings.HasSuffix(err.Error(), filepath.Join(dir, "a")+": directory "+dir+" does not exist") {
			t.Errorf("Fortran order %v: %v", fortran, err)
		}
		// ".." after a link is the directory above its target.
		there, link := t.TempDir(), filepath.Join(t.TempDir(), "link")
		if runtime.GOOS == "windows" || os.Mkdir(filepath.Join(there, "below"), 0o777) != nil || os.Symlink(filepath.Join(there, "below"), link) != nil {
			t.Log("no symbolic links here, or the system removes \"..\" before it follows them")
			continue
		}
		const sep = string(filepath.Separator)
		a, err := Read(context.Background(), link+sep+".."+sep+"new", bytes.NewReader(append(file, "abcdef"...)), nil)
		if err != nil {
			t.Fatal(err)
		}
		a.Close()
		if _, err := os.Stat(filepath.Join(there, "new")); err != nil {
			t.Errorf("Fortran order %v: %v", fortran, err)
		}
	}
}

// cancelReader cancels a context after n bytes, of which it returns one at a time. Then it returns no bytes.
type cancelReader struct {
	t      *testing.T
	b      []byte
	n      int
	cancel func()
}

func (r *cancelReader) Read(p []byte) (int, error) {
	if r.n--; r.n >= 0 {
		n := copy(p[:min(len(p), 1)], r.b)
		r.b = r.b[n:]
		return n, nil
	}
	r.cancel()
	if r.n < -10 {
		r.t.Error("read after the context was done")
		return 0, io.EOF
	}
	return 0, nil
}

// TestReadCancel cancels Read in the header and in the items.
func TestReadCancel(t *testing.T) {
	for _, fortran := range []bool{false, true} {
		file, err := Header{DType: meta.Of('u', 1), Shape: []int64{2, 3}, Fortran: fortran}.Append(nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range []int{0, 3, 9, 50, len(file), len(file) + 4} {
			ctx, cancel := context.WithCancel(t.Context())
			_, err := Read(ctx, "", &cancelReader{t, append(file, "abcdef"...), n, cancel}, nil)
			if !errors.Is(err, context.Canceled) {
				t.Errorf("Fortran order %v, after %d of %d bytes: %v", fortran, n, len(file)+6, err)
			}
		}
	}
}

// badWriter returns a wrong number of bytes, and no error.
type badWriter func(n int) int

func (w badWriter) Write(p []byte) (int, error) { return w(len(p)), nil }

// TestBadWriter writes to writers that break the rules of io.Writer.
func TestBadWriter(t *testing.T) {
	ctx := t.Context()
	a, err := ndarray.Zeros(ctx, "", []int64{10, 10}, "<i4", nil)
	if err != nil {
		t.Fatal(err)
	}
	list := ndarray.Pick(3, 1)
	for what, write := range map[string]func(w io.Writer) error{
		"npy.Write":             func(w io.Writer) error { return Write(ctx, w, a) },
		"ToWriter":              func(w io.Writer) error { return ndarray.ToWriter(ctx, w, a) },
		"ToWriter, index array": func(w io.Writer) error { return ndarray.ToWriter(ctx, w, a, list) },
		"Save": func(w io.Writer) error {
			n, err := a.Save(ctx, w)
			if n < 0 || n > a.Frame().Info().FrameLen {
				t.Errorf("Save has written %d bytes", n)
			}
			return err
		},
	} {
		for n, wrong := range map[string]badWriter{
			"none":     func(int) int { return 0 },
			"too few":  func(n int) int { return n - 1 },
			"too many": func(n int) int { return n + 1 },
			"negative": func(int) int { return -1 },
		} {
			err := write(wrong)
			short := n == "none" || n == "too few"
			if err == nil || errors.Is(err, io.ErrShortWrite) != short {
				t.Errorf("%s, %s: %v", what, n, err)
			}
		}
		if err := write(badWriter(func(n int) int { return n })); err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// TestNPYHeaderErrors checks that errors of .npy headers wrap errors of this package.
func TestNPYHeaderErrors(t *testing.T) {
	if _, err := (Header{DType: meta.DType{Kind: 'O', Size: 8}}).Append(nil); !errors.Is(err, ndarray.ErrType) {
		t.Errorf("python objects: %v", err)
	}
	if _, err := ReadHeader(strings.NewReader("")); !errors.Is(err, ndarray.ErrFormat) || err.Error() != "npy: not a valid .npy file: the input is empty" {
		t.Error(err)
	}
	if _, err := ReadHeader(strings.NewReader("text")); !errors.Is(err, ndarray.ErrFormat) || !strings.HasPrefix(err.Error(), "npy: ") {
		t.Errorf("text: %v", err)
	}
}

// editingWriter is a buffer that calls edit after the first write, which is that of the header.
type editingWriter struct {
	bytes.Buffer
	edit func()
}

func (w *editingWriter) Write(b []byte) (int, error) {
	n, err := w.Buffer.Write(b)
	if w.edit != nil {
		w.edit()
		w.edit = nil
	}
	return n, err
}

// TestWriteOfOneShape appends items to an array after the header was written. The file must have the items that were
// selected before.
func TestWriteOfOneShape(t *testing.T) {
	ctx := context.Background()
	for _, sel := range [][]ndarray.Index{
		nil, {ndarray.Span(4, 100)}, {ndarray.All, ndarray.Pick(0)}, {ndarray.Pick(3, 1), ndarray.All},
		{ndarray.Span(0, 9), ndarray.Pick(1, 0, 1)},
	} {
		a, err := ndarray.Create(ctx, "", []int64{10, 2}, make([]int32, 20), nil)
		if err != nil {
			t.Fatal(err)
		}
		want, err := ndarray.Read[int32](ctx, a, sel...)
		if err != nil {
			t.Fatal(err)
		}
		w := &editingWriter{edit: func() {
			if err := ndarray.Append(ctx, a, 0, slices.Repeat([]int32{7}, 10)); err != nil {
				t.Error(err)
			}
		}}
		if err := Write(ctx, w, a, sel...); err != nil {
			t.Fatal(err)
		}
		r := bytes.NewReader(w.Bytes())
		b, err := Read(ctx, "", r, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := ndarray.Read[int32](ctx, b); err != nil || !slices.Equal(got, want) || r.Len() > 0 {
			t.Errorf("%v: items %v, want %v, then %d bytes, error %v", sel, got, want, r.Len(), err)
		}
	}
}

// TestReadOptions reads items in both orders with a Goal, which must choose the same blocks, and with MaxMemory.
func TestReadOptions(t *testing.T) {
	ctx := context.Background()
	shape := []int64{1000, 600}
	for _, goal := range []ndarray.Goal{ndarray.Balanced, ndarray.Smallest, ndarray.Fastest} {
		var arrays [2]*ndarray.Array
		for i, fortran := range []bool{false, true} {
			file, err := Header{DType: meta.Of('i', 2), Shape: shape, Fortran: fortran}.Append(nil)
			if err != nil {
				t.Fatal(err)
			}
			file = append(file, bytes.Repeat([]byte{1, 2}, 1000*600)...)
			if arrays[i], err = Read(ctx, "", bytes.NewReader(file), &ndarray.CreateOptions{Goal: goal}); err != nil {
				t.Fatalf("goal %v, Fortran order %v: %v", goal, fortran, err)
			}
			for _, o := range []*ndarray.CreateOptions{{MaxMemory: 1 << 20}, {Goal: goal, Level: 1}} {
				if _, err := Read(ctx, "", bytes.NewReader(file), o); !errors.Is(err, ndarray.ErrParam) {
					t.Errorf("Fortran order %v, %+v: %v", fortran, o, err)
				}
			}
		}
		c, f := arrays[0], arrays[1]
		if !slices.Equal(c.Chunks(), f.Chunks()) || !slices.Equal(c.Blocks(), f.Blocks()) || !bytes.Equal(rawBytes(t, c), rawBytes(t, f)) {
			t.Errorf("goal %v: chunks %v, blocks %v, in Fortran order %v, %v", goal, c.Chunks(), c.Blocks(), f.Chunks(), f.Blocks())
		}
	}
}

// TestReadConcurrency counts the goroutines that encode or decode while Read with Concurrency 1 runs.
func TestReadConcurrency(t *testing.T) {
	shape := []int64{1000, 4000}
	for _, fortran := range []bool{false, true} {
		file, err := Header{DType: meta.Of('i', 8), Shape: shape, Fortran: fortran}.Append(nil)
		if err != nil {
			t.Fatal(err)
		}
		for i := range 1000 * 4000 {
			file = binary.LittleEndian.AppendUint64(file, uint64(i*i))
		}
		var end atomic.Bool
		most := make(chan int)
		go func() {
			n, stacks := 0, make([]byte, 1<<20)
			for !end.Load() {
				busy := 0
				for _, g := range strings.Split(string(stacks[:runtime.Stack(stacks, true)]), "\n\n") {
					if strings.Contains(g, "internal/coder.") {
						busy++
					}
				}
				n = max(n, busy)
			}
			most <- n
		}()
		_, err = Read(t.Context(), "", bytes.NewReader(file), &ndarray.CreateOptions{Concurrency: 1})
		end.Store(true)
		if n := <-most; err != nil || n > 1 {
			t.Errorf("Fortran order %v: %d goroutines, error %v", fortran, n, err)
		}
	}
}

// editor is a writer that edits an array before it takes bytes.
type editor struct {
	bytes.Buffer
	edit func()
}

func (w *editor) Write(p []byte) (int, error) {
	w.edit()
	return w.Buffer.Write(p)
}

// TestWriteState writes an array that is edited after the header is written: header and items are of one commit.
func TestWriteState(t *testing.T) {
	ctx := t.Context()
	for _, rows := range []int64{2, 9} {
		for _, sel := range [][]ndarray.Index{nil, {ndarray.All}, {ndarray.Pick(1, 0)}} {
			a, err := ndarray.Full(ctx, "", []int64{5, 3}, int32(1), nil)
			if err != nil {
				t.Fatal(err)
			}
			w := &editor{edit: func() {
				if err := errors.Join(a.Resize(ctx, rows, 3), ndarray.Fill(ctx, a, int32(2))); err != nil {
					t.Error(err)
				}
			}}
			if err := Write(ctx, w, a, sel...); err != nil {
				t.Errorf("%d rows, %v: %v", rows, sel, err)
				continue
			}
			b, err := Read(ctx, "", w, nil)
			if err != nil {
				t.Fatal(err)
			}
			items, err := ndarray.Read[int32](ctx, b)
			if err != nil || slices.Contains(items, 2) {
				t.Errorf("%d rows, %v: %v, %v", rows, sel, items, err)
			}
			a.Close()
			b.Close()
		}
	}
}
