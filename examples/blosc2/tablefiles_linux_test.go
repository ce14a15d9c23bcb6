package main

import (
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/goblosc/blosc2/internal/tabletest"
)

// TestFewFiles prints a table with more columns than the process may have files. Only -csv needs all of them at once.
func TestFewFiles(t *testing.T) {
	const columns = 2 * mostOpen
	var list, text []string
	for i := range columns {
		list, text = append(list, fmt.Sprintf(`{"name": "c%d", "kind": "int32"}`, i)), append(text, fmt.Sprintf(`"c%d": [5]`, i))
	}
	b := tabletest.New(t, strings.Join(list, ", "), tabletest.AllLive(1))
	for i := range columns {
		tabletest.Write(b, fmt.Sprintf("_cols/c%d", i), []int64{1}, []int32{5})
	}
	open, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	few := limit
	few.Cur = uint64(len(open) + mostOpen + 20)
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &few); err != nil {
		t.Fatal(err)
	}
	defer syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit)
	if got, want := must(t, "", "table", "-json", b.Dir), `{"rows": 1, "columns": {`+strings.Join(text, ", ")+"}}\n"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	fails(t, 1, "too many open files", "", "table", "-csv", b.Dir)
}
