//go:build unix

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// completions are command lines and words that a shell must offer for them, and one that it must not.
var completions = []struct {
	words, offered, not string
}{
	{"blosc2 co", "compact completion copy", "info"},
	{"blosc2 help comp", "compact completion", "copy"},
	{"blosc2 help info c", "", "compact"},
	{"blosc2 slice -", "-csv -npy -progress -raw -text", "-json"},
	{"blosc2 info slice -", "-chunks -json -tree", "-csv"}, // a file named like a verb
	{"blosc2 copy -codec z", "zfp_acc zfp_prec zfp_rate zlib zstd", "lz4"},
	{"blosc2 plot -kind h", "heat histogram", "line"},
	{"blosc2 completion ", "bash fish zsh", "other.b2nd"},
	{"blosc2 vlmeta one.b2nd ", "delete get list set", "other.b2nd"},
	{"blosc2 vlmeta o", "one.b2nd other.b2nd", "list"},
	{"blosc2 diff -n 3 one.b2nd o", "one.b2nd other.b2nd", "info"},
	{"blosc2 create -meta a={} -me", "-meta", "-checksums"},
	{"blosc2 version o", "", "one.b2nd"},
}

// completionDir returns a folder with files to complete and a script.
func completionDir(t *testing.T, shell, script string) string {
	t.Helper()
	if _, err := exec.LookPath(shell); err != nil {
		t.Skipf("%s is not installed: its completions are not run", shell)
	}
	dir := t.TempDir()
	for name, text := range map[string]string{"one.b2nd": "", "other.b2nd": "", script: must(t, "", "completion", shell)} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// checkOffered compares what a shell offers with completions[i].
func checkOffered(t *testing.T, i int, offered []string) {
	t.Helper()
	c := completions[i]
	has := map[string]bool{}
	for _, w := range offered {
		has[w] = true
	}
	for _, w := range strings.Fields(c.offered) {
		if !has[w] {
			t.Errorf("%q: no %s in %q", c.words, w, offered)
		}
	}
	if has[c.not] {
		t.Errorf("%q: %s in %q", c.words, c.not, offered)
	}
}

// TestFishCompletion completes command lines with fish.
func TestFishCompletion(t *testing.T) {
	dir := completionDir(t, "fish", "scripts/blosc2.fish")
	for i, c := range completions {
		run := exec.Command("fish", "--no-config", "-c", fmt.Sprintf("source scripts/blosc2.fish; complete -C '%s'", c.words))
		run.Dir = dir
		run.Env = append(os.Environ(), "HOME="+dir)
		out, err := run.CombinedOutput()
		if err != nil {
			t.Fatalf("%q: %v: %s", c.words, err, out)
		}
		var offered []string
		for line := range strings.Lines(string(out)) {
			word, _, _ := strings.Cut(strings.TrimSpace(line), "\t")
			offered = append(offered, word)
		}
		checkOffered(t, i, offered)
	}
}

// TestZshCompletion completes command lines with zsh on a terminal, which shows the list of the words.
func TestZshCompletion(t *testing.T) {
	dir := completionDir(t, "zsh", "scripts/_blosc2")
	s, tty := openScreen(t, 200)
	c := exec.Command("zsh", "-f", "-i")
	c.Dir = dir
	c.Env = append(os.Environ(), "HOME="+dir, "TERM=dumb", "LC_ALL=C")
	c.Stdin, c.Stdout, c.Stderr = tty, tty, tty
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	tty.Close()
	send := func(text string) {
		t.Helper()
		if _, err := s.pty.WriteString(text); err != nil {
			t.Fatal(err)
		}
	}
	// Each line is listed without being completed, and then cleared. A comment of the list follows. Before a prompt,
	// the terminal would handle the keys, not zsh.
	send("PROMPT='>>> '; fpath=($PWD/scripts $fpath); autoload -Uz compinit; compinit -D -u; LISTMAX=10000; bindkey '^T' list-choices; unsetopt beep; " +
		"setopt interactive_comments no_always_last_prompt; echo REA''DY\n")
	s.wait(t, `(?s)READY\r?\n.*>>> `)
	for i, x := range completions {
		before := len(s.String())
		send(x.words + "\x14")
		send("\x15echo END''" + fmt.Sprint(i) + "\n")
		s.wait(t, fmt.Sprintf(`(?s)END%d\r?\n.*>>> `, i))
		_, list, _ := strings.Cut(s.String()[before:], x.words)
		list, _, _ = strings.Cut(list, "echo END")
		checkOffered(t, i, strings.Fields(list))
	}
	send("exit\n")
	if err := c.Wait(); err != nil {
		t.Error(err)
	}
}

// TestBashCompletion completes the name of a file with a space in bash on a terminal, and then runs the line.
func TestBashCompletion(t *testing.T) {
	dir := completionDir(t, "bash", "scripts/blosc2")
	writeFile(t, filepath.Join(dir, "with space.b2nd"), "")
	s, tty := openScreen(t, 200)
	c := exec.Command("bash", "--norc", "--noprofile", "-i")
	c.Dir = dir
	c.Env = append(os.Environ(), "HOME="+dir, "TERM=dumb", "LC_ALL=C", "PS1=>>> ", "INPUTRC=/dev/null", "HISTFILE=")
	c.Stdin, c.Stdout, c.Stderr = tty, tty, tty
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	tty.Close()
	send := func(text, wait string) {
		t.Helper()
		if _, err := s.pty.WriteString(text); err != nil {
			t.Fatal(err)
		}
		s.wait(t, wait)
	}
	send("", `>>> `)
	send("source scripts/blosc2; blosc2() { printf '<%s>' \"$@\"; echo; }; echo REA''DY\n", `READY\r?\n.*>>> `)
	send("blosc2 info wi\t\n", `<info><with space\.b2nd>`)
	send("blosc2 veri\ton\t\n", `<verify><one\.b2nd>`)
	if _, err := s.pty.WriteString("exit\n"); err != nil {
		t.Fatal(err)
	}
	if err := c.Wait(); err != nil {
		t.Error(err)
	}
}
