package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/goblosc/blosc2/internal/paths"
	"github.com/goblosc/blosc2/meta"
	"github.com/goblosc/blosc2/ndarray/npy"
)

// npyMagic is the first bytes of a .npy file.
const npyMagic = "\x93NUMPY"

// input is the input of a verb: raw bytes, or the items of a .npy file.
type input struct {
	p    *progress   // counts the bytes
	npy  *npy.Header // nil for raw bytes
	r    io.Reader   // the data
	at   io.ReaderAt // the data, or nil if it can be read only once
	off  int64       // offset of the data in at
	size int64       // in bytes, or -1 if unknown
	temp string      // name of the temporary file to remove, or ""
	file *os.File
}

// openInput opens a file, or standard input for "" and "-". If raw is set, it is no .npy file. It does not wait for a
// terminal that no argument asks for.
func openInput(e *env, name string, raw bool) (*input, error) {
	if in, ok := e.in.(*interruptible); ok && name == "" && in.terminal() {
		return nil, usagef("argument IN is missing, and standard input is a terminal")
	}
	if name == "" || name == "-" {
		return newInput(e.in, "", raw)
	}
	var f *os.File
	err := untilDone(e.ctx, func() (err error) {
		f, err = os.Open(name) // for a pipe, it waits until a process writes to it
		return err
	})
	if err != nil {
		return nil, err
	}
	fi, err := f.Stat()
	if err == nil && fi.IsDir() {
		err = fmt.Errorf("%s is a directory", name)
	}
	var in *input
	if err == nil && fi.Mode().IsRegular() && fi.Size() > 0 { // in /proc, files of size 0 have content
		in, err = newFileInput(f, fi.Size(), name, raw)
	} else if err == nil {
		in, err = newInput(newInterruptible(e.ctx, f), name, raw)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	in.file = f
	return in, nil
}

// openShown opens an input like openInput and shows the progress of reading it until it is closed.
func openShown(e *env, name string, raw bool, o progressOption) (*input, error) {
	in, err := openInput(e, name, raw)
	if err == nil {
		in.p = e.startProgress(o, "bytes", max(in.size, 0))
	}
	return in, err
}

// holdInput reads the input of a verb that waits for a lock file of path into memory, and returns its new name, if it
// is standard input or a pipe. The process that writes to a pipe may read path, and hold the lock until all is written.
func holdInput(e *env, name, path string, raw bool) (string, error) {
	if _, locking := shared(e, path); !locking {
		return name, nil
	}
	if name != "" && name != "-" {
		if fi, err := os.Stat(name); err != nil || fi.Mode()&(fs.ModeNamedPipe|fs.ModeSocket) == 0 {
			return name, nil // openInput reports the error
		}
	}
	in, err := openInput(e, name, true)
	if err != nil {
		return "", err
	}
	defer in.close()
	b, err := in.readAll(e.ctx, -1)
	if err == nil && !raw && isNPYName(name) {
		_, err = newInput(bytes.NewReader(b), name, raw) // the new name does not require a .npy file
	}
	e.in = bytes.NewReader(b)
	return "-", err
}

// newInput returns the input in a stream.
func newInput(r io.Reader, name string, raw bool) (*input, error) {
	b := bufio.NewReaderSize(r, 1<<16)
	in := &input{r: b, size: -1}
	magic, err := b.Peek(len(npyMagic))
	if err != nil && err != io.EOF {
		return nil, err
	}
	if !raw && (string(magic) == npyMagic || isNPYName(name)) {
		in.npy, err = readNPYHeader(b)
		return in, err
	}
	return in, nil
}

// newFileInput returns the input in a file.
func newFileInput(f *os.File, size int64, name string, raw bool) (*input, error) {
	in := &input{r: f, at: f, size: size}
	magic := make([]byte, len(npyMagic))
	n, err := f.ReadAt(magic, 0)
	if err != nil && err != io.EOF {
		return nil, err
	}
	if raw || string(magic[:n]) != npyMagic && !isNPYName(name) {
		return in, nil
	}
	if in.npy, err = readNPYHeader(f); err != nil {
		return nil, err
	}
	in.off, err = f.Seek(0, io.SeekCurrent)
	in.size = max(size-in.off, 0)
	return in, err
}

// isNPYName reports whether a file name is that of a .npy file.
func isNPYName(name string) bool { return strings.HasSuffix(name, ".npy") }

// close closes the input, removes temporary files and ends the progress.
func (in *input) close() {
	in.p.end()
	if in.file != nil {
		in.file.Close()
	}
	if in.temp != "" {
		os.Remove(in.temp)
	}
}

// readAll returns all data. It returns an error unless the data has n bytes, or n is -1.
func (in *input) readAll(ctx context.Context, n int64) ([]byte, error) {
	if in.size >= 0 && n >= 0 && in.size != n {
		return nil, wrongSize(in.size, n)
	}
	r := in.r
	if in.at != nil {
		r = io.NewSectionReader(in.at, in.off, in.size)
	}
	r = contextReader{ctx, in.counted(r)}
	switch {
	case n < 0 && in.at != nil && in.size < math.MaxInt32:
		return readUpTo(make([]byte, 0, in.size), r, int(in.size)) // io.ReadAll would copy it as it grows
	case n < 0:
		return io.ReadAll(r)
	}
	b, err := readExact(r, n)
	if err == nil && int64(len(b)) > n {
		return nil, fmt.Errorf("the input has more than %d bytes", n)
	}
	if err == nil && int64(len(b)) < n {
		return nil, wrongSize(int64(len(b)), n)
	}
	return b, err
}

// readExact reads n bytes, and at least one byte more if r has more.
func readExact(r io.Reader, n int64) ([]byte, error) {
	if n >= math.MaxInt32 {
		return io.ReadAll(io.LimitReader(r, n+1))
	}
	return readUpTo(nil, r, int(n)+1)
}

// wrongSize returns the error for an input of the wrong size.
func wrongSize(got, want int64) error {
	return fmt.Errorf("the input has %d bytes, want %d", got, want)
}

// spool copies data that can be read only once to in.at, where it can be read at any offset: to memory if it has less
// than slab bytes, and otherwise to a temporary file beside out. It reads at most most bytes, unless most is
// -1.
func (in *input) spool(out string, most, slab int64) error {
	if in.at != nil {
		return nil
	}
	r := in.r
	if most >= 0 {
		r = io.LimitReader(r, most)
	}
	head, err := io.ReadAll(io.LimitReader(r, slab))
	if err != nil {
		return err
	}
	if int64(len(head)) < slab {
		in.at, in.size = bytes.NewReader(head), int64(len(head))
		return nil
	}
	f, err := os.CreateTemp(paths.Dir(out), filepath.Base(paths.Trim(out))+".input-*.tmp")
	if err != nil {
		return err
	}
	// No signal leaves a file without a name. Windows removes it only after it is closed.
	if os.Remove(f.Name()) != nil {
		in.temp = f.Name()
	}
	if in.file != nil {
		in.file.Close()
	}
	in.file, in.at = f, f
	in.size, err = io.Copy(f, io.MultiReader(bytes.NewReader(head), r))
	return err
}

// reader returns the data as a stream, which returns an error unless the data has n bytes.
func (in *input) reader(n int64) (io.Reader, error) {
	if in.size >= 0 && in.size != n {
		return nil, wrongSize(in.size, n)
	}
	r := in.r
	if in.at != nil {
		r = io.NewSectionReader(in.at, in.off, in.size)
	}
	e := &exactReader{r: in.counted(r), left: n, n: n}
	return e, e.end()
}

// counted returns a reader of r that counts bytes for the progress.
func (in *input) counted(r io.Reader) io.Reader {
	if in.p == nil {
		return r
	}
	return countingReader{r, in.p}
}

// exactReader reads n bytes of r. It returns an error if r has fewer or more.
type exactReader struct {
	r       io.Reader
	left, n int64
}

// Read implements io.Reader.
func (e *exactReader) Read(p []byte) (int, error) {
	if e.left == 0 {
		return 0, io.EOF
	}
	n, err := e.r.Read(p[:min(int64(len(p)), e.left)])
	e.left -= int64(n)
	if err == io.EOF && e.left > 0 {
		return n, wrongSize(e.n-e.left, e.n)
	}
	if more := e.end(); more != nil {
		return 0, more
	}
	return n, err
}

// end returns an error if all bytes have been read and r has more.
func (e *exactReader) end() error {
	var one [1]byte
	if e.left > 0 {
		return nil
	}
	switch _, err := io.ReadFull(e.r, one[:]); err {
	case io.EOF:
		return nil
	case nil:
		return fmt.Errorf("the input has more than %d bytes", e.n)
	default:
		return err
	}
}

// readNPYHeader reads the header of a .npy file.
func readNPYHeader(r io.Reader) (*npy.Header, error) {
	h, err := npy.ReadHeader(r)
	return &h, err
}

// npySize returns the size in bytes that the data of a .npy file must have.
func (in *input) npySize() (int64, error) {
	n, ok := byteCount(in.npy.Shape, in.npy.DType.Size)
	if !ok {
		return 0, fmt.Errorf("shape %s of the .npy file is too large", pyTuple(in.npy.Shape))
	}
	return n, nil
}

// items returns the data in C order. The items of a .npy file must have the dtype d and the shape, and other data n
// bytes.
func (in *input) items(ctx context.Context, d meta.DType, shape []int64, n int64) ([]byte, error) {
	if in.npy == nil {
		return in.readAll(ctx, n)
	}
	if in.npy.DType.String() != d.String() {
		return nil, fmt.Errorf("items of the .npy file have dtype %s, want %s", in.npy.DType, d)
	}
	if pyTuple(in.npy.Shape) != pyTuple(shape) {
		return nil, fmt.Errorf("the .npy file has shape %s, want %s", pyTuple(in.npy.Shape), pyTuple(shape))
	}
	b, err := in.readAll(ctx, n)
	if err != nil || !in.npy.Fortran {
		return b, err
	}
	a, err := npy.ReadItems(ctx, "", *in.npy, bytes.NewReader(b), nil)
	if err != nil {
		return nil, err
	}
	defer a.Close()
	return b, a.ReadBytes(ctx, b)
}

// byteCount returns the size of an array in bytes, and reports whether it fits in an int64.
func byteCount(shape []int64, itemSize int) (int64, bool) {
	n := int64(itemSize)
	if slices.Contains(shape, 0) {
		return 0, true
	}
	for _, s := range shape {
		if s < 0 || n > math.MaxInt64/s {
			return 0, false
		}
		n *= s
	}
	return n, true
}

// rawInput are the options of verbs that write raw bytes to an array.
type rawInput struct {
	Raw   bool   `help:"the input is raw bytes, items in C order. Other input than .npy is refused without -raw or -dtype"`
	DType string `name:"dtype" placeholder:"'<f4'" help:"the input is raw items of this dtype, or a .npy file. The dtype must be that of the array"`
}

// check returns an error unless the input is a .npy file or an option declares it as raw, and the option for the dtype,
// if there is one, has the dtype d of the array.
func (r *rawInput) check(in *input, d meta.DType) error {
	if r.DType != "" {
		given, err := meta.ParseDType(r.DType)
		if err != nil {
			return fmt.Errorf("-dtype: %w", err)
		}
		if given.String() != d.String() {
			return fmt.Errorf("the array has dtype %s, not %s", d, given)
		}
		return nil
	}
	if in.npy == nil && !r.Raw {
		return errNotNPY("-raw if it is raw items of dtype " + d.String())
	}
	return nil
}

// errNotNPY returns the error for raw bytes that no option requests.
func errNotNPY(want string) error {
	return fmt.Errorf("the input is not a .npy file; request %s", want)
}
