//go:build linux || darwin || freebsd

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"

	"github.com/goblosc/blosc2/ndarray"
)

// BenchmarkView measures view on a terminal: from its start to the first screen, and from a key to the next screen. It
// shows an array of special values of 1 TB, or the array in the file BLOSC2_VIEW.
func BenchmarkView(b *testing.B) {
	path := os.Getenv("BLOSC2_VIEW")
	if path == "" {
		path = filepath.Join(b.TempDir(), "a.b2nd")
		if _, err := ndarray.Full(b.Context(), path, []int64{100, 50_000, 25_000}, 1.5, nil); err != nil {
			b.Fatal(err)
		}
	}
	b.Run("first", func(b *testing.B) {
		for b.Loop() {
			v := startView(b, path)
			v.wait(b, `= [0-9]`)
			b.StopTimer()
			v.stop()
			b.StartTimer()
		}
	})
	for name, keys := range map[string][]string{"page": {"\x1b[6~", "\x1b[5~"}, "across": {">", "<"}, "axis": {"]", "["}, "far": {"}", "{"}, "heat": {"]", "["}} {
		b.Run(name, func(b *testing.B) {
			v := startView(b, path)
			v.wait(b, `= [0-9]`)
			if name == "heat" {
				v.press("m")
			}
			for i := range 2 * len(keys) { // fills the caches of the operating system
				v.press(keys[i%2])
			}
			var sum, worst time.Duration
			n := 0
			for ; b.Loop(); n++ {
				t := v.press(keys[n%2])
				sum, worst = sum+t, max(worst, t)
			}
			b.ReportMetric(float64(sum.Microseconds())/1000/float64(n), "ms/screen")
			b.ReportMetric(float64(worst.Microseconds())/1000, "worst-ms/screen")
			v.stop()
		})
	}
}

// A viewTerminal is a process of view on a terminal of 80x24.
type viewTerminal struct {
	pty  *os.File
	read chan string
	text strings.Builder
	end  func()
}

// startView starts view.
func startView(b *testing.B, path string) *viewTerminal {
	b.Helper()
	p, tty, err := pty.Open()
	if err == nil {
		err = pty.Setsize(p, &pty.Winsize{Rows: 24, Cols: 80})
	}
	if err != nil {
		b.Fatal(err)
	}
	v := &viewTerminal{pty: p, read: make(chan string, 1000)}
	go func() {
		buf := make([]byte, 1<<16)
		for {
			n, err := p.Read(buf)
			if err != nil {
				return
			}
			v.read <- string(buf[:n])
		}
	}()
	c := program(b, "view", path)
	c.Stdin, c.Stdout, c.Stderr = tty, tty, tty
	if err := c.Start(); err != nil {
		b.Fatal(err)
	}
	v.end = func() {
		p.Write([]byte("q"))
		c.Wait()
		tty.Close()
		p.Close()
	}
	return v
}

// stop ends view.
func (v *viewTerminal) stop() { v.end() }

// wait waits until the output since the last call matches an expression.
func (v *viewTerminal) wait(b *testing.B, expr string) {
	b.Helper()
	v.text.Reset()
	re := regexp.MustCompile(expr)
	for end := time.After(time.Minute); !re.MatchString(v.text.String()); {
		select {
		case s := <-v.read:
			v.text.WriteString(s)
		case <-end:
			b.Fatal(fmt.Errorf("the terminal shows %q, want %s", v.text.String(), expr))
		}
	}
}

// quiet is how long a terminal without output has its last screen, unless a read takes longer.
const quiet = 2 * time.Second

// press presses a key, and returns the time until the last output that follows.
func (v *viewTerminal) press(key string) time.Duration {
	start := time.Now()
	last := start
	v.pty.Write([]byte(key))
	for {
		select {
		case <-v.read:
			last = time.Now()
		case <-time.After(quiet):
			return last.Sub(start)
		}
	}
}
