package session

import (
	"bytes"
	"context"
	"errors"
	"os"
	"testing"
	"time"

	"github.com/goblosc/blosc2/examples/viewer/internal/document"
	"github.com/goblosc/blosc2/examples/viewer/internal/object"
	"github.com/goblosc/blosc2/examples/viewer/internal/paint"
	"github.com/goblosc/blosc2/examples/viewer/internal/plane"
	"github.com/goblosc/blosc2/ndarray"
)

// slow is an object.Getter whose requests wait until their context is done, or until it is opened.
type slow struct {
	data     []byte
	open     chan struct{}
	started  chan struct{}
	canceled chan struct{}
}

func (s *slow) Get(ctx context.Context, off, n int64) ([]byte, error) {
	select {
	case s.started <- struct{}{}:
	default:
	}
	select {
	case <-s.open:
		return s.data[off : off+n], nil
	case <-ctx.Done():
		s.canceled <- struct{}{}
		return nil, ctx.Err()
	}
}

// newSession opens an array of 8 planes, of which only the ends are in memory. Its items do not compress.
func newSession(t *testing.T) (*Session, *slow) {
	t.Helper()
	data := make([]uint32, 8*300*400)
	x := uint32(1)
	for i := range data {
		x = x*1664525 + 1013904223
		data[i] = x ^ x>>13
	}
	a, err := ndarray.Create(t.Context(), "", []int64{8, 300, 400}, data, &ndarray.CreateOptions{Chunks: []int64{1, 300, 400}})
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if _, err := a.Save(t.Context(), &out); err != nil {
		t.Fatal(err)
	}
	g := &slow{out.Bytes(), make(chan struct{}), make(chan struct{}, 1), make(chan struct{}, 100)}
	close(g.open)
	src := object.New(g, int64(out.Len()), 1<<20, nil)
	s := &Session{}
	if _, err := s.Open(t.Context(), src); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Select(t.Context(), ""); err != nil {
		t.Fatal(err)
	}
	g.open = make(chan struct{})
	select {
	case <-g.started:
	default:
	}
	return s, g
}

// request asks for all of plane k.
func request(k int64) *Request {
	return &Request{
		Axes: plane.Axes{Row: 1, Col: 2, At: []int64{k, 0, 0}}, Window: plane.Window{Bottom: 300, Right: 400, Height: 300, Width: 400},
		Style: paint.Style{Map: paint.Gray}, Budget: 1 << 30,
	}
}

// TestCanceled ends the context of a picture: its request must end.
func TestCanceled(t *testing.T) {
	s, g := newSession(t)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		_, err := s.Picture(ctx, request(3))
		done <- err
	}()
	<-g.started
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	select {
	case <-g.canceled:
	case <-time.After(10 * time.Second):
		t.Error("the request goes on")
	}
	close(g.open)
	if p, err := s.Picture(t.Context(), request(3)); err != nil || len(p.Pixels) != 4*300*400 {
		t.Errorf("after a canceled picture: %v", err)
	}
}

// TestShared prefetches a plane and then asks for its picture: the plane is read once, even if the
// prefetch is canceled.
func TestShared(t *testing.T) {
	s, g := newSession(t)
	ctx, cancel := context.WithCancel(t.Context())
	fetched, done := make(chan error, 1), make(chan error, 1)
	go func() { fetched <- s.Prefetch(ctx, request(3)) }()
	<-g.started
	go func() {
		_, err := s.Picture(t.Context(), request(3))
		done <- err
	}()
	for waiting := 0; waiting < 2; time.Sleep(time.Millisecond) {
		s.mu.Lock()
		for _, f := range s.flights {
			waiting = f.waiting
		}
		s.mu.Unlock()
	}
	cancel()
	if err := <-fetched; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	close(g.open)
	if err := <-done; err != nil {
		t.Error(err)
	}
	if _, err := s.Picture(t.Context(), request(3)); err != nil || s.reads != 1 || len(g.canceled) > 0 {
		t.Errorf("%d reads, %d canceled, %v", s.reads, len(g.canceled), err)
	}
}

// TestNextPicture prefetches a picture: it is kept, for the same request and array only.
func TestNextPicture(t *testing.T) {
	s, g := newSession(t)
	close(g.open)
	if err := s.Prefetch(t.Context(), request(3)); err != nil {
		t.Fatal(err)
	}
	picture := func(q *Request) *Picture {
		t.Helper()
		p, err := s.Picture(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	moved := request(3)
	moved.Axes.At = []int64{3, 7, 8} // the cursor is elsewhere in the plane
	kept := picture(request(3))
	if picture(moved) != kept {
		t.Error("the picture was drawn again")
	}
	log, percentile, range1, range2, wide := request(3), request(3), request(3), request(3), request(3)
	log.Style.Log, percentile.Style.Percentile = true, &[2]float64{2, 98}
	range1.Style.Range, range2.Style.Range = &[2]float64{0, 1}, &[2]float64{0, 2}
	wide.Window.Right = 200
	pixels := map[string]bool{string(kept.Pixels): true}
	for _, q := range []*Request{request(4), log, percentile, range1, range2, wide} {
		if err := s.Prefetch(t.Context(), request(3)); err != nil {
			t.Fatal(err)
		}
		pixels[string(picture(q).Pixels)] = true
	}
	if len(pixels) < 6 { // noise has much the same colors with and without log
		t.Errorf("%d different pictures of 7 requests", len(pixels))
	}
	if _, err := s.Select(t.Context(), ""); err != nil {
		t.Fatal(err)
	}
	if p := picture(request(3)); p == kept || !bytes.Equal(p.Pixels, kept.Pixels) {
		t.Error("the picture of another array")
	}
}

// TestStore walks a store, and describes its arrays.
func TestStore(t *testing.T) {
	b, err := os.ReadFile("../../../../testdata/stores/tree.b2z")
	if err != nil {
		t.Fatal(err)
	}
	g := &slow{data: b, open: make(chan struct{}), started: make(chan struct{}, 1)}
	close(g.open)
	s := &Session{}
	doc, err := s.Open(t.Context(), object.New(g, int64(len(b)), 1<<20, nil))
	if err != nil || !doc.IsStore() {
		t.Fatal(err)
	}
	found := map[string]string{}
	if err := doc.Walk(t.Context(), func(e document.Entry) { found[e.Key] = e.Kind + " " + e.Text + e.Fault }); err != nil {
		t.Fatal(err)
	}
	if found["/img"] != "group " || found["/img/level0"] != "array 64 × 64 <u2" {
		t.Errorf("%v", found)
	}
	v, err := s.Select(t.Context(), "/img/level0")
	if err != nil {
		t.Fatal(err)
	}
	a := v.(*document.Array)
	if list := a.Info(); list[0] != (document.Property{Name: "Shape", Value: "64 × 64"}) || len(list) < 9 {
		t.Errorf("%v", list)
	}
	m, err := a.ChunkMap(t.Context(), plane.Axes{Row: 0, Col: 1, At: []int64{0, 0}})
	if err != nil || len(m.Cells) != 1 || m.Cells[0].NBytes != 64*64*2 {
		t.Errorf("%+v, %v", m, err)
	}
	text, rows, cols, err := s.Table(t.Context(), plane.Axes{Row: 0, Col: 1, At: []int64{0, 0}}, 60, 62, 10, 10)
	if err != nil || rows != 4 || cols != 2 || len(text) != 8 {
		t.Errorf("%v, %d, %d, %v", text, rows, cols, err)
	}
	if _, err := s.Sheet(); err == nil {
		t.Error("an array is a sheet")
	}
	if _, err := s.Select(t.Context(), "/missing"); err == nil {
		t.Error("no error of a missing key")
	}
}

// TestSheet reads pages of a table. What is outside the table is an error.
func TestSheet(t *testing.T) {
	b, err := os.ReadFile("../../../../testdata/tables/wide1.b2z")
	if err != nil {
		t.Fatal(err)
	}
	g := &slow{data: b, open: make(chan struct{}), started: make(chan struct{}, 1)}
	close(g.open)
	s := &Session{}
	if _, err := s.Open(t.Context(), object.New(g, int64(len(b)), 1<<20, nil)); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Select(t.Context(), "/"); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Array(); err == nil {
		t.Error("a table is an array")
	}
	sheet, err := s.Sheet()
	if err != nil || sheet.Rows != 5 || len(sheet.Columns) != 6 {
		t.Fatal(sheet, err)
	}
	pages, err := sheet.Read(t.Context(), 1, 3, 2, 4)
	if err != nil || len(pages) != 2 || len(pages[1].Cells) != 2 || pages[0].Fault != "" || pages[0].Cells[1].Text != "green" {
		t.Errorf("%+v, %v", pages, err)
	}
	for _, bad := range [][4]int{{-1, 2, 0, 1}, {0, 6, 0, 1}, {2, 1, 0, 1}, {0, 1, -1, 1}, {0, 1, 0, 7}, {0, 1, 3, 2}} {
		if _, err := sheet.Read(t.Context(), int64(bad[0]), int64(bad[1]), bad[2], bad[3]); !errors.Is(err, ndarray.ErrBounds) {
			t.Errorf("%v: %v", bad, err)
		}
	}
	done, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := sheet.Read(done, 0, 5, 0, 1); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
}
