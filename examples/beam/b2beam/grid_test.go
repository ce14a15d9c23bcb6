package b2beam

import (
	"bytes"
	"errors"
	"math"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/goblosc/blosc2/meta"
	"github.com/goblosc/blosc2/ndarray"
	"github.com/goblosc/blosc2/ndarray/npy"
)

// TestGrid checks that tiles cover an array once, and that copies of the parts of one grid fill the tiles of another.
func TestGrid(t *testing.T) {
	shape := []int64{7, 5, 6}
	src := make([]byte, 2*7*5*6)
	for i := range src {
		src[i] = byte(i * 31 >> 3)
	}
	all := ndarray.Box{Start: []int64{0, 0, 0}, Shape: shape}
	for _, tiles := range [][2][]int64{{{1, -1, -1}, {7, 2, 3}}, {{3, 3, 3}, {2, 5, 4}}, {{7, 5, 6}, {1, 1, 1}}} {
		from, err := newGrid(shape, tiles[0])
		if err != nil {
			t.Fatal(err)
		}
		to, err := newGrid(shape, tiles[1])
		if err != nil {
			t.Fatal(err)
		}
		dst := make([]byte, len(src))
		items := int64(0)
		for i := range from.len() {
			a := from.box(i)
			items += a.Size()
			for _, b := range to.within(a) {
				c := intersection(a, b)
				piece := make([]byte, 2*c.Size())
				copyBox(piece, c, src, all, c, 2)
				copyBox(dst, all, piece, c, c, 2)
			}
		}
		if items != 7*5*6 || !bytes.Equal(dst, src) {
			t.Errorf("tiles %v: %d items, or other bytes", tiles, items)
		}
	}
	g, err := newGrid(shape, []int64{2, 2, 2})
	if err != nil {
		t.Fatal(err)
	}
	for fortran, want := range map[bool][]int64{false: {2, 2, 6}, true: {6, 2, 2}} {
		if got := g.grow(30, fortran).tile; !reflect.DeepEqual(got, want) {
			t.Errorf("tiles %v of 30 items, want %v", got, want)
		}
	}
	if _, err := newGrid(shape, []int64{2, 0, 2}); err == nil {
		t.Error("no error for tiles without items")
	}
	point := grid{[]int64{}, []int64{}}
	if point.len() != 1 || len(point.within(point.box(0))) != 1 {
		t.Error("an array without axes must have one tile")
	}
}

// TestGridLong checks that tiles longer than the array are whole axes.
func TestGridLong(t *testing.T) {
	shape, tile := []int64{5, 6}, []int64{math.MaxInt64, 1 << 62}
	g, err := newGrid(shape, tile)
	if err != nil {
		t.Fatal(err)
	}
	h, err := RechunkOptions{Chunks: tile, MaxMemory: 2 * 2 * 30}.grid(shape, 2)
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range []grid{g, g.grow(100, false), h} {
		if n := g.len(); n != 1 || g.box(0).Size() != 30 {
			t.Errorf("tiles %v: %d tiles, the first is %v", g.tile, n, g.box(0))
		}
	}
	if _, err := (RechunkOptions{Chunks: tile, MaxMemory: 2*2*30 - 2}).grid(shape, 2); !errors.Is(err, ndarray.ErrTooLarge) {
		t.Errorf("error %v for too little memory", err)
	}
}

// TestWeight compares the weight of boxes with the sum of the weights of their items.
func TestWeight(t *testing.T) {
	for _, b := range []ndarray.Box{
		{Start: []int64{}, Shape: []int64{}}, {Start: []int64{7}, Shape: []int64{0}},
		{Start: []int64{0, 0}, Shape: []int64{3, 4}}, {Start: []int64{5, 1 << 40}, Shape: []int64{11, 6}},
	} {
		items, err := newGrid(b.Shape, slices.Repeat([]int64{1}, len(b.Shape)))
		if err != nil {
			t.Fatal(err)
		}
		sum, seen := uint64(0), map[uint64]bool{}
		for i := range items.len() {
			item := items.box(i)
			for axis := range item.Start {
				item.Start[axis] += b.Start[axis]
			}
			w := weight(item)
			sum, seen[w] = (sum+w)%prime, true
		}
		if w := weight(b); w != sum || int64(len(seen)) != b.Size() {
			t.Errorf("%v: weight %d, want %d; %d weights", b, w, sum, len(seen))
		}
	}
}

func TestCoders(t *testing.T) {
	k := Key{"a/b", []int64{0, 300}}
	p := part{Start: []int64{1}, Items: 9, Cover: 1 << 60, Step: []int64{4}, DType: "<f4", Tile: Tile{Of: []int64{2, 3}, Shape: []int64{1, 2}, DType: "|u1", Data: []byte{1, 2}}}
	if got, err := decodeKey(encodeKey(k)); err != nil || !reflect.DeepEqual(got, k) {
		t.Errorf("%v, %v", got, err)
	}
	if got, err := decodeTile(encodeTile(p.Tile)); err != nil || !reflect.DeepEqual(got, p.Tile) {
		t.Errorf("%v, %v", got, err)
	}
	b := encodePart(p)
	if got, err := decodePart(b); err != nil || !reflect.DeepEqual(got, p) {
		t.Errorf("%v, %v", got, err)
	}
	for n := range b {
		if _, err := decodePart(b[:n]); err == nil {
			t.Errorf("no error for the first %d bytes", n)
		}
	}
	if _, err := decodePart(append(b, 0)); err == nil {
		t.Error("no error for a byte too many")
	}
}

// TestVersions opens files that are replaced between two calls, for the version before and after.
func TestVersions(t *testing.T) {
	ctx := t.Context()
	a, err := ndarray.Full(ctx, "", []int64{2, 3}, int16(5), nil)
	if err != nil {
		t.Fatal(err)
	}
	var stored, plain bytes.Buffer
	if _, err := a.Save(ctx, &stored); err != nil {
		t.Fatal(err)
	}
	if err := npy.Write(ctx, &plain, a); err != nil {
		t.Fatal(err)
	}
	etag := ""
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		content := stored.Bytes()
		if r.URL.Path == "/x.npy" {
			content = plain.Bytes()
		}
		w.Header().Set("ETag", etag)
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(content))
	}))
	defer server.Close()
	var c cache
	var f items
	defer c.close()
	defer f.close()
	for _, etag = range []string{`"1"`, `"2"`} {
		if _, err := c.open(ctx, File{Path: server.URL + "/x.b2nd", Version: etag}); err != nil || c.src.Version() != etag {
			t.Errorf("array: version %s, %v, want %s", c.src.Version(), err, etag)
		}
		if err := f.open(ctx, File{Path: server.URL + "/x.npy", Version: etag}, nil); err != nil || f.src.Version() != etag {
			t.Errorf("file: version %s, %v, want %s", f.src.Version(), err, etag)
		}
	}
}

// TestRequests reads a column of tiles of a .npy file over HTTP, in both orders.
func TestRequests(t *testing.T) {
	const n = 512
	for _, fortran := range []bool{false, true} {
		d, err := meta.ParseDType("<f4")
		if err != nil {
			t.Fatal(err)
		}
		file, err := npy.Header{DType: d, Shape: []int64{n, n}, Fortran: fortran}.Append(nil)
		if err != nil {
			t.Fatal(err)
		}
		head := len(file)
		file = append(file, make([]byte, 4*n*n)...)
		for i := range file[head:] {
			file[head+i] = byte(i * 31 >> 5)
		}
		var requests atomic.Int64
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			requests.Add(1)
			w.Header().Set("ETag", "\"1\"")
			http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(file))
		}))
		defer server.Close()
		fn := &importFn{Options: FilesOptions{Chunks: []int64{16, 16}, ReadOptions: ReadOptions{MaxTile: 4 * n * 64}}}
		defer fn.Teardown()
		f := File{Path: server.URL + "/x.npy"}
		g, err := fn.open(t.Context(), f)
		if want := map[bool][]int64{false: {64, n}, true: {n, 64}}[fortran]; err != nil || !reflect.DeepEqual(g.tile, want) {
			t.Errorf("tiles %v, %v, want %v", g.tile, err, want)
		}
		requests.Store(0)
		b := ndarray.Box{Start: []int64{100, 100}, Shape: []int64{300, 300}} // many runs
		data, err := fn.file.read(t.Context(), b)
		if err != nil {
			t.Fatal(err)
		}
		if got := requests.Load(); got > 10 {
			t.Errorf("%d requests for a box", got)
		}
		for _, at := range [][2]int{{100, 100}, {100, 399}, {399, 100}, {250, 301}} {
			i := at[0]*n + at[1]
			if fortran {
				i = at[1]*n + at[0]
			}
			k := (at[0]-100)*300 + at[1] - 100
			if !bytes.Equal(data[4*k:4*k+4], file[head+4*i:head+4*i+4]) {
				t.Errorf("Fortran order %v: other bytes of item %v", fortran, at)
			}
		}
	}
}
