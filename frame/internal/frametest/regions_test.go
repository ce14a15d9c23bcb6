//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package frametest

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/codec"
	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/internal/race"
)

// TestHostileRegions puts links, pipes, directories and holes under the names that Finish reads, writes and removes. It
// must end at once, touch nothing outside and take little memory. The frame is then finished and intact, or Finish
// succeeds after the files are gone.
func TestHostileRegions(t *testing.T) {
	const layoutFile, tempDir, finishDir = "unfinished.layout", "unfinished", "finishing"
	v := newOutside(t)
	beside := filepath.Dir(v.name)
	kinds := map[string]func(name string) error{
		"link outside":      func(name string) error { return os.Symlink(v.name, name) },
		"dangling link":     func(name string) error { return os.Symlink(v.name+".new", name) },
		"link to directory": func(name string) error { return os.Symlink(beside, name) },
		"link to itself":    func(name string) error { return os.Symlink(filepath.Base(name), name) },
		"link to the frame": func(name string) error { return os.Symlink(".", name) },
		"hard link":         func(name string) error { return os.Link(v.name, name) },
		"pipe":              func(name string) error { return syscall.Mkfifo(name, 0o600) },
		"empty directory":   func(name string) error { return os.Mkdir(name, 0o700) },
		"directory": func(name string) error {
			return os.MkdirAll(filepath.Join(name, "a", "b"), 0o700)
		},
		"empty file": func(name string) error { return os.WriteFile(name, nil, 0o600) },
		"hole": func(name string) error {
			err := os.WriteFile(name, []byte("\x05\x01\x93\x04"), 0o600)
			if err == nil {
				err = os.Truncate(name, 1<<40)
			}
			return err
		},
	}
	names := []string{chunkFile(2), chunkFile(0), tempDir, finishDir, indexFile, layoutFile, "0123456789abcdef.tmp", chunkFile(99), chunkFile(-1), "0000000a.chunk",
		tempDir + "/0123456789abcdef.tmp", tempDir + "/0123456789abcde0.tmp", finishDir + "/0123456789abcdef.tmp"}
	outcomes := map[string]int{} // for the log
	for kind, place := range kinds {
		for _, name := range names {
			t.Run(kind+" as "+name, func(t *testing.T) {
				dir := filepath.Join(t.TempDir(), "f")
				r := filledRegions(t, dir)
				defer r.Close()
				at := filepath.Join(dir, name)
				old, oldErr := os.ReadFile(at)
				must(t, os.RemoveAll(at))
				must(t, os.MkdirAll(filepath.Dir(at), 0o700))
				must(t, place(at))
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				var err error
				inTime(t, "Finish", at, func() { err = r.Finish(t.Context()) })
				runtime.ReadMemStats(&after)
				if used := after.TotalAlloc - before.TotalAlloc; used > 32<<20 && !race.Enabled {
					t.Errorf("%d bytes of memory", used)
				}
				if err != nil {
					outcomes["error"]++
					t.Log(err)
					must(t, os.RemoveAll(at)) // it may be gone
					if oldErr == nil {
						must(t, os.WriteFile(at, old, 0o600))
					}
					must(t, r.Finish(t.Context()))
				} else {
					outcomes["finished"]++
				}
				checkFilled(t, dir)
				v.check(t, kind)
				if list, err := os.ReadDir(beside); err != nil || len(list) != 1 {
					t.Errorf("%d files outside, %v", len(list), err)
				}
			})
		}
	}
	t.Log(outcomes)
}

// filledItems are the items of the frames of filledRegions: chunks of zeros, of one value, and of others.
func filledItems(i int) []byte {
	return bytes.Repeat([]byte{0, byte(i), byte(i * i)}, 64)[i%3 : 64+i%3]
}

// filledRegions returns a frame of six chunks that is not finished.
func filledRegions(t *testing.T, dir string) *frame.Regions {
	t.Helper()
	o := &frame.CreateOptions{ChunkSize: 64, Checksums: true, Params: chunk.Params{TypeSize: 1, Codec: codec.LZ4}, NoSync: true}
	r, err := frame.CreateRegions(t.Context(), dir, 6*64, o)
	must(t, err)
	for i := range 6 {
		must(t, r.Write(t.Context(), i, filledItems(i)))
	}
	return r
}

// checkFilled checks the frame of filledRegions when it is finished.
func checkFilled(t *testing.T, dir string) {
	t.Helper()
	f, err := frame.Open(t.Context(), dir, nil)
	must(t, err)
	defer f.Close()
	got, err := io.ReadAll(f.Content(t.Context()))
	var want []byte
	for i := range 6 {
		want = append(want, filledItems(i)...)
	}
	if err == nil && !bytes.Equal(got, want) {
		err = fmt.Errorf("content %x", got)
	}
	must(t, err)
	must(t, f.Verify(t.Context(), nil))
}
