package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/goblosc/blosc2/frame"
)

// killedStore names the store that a child process edits until it is killed.
const killedStore = "BLOSC2_TEST_KILLED_STORE"

// patterned returns content that shows whether it is complete.
func patterned(r *rand.Rand) []byte {
	return bytes.Repeat([]byte{byte(r.Uint32())}, 1000+r.IntN(40000))
}

// editForever edits and packs a store until the process is killed.
func editForever(path string, seed uint64) error {
	ctx := context.Background()
	o := &OpenOptions{}
	if filepath.Ext(path) == ".b2d" {
		o.Threshold = 10000
	}
	s, err := Edit(ctx, path, o)
	if err != nil {
		return err
	}
	fmt.Println("ready")
	r := rand.New(rand.NewPCG(seed, 6))
	for {
		key := fmt.Sprintf("/g%d/leaf%d", r.IntN(2), r.IntN(4))
		if r.IntN(4) == 0 && s.Has(key) {
			err = s.Delete(ctx, key)
		} else {
			var f *frame.Frame
			if f, err = frame.CreateFunc(ctx, "", func(b *frame.Batch) error { return b.Append(ctx, patterned(r)) }, nil); err == nil {
				err = s.Put(ctx, key, f)
			}
		}
		if err == nil && s.Layout() != LayoutEmbed && r.IntN(4) == 0 {
			err = s.Pack(ctx, path+".b2z", &CreateOptions{Overwrite: true})
		}
		if err != nil {
			return err
		}
	}
}

// Killed processes leave stores whose leaves are complete.
func TestKill(t *testing.T) {
	if path := os.Getenv(killedStore); path != "" {
		t.Fatal(editForever(path, uint64(os.Getpid())))
	}
	if runtime.GOOS == "js" || runtime.GOOS == "wasip1" {
		t.Skip("no processes")
	}
	if err := exec.Command(os.Args[0], "-test.run=^$").Run(); errors.Is(err, syscall.ENOEXEC) {
		t.Skip("programs cannot start others under emulation")
	}
	rounds := 30
	if testing.Short() {
		rounds = 4
	}
	r := rand.New(rand.NewPCG(5, 5))
	for _, name := range []string{"s.b2d", "s.b2e"} {
		path := filepath.Join(t.TempDir(), name)
		s, err := Create(context.Background(), path, nil)
		if err != nil {
			t.Fatal(err)
		}
		s.Close()
		leaves := 0
		for range rounds {
			killOnce(t, path, time.Duration(r.IntN(40))*time.Millisecond)
			leaves += checkComplete(t, path)
			if _, err := os.Stat(path + ".b2z"); err == nil {
				leaves += checkComplete(t, path+".b2z")
			}
		}
		if leaves == 0 {
			t.Errorf("%s: no leaf in %d rounds", name, rounds)
		}
	}
}

// killOnce starts a process that edits a store, and kills it after a while.
func killOnce(t *testing.T, path string, after time.Duration) {
	t.Helper()
	c := exec.Command(os.Args[0], "-test.run=^TestKill$")
	c.Env = append(os.Environ(), killedStore+"="+path)
	out, err := c.StdoutPipe()
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	ready := make([]byte, 5)
	if _, err := out.Read(ready); err != nil || string(ready) != "ready" {
		t.Errorf("child: %q, %v", ready, err)
	}
	time.Sleep(after)
	if err := c.Process.Kill(); err != nil {
		t.Error(err)
	}
	if err := c.Wait(); err == nil || runtime.GOOS != "windows" && strings.Contains(err.Error(), "exit status") {
		t.Errorf("child: %v", err)
	}
}

// checkComplete reads all leaves of a store and returns their number.
func checkComplete(t *testing.T, path string) int {
	t.Helper()
	s, err := Open(context.Background(), path, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	all := contents(t, s)
	for key, content := range all {
		if len(content) < 1000 || strings.Count(content, content[:1]) != len(content) {
			t.Errorf("%s: %s has %d bytes that do not belong together", path, key, len(content))
		}
	}
	return len(all)
}
