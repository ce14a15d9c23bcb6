//go:build linux || darwin || freebsd

package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/goblosc/blosc2/ndarray"
)

// TestBrokenPipe runs verbs whose output nothing reads, as after the end of head. SIGPIPE ends them, and they write no
// error. A create from a large pipe leaves no temporary file.
func TestBrokenPipe(t *testing.T) {
	a := filepath.Join(t.TempDir(), "a.b2nd")
	must(t, numbers(1000), "create", "-raw", a)
	input := strings.Repeat("not zero", 33<<17) // more than create keeps in memory
	for _, args := range [][]string{{"slice", "-csv", a, ":"}, {"create", "-raw", "-level", "0", "-"}} {
		temp := t.TempDir()
		c := program(t, args...)
		c.Env = append(c.Env, "TMPDIR="+temp)
		c.Stdin = strings.NewReader(input)
		var errOut strings.Builder
		c.Stderr = &errOut
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		r.Close()
		c.Stdout = w
		err = c.Run()
		w.Close()
		var exit *exec.ExitError
		if !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGPIPE || errOut.Len() > 0 {
			t.Errorf("%q: %v, %q", args, err, &errOut)
		}
		if left := names(t, temp); len(left) > 0 {
			t.Errorf("%q: left %v", args, left)
		}
	}
}

// TestOverwritePipe expects that -overwrite replaces a link, but no pipe.
func TestOverwritePipe(t *testing.T) {
	dir, a := t.TempDir(), newArray(t)
	pipe, link := filepath.Join(dir, "pipe"), filepath.Join(dir, "link")
	if err := errors.Join(syscall.Mkfifo(pipe, 0o666), os.Symlink(a, link)); err != nil {
		t.Fatal(err)
	}
	before := readFile(t, a)
	for verb, hint := range map[string]string{"copy": "; use - for standard output", "plot": "; use - for standard output", "repair": "", "create": "; use - for standard output"} {
		args := []string{verb, "-overwrite", a, pipe}
		if verb == "create" {
			args = []string{verb, "-raw", "-overwrite", pipe, a}
		}
		fails(t, 1, ": "+pipe+" is not a regular file"+hint+"\n", "", args...)
		if fi, err := os.Lstat(pipe); err != nil || fi.Mode().Type() != os.ModeNamedPipe {
			t.Errorf("%s: %v, %v", verb, fi.Mode(), err)
		}
	}
	must(t, "", "copy", "-overwrite", a, link)
	if fi, err := os.Lstat(link); err != nil || !fi.Mode().IsRegular() || readFile(t, a) != before {
		t.Errorf("%v, %v", fi.Mode(), err)
	}
}

// TestLockedPipe edits an array with items from a named pipe, whose writer holds the lock of the array.
func TestLockedPipe(t *testing.T) {
	name, pipe := filepath.Join(t.TempDir(), "a.b2nd"), filepath.Join(t.TempDir(), "pipe")
	a, err := ndarray.Create(t.Context(), name, []int64{4}, []int32{1, 2, 3, 4}, &ndarray.CreateOptions{Locking: true})
	if errors.Is(err, errors.ErrUnsupported) {
		t.Skip("no file locks here")
	} else if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	if err := syscall.Mkfifo(pipe, 0o666); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"append", "-raw", name, pipe}, {"set", "-raw", name, "4:", pipe}} {
		in := lockedItems(t, a, 4)
		done := make(chan error, 1)
		go func() {
			w, err := os.OpenFile(pipe, os.O_WRONLY, 0)
			if err == nil {
				_, err = io.Copy(w, in)
				err = errors.Join(err, w.Close())
			}
			done <- err
		}()
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		if code := run(ctx, args, nil, io.Discard, io.Discard); code != 0 {
			t.Fatalf("%q: exit status %d", args, code)
		}
		cancel()
		if err := errors.Join(<-done, in.Close()); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := ndarray.Read[int32](t.Context(), a); err != nil || !slices.Equal(got, []int32{1, 2, 3, 4, 1, 2, 3, 4}) {
		t.Errorf("%v, %v", got, err)
	}
	plain := filepath.Join(t.TempDir(), "plain")
	must(t, "bytes", "create", "-chunksize", "400", "-raw", plain)
	if err := errors.Join(os.WriteFile(plain+".b2lock", nil, 0o666), syscall.Mkfifo(pipe+".npy", 0o666)); err != nil {
		t.Fatal(err)
	}
	go os.WriteFile(pipe+".npy", []byte("garbage"), 0)
	fails(t, 1, "not a valid .npy file", "", "append", plain, pipe+".npy")
	fails(t, 1, "more than 16 bytes", "", "set", "-raw", name, ":4", "/dev/zero") // it has no end
}

// TestPlotMode expects that the picture has the permissions that the file mode mask leaves.
func TestPlotMode(t *testing.T) {
	a, out := newArray(t), filepath.Join(t.TempDir(), "p.png")
	defer syscall.Umask(syscall.Umask(0o077))
	must(t, "", "plot", a, out)
	if fi, err := os.Stat(out); err != nil || fi.Mode() != 0o600 {
		t.Errorf("%v, %v", fi.Mode(), err)
	}
}

// TestInterruptedInput interrupts create while it waits for a pipe with a name: for a process that writes to it, and
// for the bytes of one.
func TestInterruptedInput(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"without", "silent"} {
		pipe := filepath.Join(dir, name)
		if err := syscall.Mkfifo(pipe, 0o666); err != nil {
			t.Fatal(err)
		}
		if name == "silent" {
			w, err := os.OpenFile(pipe, os.O_RDWR, 0)
			if err != nil {
				t.Fatal(err)
			}
			defer w.Close()
		}
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		done := make(chan int, 1)
		go func() {
			done <- run(ctx, []string{"create", "-raw", filepath.Join(dir, "out"), pipe}, nil, io.Discard, io.Discard)
		}()
		select {
		case code := <-done:
			if code != 1 {
				t.Errorf("%s: exit %d", name, code)
			}
		case <-time.After(10 * time.Second):
			t.Errorf("%s: create does not end", name)
		}
	}
}

// TestReadPipe expects that verbs which read a file return an error for a pipe, and do not wait for its other end.
func TestReadPipe(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := errors.Join(syscall.Mkfifo(pipe, 0o666), syscall.Mkfifo(pipe+".npy", 0o666)); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"info"}, {"dump"}, {"slice"}, {"ls"}, {"table"}, {"objects"}, {"stats"}, {"bench"}, {"view"}, {"verify"}, {"vlmeta"},
		{"stats", "-progress"}, {"bench", ".npy"}} {
		if args[len(args)-1] == ".npy" {
			args[len(args)-1] = pipe + ".npy"
		} else {
			args = append(args, pipe)
		}
		if args[0] == "slice" {
			args = append(args, ":")
		}
		var errOut bytes.Buffer
		done := make(chan int, 1)
		go func() { done <- run(t.Context(), args, nil, io.Discard, &errOut) }()
		select {
		case code := <-done:
			if code != 1 || !strings.Contains(errOut.String(), " not a ") {
				t.Errorf("%q: exit %d, %q", args, code, &errOut)
			}
		case <-time.After(10 * time.Second):
			t.Fatalf("%q does not end", args)
		}
	}
	if fault, err := verifyChunkFile(pipe); !errors.Is(fault, errNotRegular) || err != nil {
		t.Errorf("%v, %v", fault, err)
	}
}

// TestBenchCommand runs the command that bench recommends in a shell's words.
func TestBenchCommand(t *testing.T) {
	a := filepath.Join(t.TempDir(), "a.b2nd")
	must(t, numbers(5000), "create", "-dtype", "<i4", a)
	array := readFile(t, a)
	t.Chdir(t.TempDir())
	for name, content := range map[string]string{"a b.b2nd": array, "-x.b2nd": array, "it's $HOME.npy": npyFile([]int64{5000}, false, numbers(5000))} {
		if err := os.WriteFile(name, []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
		_, line, _ := strings.Cut(must(t, "", "bench", "-codecs", "lz4:1", "-filters", "none", "--", name), "\n  blosc2 ")
		words, err := exec.Command("sh", "-c", `printf '%s\n' `+line).Output()
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		must(t, "", append(strings.Split(strings.TrimSpace(string(words)), "\n"), "-overwrite")...)
		must(t, "", "verify", "NEW")
	}
}

// TestUnknownStore writes below a directory that the operating system fails to look at: it is unknown whether that is a
// store. Names that are too long for files are keys.
func TestUnknownStore(t *testing.T) {
	dir, a := storeOf(t, "s.b2d", "/a"), newArray(t)
	loop := filepath.Join(dir, "loop")
	if err := os.Symlink("loop", loop); err != nil {
		t.Fatal(err)
	}
	if is, err := isStore(loop); is || !errors.Is(err, syscall.ELOOP) {
		t.Errorf("isStore: %v, %v", is, err)
	}
	before := readFile(t, filepath.Join(dir, "embed.b2e"))
	for _, args := range [][]string{{"copy", a, loop + "/x"}, {"copy", "-overwrite", a, loop + "/x"}, {"resize", loop + "/x", "1"}} {
		if code, _, errOut := call(t, "", args...); code != 1 || !strings.Contains(errOut, syscall.ELOOP.Error()) {
			t.Errorf("%q: exit %d, %q", args, code, errOut)
		}
	}
	if after := readFile(t, filepath.Join(dir, "embed.b2e")); after != before {
		t.Error("the store has changed")
	}
	must(t, "", "copy", a, storeOf(t, "s.b2e", "/a")+"/"+strings.Repeat("long", 100)+"/x")
}

// TestOutputInSource expects that no verb writes to the directory of the frame that it reads, also not by a link.
func TestOutputInSource(t *testing.T) {
	a, path := newArray(t), copyTree(t, storesDir+"tree.b2d")
	t.Chdir(t.TempDir())
	must(t, "", "copy", "-sparse", a, "sp")
	if err := os.Symlink("sp", "link"); err != nil {
		t.Fatal(err)
	}
	before, want := names(t, "sp"), must(t, "", "dump", "sp")
	for _, name := range []string{"chunks.b2frame", "00000000.chunk", "new"} {
		for _, out := range []string{filepath.Join("sp", name), filepath.Join("link", name)} {
			for _, args := range [][]string{{"plot", "-svg"}, {"copy"}, {"repair"}} {
				fails(t, 1, " is in the directory sp", "", append(args, "-overwrite", "sp", out)...)
			}
		}
	}
	if after := names(t, "sp"); !slices.Equal(after, before) || must(t, "", "dump", "sp") != want {
		t.Errorf("%v, want %v", after, before)
	}
	must(t, "", "copy", path+"/img/level2", path+"/img.b2nd")
	must(t, "", "copy", path+"/img", path+"/img/new.b2nd") // below a leaf
}
