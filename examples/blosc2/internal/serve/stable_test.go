package serve

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/goblosc/blosc2/frame/store"
	"github.com/goblosc/blosc2/ndarray"
)

// damage replaces a file by other bytes, with a time that is past by age.
func damage(t *testing.T, name string, content []byte, age time.Duration) {
	t.Helper()
	if err := os.WriteFile(name, content, 0o666); err != nil {
		t.Fatal(err)
	}
	then := time.Now().Add(-age)
	if err := os.Chtimes(name, then, then); err != nil {
		t.Fatal(err)
	}
}

// TestDuringCommit reads files that are damaged for a moment, as during a commit, and files that stay so.
func TestDuringCommit(t *testing.T) {
	ctx, dir := t.Context(), t.TempDir()
	items := make([]int32, 5000)
	for i := range items {
		items[i] = int32(i * i)
	}
	a, err := ndarray.Create(ctx, filepath.Join(dir, "a.b2nd"), []int64{5000}, items, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	sparse, err := ndarray.Copy(ctx, filepath.Join(dir, "sparse"), a, &ndarray.CreateOptions{Sparse: true})
	if err != nil {
		t.Fatal(err)
	}
	defer sparse.Close()
	st, err := store.Create(ctx, filepath.Join(dir, "x.b2e"), nil)
	if err == nil {
		err = st.Put(ctx, "/a", a.Frame())
	}
	if err == nil {
		err = st.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	half := func(b []byte) []byte { return b[:len(b)/2] }
	zeroed := func(b []byte) []byte { // without the header of its chunk
		at := binary.BigEndian.Uint32(b[11:])
		return append(bytes.Clone(b[:at]), append(make([]byte, 32), b[at+32:]...)...)
	}
	none := func([]byte) []byte { return nil }
	for _, c := range []struct {
		file   string
		damage func([]byte) []byte
		uri    string
		code   int // while the file is damaged
	}{
		{"a.b2nd", half, "/a.b2nd?sel=0", 500},
		{"a.b2nd", none, "/a.b2nd?sel=0", 422},
		{"a.b2nd", zeroed, "/a.b2nd?sel=0", 500},
		{"a.b2nd", zeroed, "/api/fetch/a.b2nd?slice_=1:", 500},
		{"a.b2nd", half, "/api/info/a.b2nd", 500},
		{"sparse/chunks.b2frame", half, "/sparse?sel=0", 500},
		{"x.b2e", half, "/x.b2e/a?sel=0", 500},
		{"x.b2e", half, "/x.b2e/a", 500},
		{"x.b2e", half, "/x.b2e/?format=json", 500},
	} {
		name := filepath.Join(dir, c.file)
		intact, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		s := newServer(t, dir, testConfig())
		damage(t, name, c.damage(intact), time.Hour)
		body(t, ask(t, s, "GET", c.uri), c.code)
		if _, opened := s.cache.counts(); opened > 2 { // a store and its leaf
			t.Errorf("%s, %s: opened %d times, but the file does not change", c.file, c.uri, opened)
		}
		damage(t, name, c.damage(intact), 0)
		repaired := make(chan bool)
		time.AfterFunc(20*time.Millisecond, func() { damage(t, name, intact, 0); close(repaired) })
		body(t, ask(t, s, "GET", c.uri), 200)
		<-repaired
	}
}

// TestKeepsChanging asks for arrays that are edited while they are read: once, and each time.
func TestKeepsChanging(t *testing.T) {
	for _, isSparse := range []bool{false, true} {
		dir := t.TempDir()
		a, err := ndarray.Zeros(t.Context(), filepath.Join(dir, "a"), []int64{100}, "<i4", &ndarray.CreateOptions{
			Chunks: []int64{10}, Sparse: isSparse, Attrs: map[string]any{"x": 1},
		})
		if err != nil {
			t.Fatal(err)
		}
		defer a.Close()
		left := 1
		c := testConfig()
		c.Attribute = func(w *bufio.Writer, _ []byte, _ func(int64) error) error {
			if left > 0 {
				left--
				if err := a.Resize(t.Context(), a.Size()+10); err != nil {
					t.Error(err)
				}
			}
			return w.WriteByte('0')
		}
		s := newServer(t, dir, c)
		if got := get(t, s, "/api/info/a"); !strings.Contains(got, `"shape":[110]`) {
			t.Errorf("sparse %v: a state before the edit: %s", isSparse, got)
		}
		left = 1000
		r := ask(t, s, "GET", "/api/info/a")
		if body(t, r, 503); r.Header.Get("Retry-After") != "1" || left < 900 {
			t.Errorf("sparse %v: %v, %d edits left", isSparse, r.Header, left)
		}
	}
}

// TestBusyFile asks for files that change all the time on a server with one decoder, which another file needs. Folders
// and leaves that do not exist are no reason to wait.
func TestBusyFile(t *testing.T) {
	ctx, dir := t.Context(), t.TempDir()
	a, err := ndarray.Zeros(ctx, filepath.Join(dir, "a.b2nd"), []int64{10}, "<i4", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	st, err := store.Create(ctx, filepath.Join(dir, "x.b2e"), nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(st.Put(ctx, "/a", a.Frame()), st.Close(), os.Mkdir(filepath.Join(dir, "plain"), 0o777)); err != nil {
		t.Fatal(err)
	}
	busy := filepath.Join(dir, "busy.b2nd")
	touch := func() {
		damage(t, busy, []byte("no frame"), 0)
		damage(t, filepath.Join(dir, "plain", "x"), nil, 0)
	}
	touch()
	stop, stopped := make(chan bool), make(chan bool)
	go func() {
		defer close(stopped)
		for {
			select {
			case <-stop:
				return
			case <-time.After(5 * time.Millisecond):
				touch()
			}
		}
	}()
	c := testConfig()
	c.Limits.Decoders, c.Limits.Wait = 1, 2*time.Second
	s := newServer(t, dir, c)
	answered := make(chan int)
	go func() { answered <- ask(t, s, "GET", "/busy.b2nd?sel=0").StatusCode }()
	n := 0
	for waiting := true; waiting; {
		select {
		case code := <-answered:
			if waiting = false; code != 503 {
				t.Errorf("status %d for a file that changes all the time", code)
			}
		default:
			body(t, ask(t, s, "GET", "/a.b2nd?sel=0"), 200)
			n++
		}
	}
	if n < 10 {
		t.Errorf("%d answers while another request waits for a file", n)
	}
	body(t, ask(t, s, "GET", "/plain?sel=0"), 422)
	body(t, ask(t, s, "GET", "/x.b2e/none?sel=0"), 404)
	close(stop)
	<-stopped
}

// TestOneCommit reads arrays while commits follow each other. The items of an answer are those of one commit.
func TestOneCommit(t *testing.T) {
	for _, isSparse := range []bool{false, true} {
		dir := t.TempDir()
		a, err := ndarray.Full(t.Context(), filepath.Join(dir, "a"), []int64{64, 64}, int64(1), &ndarray.CreateOptions{
			Chunks: []int64{8, 64}, Sparse: isSparse, NoSync: true,
		})
		if err != nil {
			t.Fatal(err)
		}
		s := newServer(t, dir, testConfig())
		stop, done := make(chan bool), make(chan error, 1)
		go func() {
			data := make([]int64, 64*64)
			for k := int64(2); ; k++ {
				select {
				case <-stop:
					done <- a.Close()
					return
				default:
				}
				for i := range data {
					data[i] = k
				}
				if err := ndarray.Write(t.Context(), a, data); err != nil {
					done <- err
					return
				}
				time.Sleep(12 * time.Millisecond) // two edits within the resolution of the time of a file look like one
			}
		}()
		for range 400 {
			r := ask(t, s, "GET", "/a?sel=")
			if r.StatusCode == 503 {
				continue
			}
			b := []byte(body(t, r, 200))
			b = b[len(b)-64*64*8:]
			if !bytes.Equal(b, bytes.Repeat(b[:8], len(b)/8)) {
				t.Errorf("sparse %v: items of several commits", isSparse)
				break
			}
		}
		close(stop)
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}
