package store

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
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
	"github.com/goblosc/blosc2/internal/mutation"
)

// killedStore names the store that a child process edits until it is killed.
const killedStore = "BLOSC2_TEST_KILLED_STORE"

// patterned returns content that shows whether it is complete.
func patterned(r *rand.Rand) []byte {
	return bytes.Repeat([]byte{byte(r.Uint32())}, 1000+r.IntN(40000))
}

// editForever edits and packs a store until the process is killed. Each edit changes one leaf. It prints the edits that
// it begins and those that it has made, so that the parent knows what the store may hold.
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
			fmt.Println("begin", key, 0, 0)
			err = s.Delete(ctx, key)
		} else {
			content := patterned(r)
			var f *frame.Frame
			if f, err = frame.CreateFunc(ctx, "", func(b *frame.Batch) error { return b.Append(ctx, content) }, nil); err == nil {
				fmt.Println("begin", key, len(content), content[0])
				err = s.Put(ctx, key, f)
			}
		}
		fmt.Println("done")
		if err == nil && s.Layout() != LayoutEmbed && r.IntN(4) == 0 {
			fmt.Println("pack")
			err = s.Pack(ctx, path+".b2z", &CreateOptions{Overwrite: true})
			fmt.Println("packed")
		}
		if err != nil {
			return err
		}
	}
}

// TestKill kills processes that edit a store, which leave complete leaves. STORE_KILLS=250 kills 250 for each kind of
// store.
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
	rounds := mutation.Count("STORE_KILLS", 60, 3) // of each kind of store
	for _, name := range []string{"s.b2d", "s.b2e"} {
		path := filepath.Join(t.TempDir(), name)
		s, err := Create(context.Background(), path, nil)
		if err != nil {
			t.Fatal(err)
		}
		s.Close()
		k := killed{path: path, leaves: map[string]string{}}
		r := rand.New(rand.NewPCG(5, 5))
		for i := 0; i < rounds || i < 10*rounds && k.few(); i++ {
			most := 40 * (1 + i/rounds) // a busy machine takes longer for an edit
			k.replay(t, killOnce(t, path, time.Duration(r.IntN(most))*time.Millisecond))
			k.check(t)
		}
		t.Logf("%s: %d edits, %d of them interrupted, %d times packed, %d interrupted", name, k.edits, k.cut, k.packs, k.cutPacks)
		if k.few() {
			t.Errorf("%s: too few", name)
		}
	}
}

// killed is what a store with killed writers must hold.
type killed struct {
	path   string
	leaves map[string]string // a description of the content by key
	packed map[string]string // nil if the store was not packed

	next       map[string]string // with the interrupted edit; nil if there is none
	nextPacked map[string]string

	edits, cut, packs, cutPacks int
}

// few reports whether too little has happened. On a busy machine, processes are killed before they edit.
func (k *killed) few() bool {
	return k.edits == 0 || !testing.Short() && (k.cut == 0 || strings.HasSuffix(k.path, ".b2d") && (k.packs == 0 || k.cutPacks == 0))
}

// replay makes the edits that a process has printed.
func (k *killed) replay(t *testing.T, log string) {
	t.Helper()
	k.next, k.nextPacked = nil, nil
	for line := range strings.Lines(log) {
		if !strings.HasSuffix(line, "\n") {
			break // a part of a line: what it announces has not begun, or what it confirms is checked as interrupted
		}
		words := strings.Fields(line)
		switch words[0] {
		case "ready":
		case "begin":
			k.next = maps.Clone(k.leaves)
			if delete(k.next, words[1]); words[2] != "0" {
				k.next[words[1]] = words[2] + " times " + words[3]
			}
		case "done":
			k.leaves, k.next = k.next, nil
			k.edits++
		case "pack":
			k.nextPacked = k.leaves
		case "packed":
			k.packed, k.nextPacked = k.nextPacked, nil
			k.packs++
		default:
			t.Fatalf("child: %s", line)
		}
	}
}

// check compares the store and the packed store with what they may hold, which from then on they must.
func (k *killed) check(t *testing.T) {
	t.Helper()
	got := described(t, k.path)
	if k.next != nil {
		k.cut++
		if maps.Equal(got, k.next) {
			k.leaves = k.next
		}
	}
	if !maps.Equal(got, k.leaves) {
		t.Fatalf("the store holds %v, want %v or %v", got, k.leaves, k.next)
	}
	var packed map[string]string
	if _, err := os.Stat(k.path + ".b2z"); err == nil {
		packed = described(t, k.path+".b2z")
	}
	if k.nextPacked != nil {
		k.cutPacks++
		if packed != nil && maps.Equal(packed, k.nextPacked) {
			k.packed = k.nextPacked
		}
	}
	if (packed == nil) != (k.packed == nil) || !maps.Equal(packed, k.packed) {
		t.Fatalf("the packed store holds %v, want %v or %v", packed, k.packed, k.nextPacked)
	}
}

// killOnce starts a process that edits a store, and kills it after a while. It returns what the process has printed.
func killOnce(t *testing.T, path string, after time.Duration) string {
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
	r := bufio.NewReader(out)
	if line, err := r.ReadString('\n'); err != nil || line != "ready\n" {
		t.Errorf("child: %q, %v", line, err)
	}
	timer := time.AfterFunc(after, func() { c.Process.Kill() })
	defer timer.Stop()
	log, err := io.ReadAll(r)
	if err != nil {
		t.Error(err)
	}
	if err := c.Wait(); err == nil || runtime.GOOS != "windows" && strings.Contains(err.Error(), "exit status") {
		t.Errorf("child: %v: %s", err, log)
	}
	return string(log)
}

// described reads all leaves of a store. Each must be one byte many times.
func described(t *testing.T, path string) map[string]string {
	t.Helper()
	s, err := Open(context.Background(), path, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	got := contents(t, s)
	for key, content := range got {
		if len(content) < 1000 || strings.Count(content, content[:1]) != len(content) {
			t.Fatalf("%s: %s has %d bytes that do not belong together", path, key, len(content))
		}
		got[key] = fmt.Sprint(len(content), " times ", content[0])
	}
	return got
}
