// Package golden reads the tables that tests compare with: compressed text files, one case a line.
package golden

import (
	"compress/gzip"
	"io"
	"os"
	"strings"
	"testing"
)

// Lines returns the lines of a compressed text file. It ends the test if it cannot read the file or there are none.
func Lines(t testing.TB, file string) []string {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	if len(text) == 0 {
		t.Fatalf("%s is empty", file)
	}
	return strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
}
