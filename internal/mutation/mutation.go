// Package mutation changes files for tests of hostile input, and runs such tests with little memory.
package mutation

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Bytes returns a changed copy of b. It prefers the first 200 bytes, which hold a header, and the last 400, which hold
// index, trailer or the directory of a zip file.
func Bytes(rng *rand.Rand, b []byte) []byte {
	b = slices.Clone(b)
	edges := []uint64{0, 1, 2, 7, 8, 15, 16, 31, 32, 1<<31 - 1, 1 << 31, 1<<32 - 1, 1 << 40, 1<<63 - 1, 1 << 63, 1<<64 - 1}
	for range 1 + rng.IntN(4) {
		if len(b) == 0 {
			return b
		}
		at := rng.IntN(len(b))
		switch rng.IntN(4) {
		case 0:
			at = rng.IntN(min(len(b), 200))
		case 1:
			at = len(b) - 1 - rng.IntN(min(len(b), 400))
		}
		switch rng.IntN(9) {
		case 0, 1:
			b[at] = byte(rng.Uint32())
		case 2, 3:
			b[at] ^= 1 << rng.IntN(8)
		case 4:
			b[at] = []byte{0, 1, 0x7f, 0x80, 0xff}[rng.IntN(5)]
		case 5, 6: // a field, in either byte order
			field := binary.LittleEndian.AppendUint64(nil, edges[rng.IntN(len(edges))]+uint64(rng.IntN(3))-1)[:2<<rng.IntN(3)]
			if rng.IntN(2) == 0 {
				slices.Reverse(field)
			}
			copy(b[at:], field)
		case 7: // bytes from elsewhere
			from := rng.IntN(len(b))
			copy(b[at:], b[from:min(len(b), from+1+rng.IntN(60))])
		default:
			switch n := min(1+rng.IntN(20), len(b)-at); rng.IntN(3) {
			case 0:
				b = slices.Delete(b, at, at+n)
			case 1:
				b = slices.Insert(b, at, b[at:at+n]...)
			default:
				b = b[:at]
			}
		}
	}
	return b
}

// Subject is the copy of a file or directory, whose files are mutated.
type Subject struct {
	Path  string
	Files []string
	Bytes [][]byte // the original contents of the files
}

// Copy copies a file or directory into the directory dir.
func Copy(t testing.TB, from, dir string) Subject {
	t.Helper()
	s := Subject{Path: filepath.Join(dir, filepath.Base(from))}
	err := filepath.WalkDir(from, func(p string, d fs.DirEntry, err error) error {
		to := filepath.Join(dir, strings.TrimPrefix(p, filepath.Dir(from)))
		if err != nil || d.IsDir() {
			return errors.Join(err, os.MkdirAll(to, 0o777))
		}
		b, err := os.ReadFile(p)
		s.Files, s.Bytes = append(s.Files, to), append(s.Bytes, b)
		return errors.Join(err, os.WriteFile(to, b, 0o666))
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Fixtures copies everything in folders of testdata, except the manifests, into the directory dir. testdata is the path
// of testdata.
func Fixtures(t testing.TB, testdata, dir string, folders ...string) (list []Subject) {
	t.Helper()
	for _, folder := range folders {
		entries, err := os.ReadDir(filepath.Join(testdata, folder))
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			if filepath.Ext(e.Name()) != ".json" {
				list = append(list, Copy(t, filepath.Join(testdata, folder, e.Name()), dir))
			}
		}
	}
	return list
}

// Mutate writes a mutation of one of the files, and returns the name of the file. Its number and name are printed if a
// parent process reads them.
func (s *Subject) Mutate(t testing.TB, number int, rng *rand.Rand) string {
	t.Helper()
	k := rng.IntN(len(s.Files))
	if isChild() {
		fmt.Printf("mutation %d of %s\n", number, s.Files[k]) // the last one, if the process ends
	}
	write(t, s.Files[k], Bytes(rng, s.Bytes[k]))
	return s.Files[k]
}

// Restore restores all files, and removes others from a directory.
func (s *Subject) Restore(t testing.TB) {
	t.Helper()
	if fi, err := os.Stat(s.Path); err == nil && fi.IsDir() {
		if err := os.RemoveAll(s.Path); err != nil {
			t.Fatal(err)
		}
	}
	for i, name := range s.Files {
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			t.Fatal(err)
		}
		write(t, name, s.Bytes[i])
	}
}

func write(t testing.TB, name string, b []byte) {
	t.Helper()
	if err := os.WriteFile(name, b, 0o666); err != nil {
		t.Fatal(err)
	}
}
