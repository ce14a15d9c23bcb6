package frametest

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"testing"

	"github.com/goblosc/blosc2/frame"
)

// indexFile is the name of the index file of a sparse frame.
const indexFile = "chunks.b2frame"

// The offsets of numbers in the header of a frame.
const (
	offHeaderLen = 11
	offFrameLen  = 16
	offVersion   = 25
	offCodec     = 27
	offNBytes    = 30
	offCBytes    = 39
	offTypeSize  = 48
	offBlockSize = 53
	offChunkSize = 58
	offFilters   = 71
	offCompcode  = 77
	fixedLen     = 87
)

// endOfHeader returns the length of the header of a frame.
func endOfHeader(b []byte) int { return int(binary.BigEndian.Uint32(b[offHeaderLen:])) }

// indexPos returns where the index of a contiguous frame starts.
func indexPos(b []byte) int64 {
	return int64(endOfHeader(b)) + int64(binary.BigEndian.Uint64(b[offCBytes:]))
}

// must fails the test at once when there is an error.
func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// verify checks that a frame has no faults.
func verify(t testing.TB, f *frame.Frame) {
	t.Helper()
	must(t, f.Verify(context.Background(), func(err error) error { return err }))
}

// content returns all decoded bytes.
func content(t testing.TB, f *frame.Frame) []byte {
	t.Helper()
	var b bytes.Buffer
	if _, err := io.Copy(&b, f.Content(t.Context())); err != nil {
		t.Fatalf("%s: %v", f.Path(), err)
	}
	return b.Bytes()
}

// appendTo appends what Save writes to dst.
func appendTo(f *frame.Frame, dst []byte) ([]byte, error) {
	w := bytes.NewBuffer(dst)
	_, err := f.Save(context.Background(), w)
	return w.Bytes(), err
}

// change makes an edit of a frame in a batch of its own.
func change(f *frame.Frame, edit func(b *frame.Batch) error) error {
	b, err := f.Begin(context.Background())
	if err != nil {
		return err
	}
	defer b.Rollback()
	if err := edit(b); err != nil {
		return err
	}
	return b.Commit()
}

// metaLayer returns the content of a metalayer.
func metaLayer(f *frame.Frame, name string) ([]byte, error) {
	for _, l := range f.Meta() {
		if l.Name == name {
			return l.Content, nil
		}
	}
	return nil, fs.ErrNotExist
}

// small returns the i-th of many small chunks that do not compress to nothing.
func small(i int) []byte {
	p := make([]byte, 160)
	for k := range 40 {
		binary.LittleEndian.PutUint32(p[4*k:], uint32(i*i+k*k*7919))
	}
	return p
}

// chunkFile returns the name of a chunk file of a sparse frame.
func chunkFile(n int64) string { return fmt.Sprintf("%08X.chunk", n) }

// names lists a directory.
func names(t testing.TB, dir string) (list []string) {
	t.Helper()
	files, err := os.ReadDir(dir)
	must(t, err)
	for _, x := range files {
		list = append(list, x.Name())
	}
	return list
}

// chunkFiles returns the names of the chunk files.
func chunkFiles(t testing.TB, dir string) []string {
	t.Helper()
	names, err := fs.Glob(os.DirFS(dir), "*.chunk")
	must(t, err)
	return names
}

// unhex decodes lines of hexadecimal digits and spaces.
func unhex(t *testing.T, lines ...string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.ReplaceAll(strings.Join(lines, ""), " ", ""))
	must(t, err)
	return b
}

// emptyTrailer is the trailer of a frame without metalayers of variable length.
const emptyTrailer = "94 01 93 cd0006 de0000 dc0000 ce00000023 d800 00000000000000000000000000000000"
