package storage

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// TestMapped reads a mapped file in memory and after the end that it had when it was mapped.
func TestMapped(t *testing.T) {
	name := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(name, []byte("0123456789"), 0o666); err != nil {
		t.Fatal(err)
	}
	b, err := OpenFile(OS(), name, false)
	if err != nil {
		t.Fatal(err)
	}
	b = Map(b)
	defer b.Close()
	m, ok := b.(*Mapped)
	if !ok {
		t.Skip("this system maps no files")
	}
	f, err := os.OpenFile(name, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString("abc"); err != nil {
		t.Fatal(err)
	}
	if got := m.View(2, 8); string(got) != "23456789" || cap(got) != 8 {
		t.Errorf("%q with capacity %d", got, cap(got))
	}
	for _, x := range [][2]int64{{-1, 1}, {2, 9}, {11, 0}, {10, 3}, {1, 1 << 62}} {
		if got := m.View(x[0], x[1]); got != nil {
			t.Errorf("view of %d bytes at %d: %q", x[1], x[0], got)
		}
	}
	if got, err := ReadAll(m, 8, 5); err != nil || !bytes.Equal(got, []byte("89abc")) {
		t.Errorf("%q, %v", got, err)
	}
}
