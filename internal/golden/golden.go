// Package golden reads the tables that tests compare with: compressed text files, one case a line.
package golden

import (
	"compress/gzip"
	"io"
	"os"
	"strconv"
	"strings"
	"testing"
)

// Lines returns the lines of a compressed text file. It ends the test if the file is missing or empty.
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

// Ints parses numbers with commas between them. Empty text has none.
func Ints(t testing.TB, s string) []int64 {
	t.Helper()
	list := []int64{}
	for f := range strings.SplitSeq(s, ",") {
		if f == "" {
			continue
		}
		n, err := strconv.ParseInt(f, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, n)
	}
	return list
}
