//go:build unix

package attack

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/goblosc/blosc2/ndarray"
)

// finishOnce calls Finish once, and prints when it begins and when it has returned.
func finishOnce(path string, out io.Writer) error {
	r, err := ndarray.OpenRegions(context.Background(), path, &ndarray.OpenOptions{NoSync: true, Concurrency: 1})
	if err != nil {
		return err
	}
	defer r.Close()
	fmt.Fprintln(out, "begins")
	if err := r.Finish(context.Background()); err != nil {
		return err
	}
	fmt.Fprintln(out, regionDone)
	time.Sleep(time.Minute) // until it is killed
	return nil
}

// TestFinishKills kills processes inside Finish: at a random time after it has begun and before it has returned. After
// one or more of them, another process finishes the array. Then the array equals the model, and nothing is left over.
func TestFinishKills(t *testing.T) {
	if os.Getenv(envChild) == t.Name() {
		if err := finishOnce(os.Getenv(envDir), os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(3)
		}
		os.Exit(0)
	}
	if err := exec.Command(os.Args[0], "-test.run=^$").Run(); errors.Is(err, syscall.ENOEXEC) {
		t.Skip("programs cannot start others under emulation")
	}
	k := newFinishKills(t)
	const hits = 24
	for round := 0; k.hits < hits; round++ {
		if round == 20*hits {
			t.Fatalf("%d rounds, and only %d processes killed inside Finish", round, k.hits)
		}
		if k.round(); t.Failed() {
			t.Fatalf("round %d", round)
		}
	}
	t.Logf("%d processes killed inside Finish, which left %v; %d arrays finished", k.hits, k.states, k.arrays)
	if len(k.states) < 2 {
		t.Error("all were killed at the same step")
	}
}

// finishKills is the state of TestFinishKills.
type finishKills struct {
	t      *testing.T
	dir    string         // has the array in a folder, and a copy of which all chunks are written
	takes  time.Duration  // what a call of Finish takes
	states map[string]int // what killed processes have left
	hits   int
	arrays int
}

// newFinishKills writes the chunks of an array, and measures how long Finish takes.
func newFinishKills(t *testing.T) *finishKills {
	k := &finishKills{t: t, dir: workFolder(t), states: map[string]int{}}
	r, err := layRegions(filepath.Join(k.dir, "filled"), false)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for b, err := range r.Missing(context.Background()) {
		if err == nil {
			err = r.WriteBytes(context.Background(), regionItems(b), b.Selection()...)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	path := k.lay()
	if !k.process(path, time.Minute) {
		t.Fatal("a process that is not killed does not finish the array")
	}
	return k
}

// lay makes a copy of the array whose chunks are all written.
func (k *finishKills) lay() string {
	folder := filepath.Join(k.dir, "work")
	err := os.RemoveAll(folder)
	if err == nil {
		err = os.Mkdir(folder, 0o777)
	}
	path := filepath.Join(folder, "array")
	if err == nil {
		err = os.CopyFS(path, os.DirFS(filepath.Join(k.dir, "filled")))
	}
	if err == nil { // which CopyFS leaves out if it is empty
		err = os.MkdirAll(filepath.Join(path, "unfinished"), 0o777)
	}
	if err != nil {
		k.t.Fatal(err)
	}
	return path
}

// round kills one process or more in Finish of the same array, and then lets another one finish it.
func (k *finishKills) round() {
	path := k.lay()
	for {
		finished := k.process(path, time.Duration(rand.Int64N(int64(k.takes)*5/4)))
		if k.t.Failed() {
			return
		}
		if finished || rand.IntN(4) == 0 {
			break
		}
	}
	if !k.process(path, time.Minute) {
		k.t.Error("a process that is not killed does not finish the array")
		return
	}
	k.arrays++
	(&regionKills{t: k.t, path: path}).compare()
}

// process runs a process, kills it at a time after Finish has begun, or when it has returned, and reports whether it
// has.
func (k *finishKills) process(path string, at time.Duration) (finished bool) {
	var stderr bytes.Buffer
	c := exec.Command(os.Args[0], "-test.run=^TestFinishKills$", "-test.timeout=0")
	c.Env = append(os.Environ(), envChild+"="+k.t.Name(), envDir+"="+path)
	c.Stderr = &stderr
	out, err := c.StdoutPipe()
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		k.t.Error(err)
		return false
	}
	lines := bufio.NewReader(out)
	began := false
	var start time.Time
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			break // the line is not whole
		}
		switch strings.TrimSuffix(line, "\n") {
		case "begins":
			began, start = true, time.Now()
			time.AfterFunc(at, func() { c.Process.Kill() })
		case regionDone:
			finished = true
			if k.takes == 0 {
				k.takes = time.Since(start)
			}
			c.Process.Kill()
		}
	}
	err = c.Wait()
	switch {
	case !began || c.ProcessState.Exited():
		k.t.Errorf("a process ended: %v: %s", err, stderr.String())
	case !finished:
		k.hits++
		k.states[leftOver(path)]++
	}
	return finished
}

// leftOver describes what a killed process has left in the directory of an array, besides chunks.
func leftOver(path string) string {
	var list []string
	for _, name := range []string{"unfinished.layout", "unfinished", "finishing", "chunks.b2frame"} {
		if _, err := os.Lstat(filepath.Join(path, name)); err == nil {
			list = append(list, name)
		}
	}
	return strings.Join(list, "+")
}
