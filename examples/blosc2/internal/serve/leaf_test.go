package serve

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/frame/store"
	"github.com/goblosc/blosc2/ndarray"
)

// busyWriter takes a decoder when an answer begins, and gives it back a moment later. It notes bytes that are sent in
// the meantime.
type busyWriter struct {
	*httptest.ResponseRecorder
	decoders *gate
	busy     atomic.Bool
	early    int
}

func (w *busyWriter) WriteHeader(code int) {
	if w.decoders.enter(context.Background()) == nil {
		w.busy.Store(true)
		time.AfterFunc(200*time.Millisecond, func() { w.busy.Store(false); w.decoders.leave() })
	}
	w.ResponseRecorder.WriteHeader(code)
}

func (w *busyWriter) Write(p []byte) (int, error) {
	if w.busy.Load() {
		w.early += len(p)
	}
	return w.ResponseRecorder.Write(p)
}

// TestLeafDecoders reads a leaf of an embed store, which is decoded: that needs a free decoder.
func TestLeafDecoders(t *testing.T) {
	ctx, dir := context.Background(), t.TempDir()
	a, err := ndarray.Zeros(ctx, "", []int64{10}, "<i4", nil)
	if err != nil {
		t.Fatal(err)
	}
	e, err := store.Create(ctx, filepath.Join(dir, "x.b2e"), &store.CreateOptions{OpenOptions: store.OpenOptions{Frames: &frame.OpenOptions{NoSync: true}}})
	if err == nil {
		err = e.Put(ctx, "/a", a.Frame())
	}
	if err == nil {
		err = e.Close()
	}
	var want bytes.Buffer
	if err == nil {
		_, err = a.Save(ctx, &want)
	}
	if err != nil {
		t.Fatal(err)
	}
	c := testConfig()
	c.Limits.Decoders = 1
	s := newServer(t, dir, c)
	w := &busyWriter{ResponseRecorder: httptest.NewRecorder(), decoders: s.decoders}
	s.ServeHTTP(w, httptest.NewRequest("GET", "/x.b2e/a", nil))
	if w.Code != 200 || !bytes.Equal(w.Body.Bytes(), want.Bytes()) || w.early > 0 {
		t.Errorf("status %d, %d bytes of %d, %d while the decoder was busy", w.Code, w.Body.Len(), want.Len(), w.early)
	}
}

// TestHiddenLeaves lists a store with keys that clients cannot see.
func TestHiddenLeaves(t *testing.T) {
	ctx, dir := t.Context(), t.TempDir()
	f, err := frame.Create(ctx, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	st, err := store.Create(ctx, filepath.Join(dir, "x.b2e"), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"/.a", "/b/.c/d", "/b/e", "/b/.f"} {
		if err := st.Put(ctx, key, f); err != nil {
			t.Fatal(err)
		}
	}
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
	c := testConfig()
	c.Limits.Entries = 2
	s := newServer(t, dir, c)
	for _, path := range []string{"/x.b2e/", "/x.b2e/b/"} {
		var l listing
		if err := json.Unmarshal([]byte(get(t, s, path+"?format=json")), &l); err != nil || l.Truncated || len(l.Entries) == 0 {
			t.Errorf("%s: %+v, %v", path, l, err)
		}
		for _, e := range l.Entries {
			if body(t, ask(t, s, "GET", path+e.Name), 200) == "" {
				t.Errorf("%s%s is empty", path, e.Name)
			}
			if strings.Contains("/"+e.Name, "/.") {
				t.Errorf("%s shows %s", path, e.Name)
			}
		}
	}
}

// TestLeafReads reads and seeks in a leaf in different ways.
func TestLeafReads(t *testing.T) {
	text := make([]byte, 3*mostDecoded+5)
	for i := range text {
		text[i] = byte(i * i >> 8)
	}
	d := &decoded{content: bytes.NewReader(text), ctx: t.Context(), decoders: newGate(1, time.Second)}
	b, err := io.ReadAll(d)
	if err != nil || !bytes.Equal(b, text) {
		t.Errorf("%d bytes of %d, %v", len(b), len(text), err)
	}
	for _, at := range []int64{0, 1000, int64(len(text)) - 1} {
		part := make([]byte, min(50, len(text)-int(at)))
		if _, err := d.Seek(at, io.SeekStart); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(d, part); err != nil || !bytes.Equal(part, text[at:][:len(part)]) {
			t.Errorf("at %d: %v", at, err)
		}
		if got, err := d.Seek(0, io.SeekCurrent); err != nil || got != at+int64(len(part)) {
			t.Errorf("at %d: then at %d, %v", at, got, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	d.ctx, d.decoders = ctx, newGate(0, time.Second)
	if _, err := d.Read(make([]byte, 1)); err == nil {
		t.Error("a read without a decoder succeeded")
	}
}
