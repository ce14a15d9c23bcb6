//go:build unix

package attack

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// child is a process that checks mutants.
type child struct {
	base   string
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    io.Closer
	lines  chan string // what it prints; closed when it ends
	stderr bytes.Buffer
	ended  bool
}

// startChild starts the test binary again, as a child process of a test.
func startChild(test, base string, env ...string) (*child, error) {
	if err := os.RemoveAll(base); err != nil {
		return nil, err
	}
	pattern := "^" + strings.ReplaceAll(test, "/", "$/^") + "$"
	c := &child{base: base, cmd: exec.Command(os.Args[0], "-test.run="+pattern, "-test.timeout=0"), lines: make(chan string, 1)}
	c.cmd.Env = append(os.Environ(), envChild+"="+test, envDir+"="+base, "GOTRACEBACK=all")
	c.cmd.Env = append(c.cmd.Env, env...)
	c.cmd.Stderr = &c.stderr
	in, err := c.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	c.in, c.out = in, out
	restore, err := limitStacks()
	if err != nil {
		return nil, err
	}
	err = c.cmd.Start()
	restore()
	if err != nil {
		return nil, err
	}
	go func() {
		r := bufio.NewReader(out)
		for {
			line, err := r.ReadString('\n')
			if err != nil {
				close(c.lines)
				return
			}
			c.lines <- line
		}
	}()
	return c, nil
}

// ask lets the child check a mutant.
func (c *child) ask(seed uint64) (o Outcome, fault string, err error) {
	return c.askFor(seed, deadline)
}

// askFor is ask with another deadline.
func (c *child) askFor(seed uint64, most time.Duration) (o Outcome, fault string, err error) {
	if _, err := fmt.Fprintln(c.in, seed); err != nil {
		return o, "", c.death()
	}
	limit := time.After(most)
	for {
		select {
		case line, ok := <-c.lines:
			if !ok {
				return o, "", c.death()
			}
			if o, fault, ok := parseAnswer(line); ok {
				return o, fault, nil
			}
		case <-limit:
			c.cmd.Process.Signal(syscall.SIGQUIT) // prints the stacks
			time.AfterFunc(time.Second, func() { c.cmd.Process.Kill() })
			return o, "", fmt.Errorf("%w\n%s", errDeadline, c.death())
		}
	}
}

// death waits for the end of the child and describes it.
func (c *child) death() error {
	for range c.lines {
	}
	c.ended = true
	err := c.cmd.Wait()
	return fmt.Errorf("the child process ended: %v\n%s", err, shorten(c.stderr.String()))
}

// shorten returns the first lines of what a process prints when it crashes, and the stacks of goroutines in this
// module.
func shorten(text string) string {
	parts := strings.Split(text, "\n\n")
	kept := parts[:1]
	for _, p := range parts[1:] {
		if strings.Contains(p, "getGCMaskOnDemand") || strings.Contains(p, "goblosc/blosc2/") && !strings.Contains(p, "testing.(*T).Run(") {
			kept = append(kept, p)
		}
	}
	text = strings.Join(kept, "\n\n")
	return text[:min(len(text), 6000)]
}

// stop ends the child.
func (c *child) stop() {
	if c.ended {
		return
	}
	c.in.Close()
	go func() {
		for range c.lines {
		}
	}()
	c.cmd.Process.Kill()
	c.cmd.Wait()
	c.ended = true
}
