package objects

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
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/internal/mutation"
)

// killedArray names the file that a child process appends to until it is killed.
const killedArray = "BLOSC2_TEST_KILLED_OBJECTS"

// saved returns what Save writes.
func saved(f *frame.Frame) ([]byte, error) {
	var b bytes.Buffer
	_, err := f.Save(context.Background(), &b)
	return b.Bytes(), err
}

// group returns the items of append number i. They show whether they are complete.
func group(i int64) []any {
	items := make([]any, 1+i%7)
	for k := range items {
		items[k] = map[string]any{"append": i, "of": int64(len(items)), "text": strings.Repeat("x", int(i%50)*100)}
	}
	return items
}

// appendForever appends groups until the process is killed. It prints the number of each append that it has made.
func appendForever(path string) error {
	ctx := context.Background()
	f, err := frame.Edit(ctx, path, nil)
	if err != nil {
		return err
	}
	o, err := New(ctx, f)
	if err != nil {
		return err
	}
	next, err := groups(o)
	if err != nil {
		return err
	}
	fmt.Println("ready")
	for ; ; next++ {
		if err := o.Append(ctx, group(next)...); err != nil {
			return err
		}
		fmt.Println(next)
	}
}

// groups returns the number of groups in an array, which must be complete.
func groups(o *Array) (n int64, err error) {
	ctx := context.Background()
	for at := int64(0); at < o.Len(); n++ {
		want := group(n)
		for k, w := range want {
			var got, all map[string]any
			if err := o.Item(ctx, at+int64(k), &got); err != nil {
				return n, fmt.Errorf("group %d: %w", n, err)
			}
			if all = w.(map[string]any); got["append"] != all["append"] || got["of"] != all["of"] || got["text"] != all["text"] {
				return n, fmt.Errorf("item %d is %v, want %v", at+int64(k), got, all)
			}
		}
		at += int64(len(want))
	}
	return n, nil
}

// Killed processes leave arrays with whole groups, at least those that they have confirmed.
func TestKill(t *testing.T) {
	if path := os.Getenv(killedArray); path != "" {
		t.Fatal(appendForever(path))
	}
	if runtime.GOOS == "js" || runtime.GOOS == "wasip1" {
		t.Skip("no processes")
	}
	if err := exec.Command(os.Args[0], "-test.run=^$").Run(); errors.Is(err, syscall.ENOEXEC) {
		t.Skip("programs cannot start others under emulation")
	}
	rounds := mutation.Count("STORE_KILLS", 30, 3) // of each kind of array
	all := fixtures(t)
	for _, name := range []string{"stores/objects.b2b", "stores/batches.b2b"} {
		empty, _ := emptied(t, all[name], nil)
		b, err := saved(empty.f)
		path := filepath.Join(t.TempDir(), "a.b2b")
		if err == nil {
			err = os.WriteFile(path, b, 0o666)
		}
		if err != nil {
			t.Fatal(err)
		}
		r := rand.New(rand.NewPCG(5, 5))
		made := int64(0)
		for i := 0; i < rounds || i < 5*rounds && made == 0; i++ { // a busy machine kills them before they append
			confirmed := killOnce(t, path, time.Duration(r.IntN(40))*time.Millisecond)
			f, err := frame.Open(t.Context(), path, nil)
			if err != nil {
				t.Fatal(err)
			}
			o, err := New(t.Context(), f)
			if err != nil {
				t.Fatal(err)
			}
			n, err := groups(o)
			if err != nil || n < made || n < confirmed {
				t.Fatalf("%s: %d appends, at least %d were made: %v", name, n, max(made, confirmed), err)
			}
			made = n
			o.Close()
		}
		t.Logf("%s: %d appends", name, made)
		if made == 0 {
			t.Errorf("%s: no append", name)
		}
	}
}

// killOnce starts a process that appends, and kills it after a while. It returns how many appends are confirmed.
func killOnce(t *testing.T, path string, after time.Duration) (confirmed int64) {
	t.Helper()
	c := exec.Command(os.Args[0], "-test.run=^TestKill$")
	c.Env = append(os.Environ(), killedArray+"="+path)
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
	for line := range strings.Lines(string(log)) {
		var i int64
		if _, err := fmt.Sscan(line, &i); err == nil && strings.HasSuffix(line, "\n") {
			confirmed = i + 1
		}
	}
	return confirmed
}
