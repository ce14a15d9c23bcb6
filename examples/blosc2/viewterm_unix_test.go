//go:build linux || darwin || freebsd

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A tmux is a server of tmux with one terminal of 80x24, in which the command runs.
type tmux struct {
	t      *testing.T
	socket string
}

// startTmux runs the command in tmux. It skips the test if tmux is not installed.
func startTmux(t *testing.T, args ...string) *tmux {
	t.Helper()
	if _, err := exec.LookPath("tmux"); err != nil {
		t.Skip("tmux is not installed: view is not tested on a terminal")
	}
	x := &tmux{t, filepath.Join(t.TempDir(), "tmux")}
	line := []string{"env", "BLOSC2_TEST_MAIN=1", "COLORTERM=truecolor"}
	for _, a := range append([]string{os.Args[0]}, args...) {
		line = append(line, "'"+a+"'")
	}
	x.run("-f", "/dev/null", "new-session", "-d", "-x", "80", "-y", "24", strings.Join(line, " ")+"; echo exit $?; cat")
	t.Cleanup(func() { exec.Command("tmux", "-S", x.socket, "kill-server").Run() })
	return x
}

// run runs tmux and returns its output.
func (x *tmux) run(args ...string) string {
	x.t.Helper()
	out, err := exec.Command("tmux", append([]string{"-S", x.socket}, args...)...).CombinedOutput()
	if err != nil {
		x.t.Fatalf("tmux %q: %v: %s", args, err, out)
	}
	return string(out)
}

// keys sends keys.
func (x *tmux) keys(names ...string) {
	x.t.Helper()
	x.run(append([]string{"send-keys"}, names...)...)
}

// wait waits until the screen contains words, and returns it.
func (x *tmux) wait(words string) string {
	x.t.Helper()
	end := time.Now().Add(30 * time.Second)
	for {
		text := x.run("capture-pane", "-p")
		if strings.Contains(text, words) {
			return text
		}
		if time.Now().After(end) {
			x.t.Fatalf("the screen has no %q:\n%s", words, text)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// TestViewInTmux opens an array of a store in a terminal, with keys in and screens out.
func TestViewInTmux(t *testing.T) {
	path := filepath.Join(fixturesDir, "stores", "tree.b2z")
	x := startTmux(t, "view", path)
	x.wait("/img/level0")
	x.keys("Enter")
	if got, want := x.wait("[0, 0] = 52"), must(t, "", "view", path+"/img/level0"); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	x.keys("Down", "Right", "NPage")
	x.wait("[22, 1] = 206")
	x.keys("End")
	x.wait("[22, 63] = 204")
	x.keys(":", "5:9, 40:50", "Enter")
	x.wait("[5, 40] = ")
	x.keys("y")
	x.wait("copied 40 items")
	x.wait("5:26, 40:59") // the place in the header
	x.keys("m")
	x.wait("▀▀▀▀▀▀▀▀")
	x.keys("c")
	x.wait("chunk 0 (0, 0)")
	x.keys("i")
	x.wait("codec           zstd, level 5")
	x.keys("?")
	x.wait("copy the selection in NumPy's notation")
	x.run("resize-window", "-x", "40", "-y", "12")
	x.keys("b", "b", "b")
	x.wait("enter: open")
	x.keys("j", "j", "j", "Enter")
	x.wait("(10, 3) <f8")
	x.keys("q")
	x.wait("exit 0")
}

// TestViewCopies checks what view sends to the clipboard, and that a click moves the cursor.
func TestViewCopies(t *testing.T) {
	x := startTmux(t, "view", newArray(t))
	x.run("set-option", "-s", "set-clipboard", "on")
	x.wait("[0, 0] = 0")
	x.keys("v", "Down", "Right", "y")
	x.wait("copied 4 items")
	if got, want := x.run("show-buffer"), "0\t4\n19\t19\n"; got != want {
		t.Errorf("the clipboard has %q, want %q", got, want)
	}
	x.keys("Y")
	x.wait("copied 0:2, 0:2")
	if got := x.run("show-buffer"); got != "0:2, 0:2" {
		t.Errorf("the clipboard has %q", got)
	}
	x.run("send-keys", "-l", "\x1b[<0;2;8M") // a click at column 2 of line 8
	x.wait("[5, 1] = ")
	x.keys("C-c")
	x.wait("exit 0")
}

// TestViewTerminal checks that NO_COLOR is respected, and that a signal ends view and restores the terminal.
func TestViewTerminal(t *testing.T) {
	s, tty := openScreen(t, 80)
	c := program(t, "view", newArray(t))
	c.Env = append(c.Env, "NO_COLOR=1")
	c.Stdin, c.Stdout, c.Stderr = tty, tty, tty
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	s.wait(t, `(?s)\[0, 0\].*= 0`) // a slow read leaves "reading" between the two
	s.pty.Write([]byte("m"))
	s.wait(t, "minimum to maximum")
	if out := s.String(); strings.Contains(out, "38;2;") || strings.Contains(out, "\x1b[36m") || strings.Contains(out, "38;5;") {
		t.Errorf("colors: %q", out)
	}
	c.Process.Signal(os.Interrupt)
	c.Wait()
	s.wait(t, "blosc2 view: interrupted")
	if out := s.String(); !strings.Contains(out, "\x1b[?1049l") {
		t.Errorf("after a signal: %q", out)
	}
	tty.Close()
}
