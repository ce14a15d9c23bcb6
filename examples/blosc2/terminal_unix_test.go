//go:build linux || darwin || freebsd

package main

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
)

// TestMain runs the program in place of the tests if the environment asks for it. The value "stuck" is a verb that
// does not notice the end of its context.
func TestMain(m *testing.M) {
	switch os.Getenv("BLOSC2_TEST_MAIN") {
	case "1":
		main()
	case "stuck":
		untilSignal()
		os.Stderr.WriteString("ready\n")
		time.Sleep(time.Minute)
	default:
		os.Exit(m.Run())
	}
}

// program returns the command as a process of its own.
func program(t testing.TB, args ...string) *exec.Cmd {
	c := exec.CommandContext(t.Context(), os.Args[0], args...)
	c.Env = append(os.Environ(), "BLOSC2_TEST_MAIN=1", "TERM=xterm", "NO_COLOR=")
	return c
}

// screen collects what a program writes to a terminal.
type screen struct {
	pty  *os.File
	lock sync.Mutex
	text bytes.Buffer
	done chan struct{}
}

// open opens a terminal.
func openScreen(t *testing.T, columns uint16) (*screen, *os.File) {
	t.Helper()
	p, tty, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	if err := pty.Setsize(p, &pty.Winsize{Rows: 24, Cols: columns}); err != nil {
		t.Fatal(err)
	}
	s := &screen{pty: p, done: make(chan struct{})}
	go func() {
		defer close(s.done)
		b := make([]byte, 4096)
		for {
			n, err := p.Read(b)
			s.lock.Lock()
			s.text.Write(b[:n])
			s.lock.Unlock()
			if err != nil {
				return
			}
		}
	}()
	t.Cleanup(func() { p.Close() })
	return s, tty
}

// String returns the output up to now.
func (s *screen) String() string {
	s.lock.Lock()
	defer s.lock.Unlock()
	return strings.ReplaceAll(s.text.String(), "\r\n", "\n")
}

// wait waits until the text matches an expression.
func (s *screen) wait(t *testing.T, expr string) {
	t.Helper()
	re := regexp.MustCompile(expr)
	for end := time.Now().Add(30 * time.Second); !re.MatchString(s.String()); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("the terminal shows %q, want %s", s, expr)
		}
	}
}

// onTerminal runs the command with a terminal for everything, and returns what it shows.
func onTerminal(t *testing.T, columns uint16, env string, args ...string) (string, error) {
	t.Helper()
	s, tty := openScreen(t, columns)
	c := program(t, args...)
	c.Env = append(c.Env, env)
	c.Stdin, c.Stdout, c.Stderr = tty, tty, tty
	err := c.Run()
	tty.Close()
	<-s.done
	return s.String(), err
}

// TestTerminalOutput runs verbs on a terminal: slice prints text, bytes need a request, and only terminals have colors.
func TestTerminalOutput(t *testing.T) {
	a := newArray(t)
	if out, err := onTerminal(t, 80, "", "slice", a, ":2"); err != nil || out != must(t, "", "slice", "-text", a, ":2") || !strings.HasPrefix(out, "[[") {
		t.Errorf("slice: %q, %v", out, err)
	}
	if out, err := onTerminal(t, 12, "", "slice", a, ":"); err != nil || strings.Count(out, "\n") < 7 {
		t.Errorf("slice in 12 columns: %q, %v", out, err)
	}
	for _, args := range [][]string{{"dump", a}, {"dump", "-npy", a}, {"slice", "-npy", a, ":"}, {"copy", a, "-"}} {
		if out, err := onTerminal(t, 80, "", args...); err == nil || !strings.Contains(out, "standard output is a terminal") {
			t.Errorf("%q: %q, %v", args, out, err)
		}
	}
	for _, args := range [][]string{{"dump", "-raw", a}, {"slice", "-raw", a, ":"}} {
		if out, err := onTerminal(t, 80, "", args...); err != nil || !strings.Contains(out, "\x03\x00\x00\x00") && len(out) < 100 {
			t.Errorf("%q: %q, %v", args, out, err)
		}
	}
	text := filepath.Join(t.TempDir(), "s.b2nd")
	must(t, "\x1b[1m\u202e", "create", "-dtype", "S7", text)
	if out, err := onTerminal(t, 80, "", "slice", "-csv", text, ":"); err != nil || out != `\x1b[1m\u202e`+"\n" {
		t.Errorf("slice -csv: %q, %v", out, err)
	}
	if out := must(t, "", "slice", "-csv", text, ":"); out != "\x1b[1m\u202e\n" {
		t.Errorf("slice -csv to a pipe: %q", out)
	}
	must(t, "\x1b\x00\x00\x00\x07\x00\x00\x00", "create", "-dtype", "<U2", "-overwrite", text)
	if out, err := onTerminal(t, 80, "", "slice", text, "0"); err != nil || out != `\x1b\x07`+"\n" {
		t.Errorf("slice of an item: %q, %v", out, err)
	}
	if out := must(t, "", "slice", "-text", text, "0"); out != "\x1b\x07\n" {
		t.Errorf("slice of an item to a pipe: %q", out)
	}
	info := must(t, "", "info", a)
	if out, err := onTerminal(t, 80, "", "info", a); err != nil || !strings.Contains(out, "\x1b[") || uncolored(out) != info {
		t.Errorf("info: %q, %v", out, err)
	}
	for _, env := range []string{"NO_COLOR=1", "TERM=dumb"} {
		if out, err := onTerminal(t, 80, env, "info", a); err != nil || out != info {
			t.Errorf("info with %s: %q, %v", env, out, err)
		}
	}
}

// TestTerminalInput runs verbs without their input on a terminal.
func TestTerminalInput(t *testing.T) {
	a, dir := newArray(t), t.TempDir()
	for _, args := range [][]string{{"create", dir + "/out"}, {"create", "-raw", dir + "/out"}, {"append", a}, {"set", a, ":"}} {
		out, err := onTerminal(t, 200, "", args...)
		if err == nil || !strings.Contains(out, "argument IN is missing, and standard input is a terminal") {
			t.Errorf("%q: %q, %v", args, out, err)
		}
	}
}

// uncolored drops escape sequences.
func uncolored(s string) string { return regexp.MustCompile(`\x1b\[[0-9;]*m`).ReplaceAllString(s, "") }

// slowCreate starts a create with a terminal for standard error, and returns a function that feeds it.
func slowCreate(t *testing.T, out string, args ...string) (*exec.Cmd, *screen, io.WriteCloser) {
	t.Helper()
	s, tty := openScreen(t, 100)
	c := program(t, append([]string{"create", "-dtype", "<i4", "-shape", "1000000", "-chunks", "1000", out}, args...)...)
	c.Stderr = tty
	w, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	tty.Close()
	return c, s, w
}

// feed writes a part of the data.
func feed(t *testing.T, w io.Writer, items int) {
	t.Helper()
	if _, err := io.WriteString(w, numbers(items)); err != nil {
		t.Fatal(err)
	}
}

// TestTerminalProgress expects no progress in the first second, then a rate and the remaining time, and at the end a
// terminal without it.
func TestTerminalProgress(t *testing.T) {
	out := filepath.Join(t.TempDir(), "a.b2nd")
	c, s, w := slowCreate(t, out)
	feed(t, w, 400_000)
	time.Sleep(300 * time.Millisecond)
	if got := s.String(); got != "" {
		t.Errorf("progress after 0.3 s: %q", got)
	}
	s.wait(t, `40%.*\(1\.6/4\.0 MB, [0-9.]+ [kM]B/s\) \[[0-9]+s:[0-9]+s\]`)
	feed(t, w, 600_000)
	w.Close()
	if err := c.Wait(); err != nil {
		t.Errorf("%v: %s", err, s)
	}
	<-s.done
	if got := s.String(); strings.Contains(got, "\n") || !strings.HasSuffix(strings.TrimRight(got, "\r"), "\x1b[2K") && !strings.HasSuffix(strings.TrimRight(got, "\r"), " ") {
		t.Errorf("the terminal shows %q at the end", got)
	}
	must(t, "", "verify", out)
}

// TestTerminalProgressOfSet expects the rate and the remaining time of a verb that edits. It reads the data, and then
// writes it.
func TestTerminalProgressOfSet(t *testing.T) {
	a := filepath.Join(t.TempDir(), "a.b2nd")
	must(t, numbers(1_000_000), "create", "-raw", "-shape", "1000,1000", "-dtype", "<i4", a)
	s, tty := openScreen(t, 100)
	c := program(t, "set", "-raw", a, ":")
	c.Stdout, c.Stderr = tty, tty
	w, err := c.StdinPipe()
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	tty.Close()
	feed(t, w, 400_000)
	s.wait(t, `20%.*\(1\.6/8\.0 MB, [0-9.]+ [kM]B/s\) \[[0-9]+s:[0-9]+s\]`)
	feed(t, w, 600_000)
	w.Close()
	if err := c.Wait(); err != nil {
		t.Errorf("%v: %s", err, s)
	}
	<-s.done
	if got := strings.TrimRight(s.String(), "\r"); !strings.HasSuffix(got, "\x1b[2K") && !strings.HasSuffix(got, " ") {
		t.Errorf("the terminal shows %q at the end", got)
	}
}

// TestProgressOption writes progress to what is no terminal only if the option asks for it.
func TestProgressOption(t *testing.T) {
	a := newArray(t)
	code, _, errOut := callFree("", "verify", "-progress", a)
	if code != 0 || !strings.Contains(errOut, "100%") || strings.Contains(errOut, "\x1b") {
		t.Errorf("exit %d, %q", code, errOut)
	}
	if _, _, errOut := callFree("", "copy", a, a+"2"); errOut != "" {
		t.Errorf("%q", errOut)
	}
}

// names returns the files of a folder.
func names(t *testing.T, dir string) []string {
	t.Helper()
	var list []string
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range entries {
		list = append(list, x.Name())
	}
	return list
}

// awaitFile waits until a folder has a file.
func awaitFile(t *testing.T, dir string) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); len(names(t, dir)) == 0; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("no temporary file")
		}
	}
}

// TestSignals interrupts create with several signals at once. It removes its temporary files, except when it is killed:
// then verify names them, and repair removes them.
func TestSignals(t *testing.T) {
	// Under nohup a process ignores the signal, and so do its children, unless it handles it.
	hangup := make(chan os.Signal, 1)
	signal.Notify(hangup, syscall.SIGHUP)
	defer signal.Stop(hangup)
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGKILL} {
		for _, form := range []string{"-sparse=false", "-sparse"} {
			dir := t.TempDir()
			out := filepath.Join(dir, "a.b2nd")
			c, s, w := slowCreate(t, out, form)
			feed(t, w, 100_000)
			awaitFile(t, dir)
			if err := c.Process.Signal(sig); err != nil {
				t.Fatal(err)
			}
			for range 5 { // timeout sends it twice
				time.Sleep(200 * time.Microsecond)
				c.Process.Signal(sig)
			}
			err := c.Wait()
			<-s.done
			left := names(t, dir)
			if sig != syscall.SIGKILL {
				if code := c.ProcessState.ExitCode(); code != 1 || len(left) > 0 || !strings.HasSuffix(s.String(), "blosc2 create: interrupted\n") {
					t.Errorf("%v, %s: exit %d, %v, files %v, %q", sig, form, code, err, left, s)
				}
				continue
			}
			if len(left) != 1 {
				t.Errorf("%v, %s: files %v", sig, form, left)
				continue
			}
			if _, _, errOut := callFree("", "verify", out); !strings.Contains(errOut, left[0]+": temporary file") {
				t.Errorf("%s: verify: %q", form, errOut)
			}
			must(t, "", "repair", "-clean", out)
			if left := names(t, dir); len(left) > 0 {
				t.Errorf("%s: repair left %v", form, left)
			}
		}
	}
}

// TestControlC presses Ctrl-C on a terminal: once for a create, and twice for a program that does not stop.
func TestControlC(t *testing.T) {
	start := func(env string, args ...string) (*exec.Cmd, *screen) {
		s, tty := openScreen(t, 80)
		c := program(t, args...)
		c.Env = append(c.Env, env)
		c.Stdin, c.Stdout, c.Stderr = tty, tty, tty
		c.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		tty.Close()
		return c, s
	}
	press := func(s *screen) {
		if _, err := s.pty.Write([]byte{3}); err != nil {
			t.Fatal(err)
		}
	}
	dir := t.TempDir()
	c, s := start("", "create", "-progress", "-raw", "-shape", "100000", filepath.Join(dir, "a"), "-")
	if _, err := s.pty.Write([]byte("input\n")); err != nil {
		t.Fatal(err)
	}
	s.wait(t, "%")
	press(s)
	c.Wait()
	<-s.done
	if code := c.ProcessState.ExitCode(); code != 1 || !strings.HasSuffix(s.String(), "interrupted\n") || len(names(t, dir)) > 0 {
		t.Errorf("exit %d, %q, files %v", code, s, names(t, dir))
	}
	c, s = start("BLOSC2_TEST_MAIN=stuck")
	s.wait(t, "ready")
	press(s)
	time.Sleep(signalsApart + 200*time.Millisecond)
	press(s)
	var exit *exec.ExitError
	if err := c.Wait(); !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGINT {
		t.Errorf("after the second Ctrl-C: %v", err)
	}
}
