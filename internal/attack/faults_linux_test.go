package attack

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/goblosc/blosc2/frame"
)

// isFault reports whether an error is one of the faults that these tests cause.
func isFault(err error) bool {
	return errors.Is(err, unix.EFBIG) || errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EIO)
}

// inChild runs a test again in a child process, where it calls do and ends the process. In the parent it returns what
// the child prints.
func inChild(t *testing.T, attr *syscall.SysProcAttr, do func(dir string) error) string {
	t.Helper()
	if os.Getenv(envChild) == t.Name() {
		if err := do(os.Getenv(envDir)); err != nil {
			fmt.Println("FAULT", err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	c := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$", "-test.timeout=0", fmt.Sprint("-test.short=", testing.Short()))
	c.Env = append(os.Environ(), envChild+"="+t.Name(), envDir+"="+t.TempDir())
	c.SysProcAttr = attr
	out, err := c.CombinedOutput()
	if errors.Is(err, syscall.ENOEXEC) {
		t.Skip("programs cannot start others under emulation")
	}
	var exit *exec.ExitError
	if attr != nil && err != nil && !errors.As(err, &exit) {
		t.Skip("cannot start a process with a file system of its own:", err)
	}
	if reason, ok := strings.CutPrefix(string(out), "SKIP "); ok {
		t.Skip(strings.TrimSpace(reason))
	}
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return string(out)
}

// TestFileSizeLimit lets the operating system refuse writes past a file size (RLIMIT_FSIZE), at many sizes, while
// frames are made, copied, compacted, repaired and edited: the state before or after is left, and no temporary file.
func TestFileSizeLimit(t *testing.T) {
	out := inChild(t, nil, func(dir string) error {
		signal.Ignore(syscall.SIGXFSZ)
		var rlimit unix.Rlimit
		if err := unix.Getrlimit(unix.RLIMIT_FSIZE, &rlimit); err != nil {
			return err
		}
		step := 3000
		if testing.Short() {
			step = 7000
		}
		tried, failed := 0, 0
		for _, w := range faultWorks() {
			most := 64_000
			if w.sparse {
				most = 6000 // the files of a directory are smaller
			}
			for n := 0; n < most; n += step*most/64_000 + 1 {
				with := func(do func() error) error {
					limit := unix.Rlimit{Cur: uint64(n), Max: rlimit.Max}
					if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &limit); err != nil {
						return err
					}
					defer unix.Setrlimit(unix.RLIMIT_FSIZE, &rlimit)
					return do()
				}
				ok, err := tryFault(w, dir, with)
				if err != nil {
					return fmt.Errorf("%s, files of at most %d bytes: %w", w.name, n, err)
				}
				if tried++; !ok {
					failed++
				}
				if err := emptyFolder(dir); err != nil {
					return err
				}
			}
		}
		fmt.Printf("%d runs, %d of which failed", tried, failed)
		if failed < tried/4 || failed == tried {
			return errors.New("the limits are too high or too low")
		}
		return nil
	})
	t.Log(out)
}

// emptyFolder removes what a folder holds.
func emptyFolder(dir string) error {
	names, err := filepath.Glob(filepath.Join(dir, "*"))
	for _, name := range names {
		err = errors.Join(err, os.RemoveAll(name))
	}
	return err
}

// TestFullDisk makes, copies, compacts, repairs and edits frames in a small file system in memory that is nearly full,
// with less and less space.
func TestFullDisk(t *testing.T) {
	var attr *syscall.SysProcAttr
	if os.Getenv(envChild) == "" {
		attr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
			UidMappings: []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}},
			GidMappings: []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}}}
	}
	out := inChild(t, attr, func(dir string) error {
		if err := unix.Mount("blosc2", dir, "tmpfs", 0, "size=400k"); err != nil {
			fmt.Println("SKIP this system does not allow mounting a tmpfs:", err)
			return nil
		}
		defer unix.Unmount(dir, 0)
		step := 4096
		if testing.Short() {
			step = 40960
		}
		tried, failed := 0, 0
		for _, w := range faultWorks() {
			for left := 0; left < 160_000; left += step {
				with := func(do func() error) error {
					if err := fillDisk(dir, left); err != nil {
						return err
					}
					err := do()
					return errors.Join(err, os.Remove(filepath.Join(dir, "ballast")))
				}
				ok, err := tryFault(w, dir, with)
				if err != nil {
					return fmt.Errorf("%s, %d bytes left: %w", w.name, left, err)
				}
				if tried++; !ok {
					failed++
				}
				if err := emptyFolder(dir); err != nil {
					return err
				}
			}
		}
		fmt.Printf("%d runs, %d of which failed", tried, failed)
		if failed < tried/10 || failed == tried {
			return errors.New("too much or too little space")
		}
		return nil
	})
	t.Log(out)
}

// fillDisk writes a file that leaves about left bytes free.
func fillDisk(dir string, left int) error {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return err
	}
	n := int(st.Bavail)*int(st.Bsize) - left
	return os.WriteFile(filepath.Join(dir, "ballast"), make([]byte, max(0, n)), 0o666)
}

// TestInputError reads a frame from memory of this process through /proc/self/mem. One page is that of an empty file:
// the operating system returns EIO for it. An unmapped page would not do, because another thread may map memory there.
func TestInputError(t *testing.T) {
	if runtime.GOARCH == "386" {
		t.Log("positions in memory may be above the largest offset of a file of 32 bits")
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "frame")
	if err := makeFrame(path, false); err != nil {
		t.Fatal(err)
	}
	stored, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, err := content(path)
	if err != nil {
		t.Fatal(err)
	}
	mem, err := os.Open("/proc/self/mem")
	if err != nil {
		t.Skip("no /proc/self/mem:", err)
	}
	defer mem.Close()
	empty, err := os.Create(filepath.Join(dir, "empty"))
	if err != nil {
		t.Fatal(err)
	}
	defer empty.Close()
	page := os.Getpagesize()
	pages := (len(stored) + page - 1) / page
	faults := 0
	for k := -1; k < pages; k++ {
		area, err := unix.MmapPtr(-1, 0, nil, uintptr(pages*page), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
		if err != nil {
			t.Fatal(err)
		}
		base := int64(uintptr(area))
		copyTo(area, stored)
		if k >= 0 {
			_, err := unix.MmapPtr(int(empty.Fd()), 0, pageAt(area, k*page), uintptr(page), unix.PROT_READ, unix.MAP_SHARED|unix.MAP_FIXED)
			if err != nil {
				t.Fatal(err)
			}
		}
		if readWithHole(t, mem, base, len(stored), filepath.Join(dir, "copy"), before, k >= 0) {
			faults++
		}
		if err := unix.MunmapPtr(area, uintptr(pages*page)); err != nil {
			t.Fatal(err)
		}
	}
	if faults == 0 {
		t.Skip("reading a missing page is no error here")
	}
	t.Logf("%d of %d pages were missing, one at a time", faults, pages)
}

// readWithHole copies a frame in memory, and reports whether there was an error of the operating system.
func readWithHole(t *testing.T, mem *os.File, base int64, n int, name string, before []byte, missing bool) bool {
	t.Helper()
	f, err := frame.OpenReaderAt(t.Context(), io.NewSectionReader(mem, base, int64(n)), int64(n), &frame.OpenOptions{Concurrency: 1})
	if err != nil {
		if !missing || !errors.Is(err, unix.EIO) {
			t.Errorf("open: %v", err)
		}
		return true
	}
	defer f.Close()
	seen := false
	g, err := frame.Copy(context.Background(), name, f, &frame.CreateOptions{NoSync: true})
	_, err2 := saved(f)
	found := f.Verify(context.Background(), func(err error) error { return err })
	if (err != nil) != (err2 != nil) {
		t.Errorf("Copy: %v, Save: %v", err, err2)
	}
	for _, err := range []error{err, err2, found} {
		if err != nil && (!missing || !errors.Is(err, unix.EIO)) {
			t.Errorf("another error: %v", err)
		}
		seen = seen || err != nil
	}
	if err != nil {
		if s := snapshot(name); s != "" {
			t.Errorf("Copy fails and leaves %s", s)
		}
		return seen
	}
	g.Close()
	if got, err := content(name); err != nil || !bytes.Equal(got, before) {
		t.Errorf("the copy differs: %v", err)
	}
	os.RemoveAll(name)
	return seen
}
