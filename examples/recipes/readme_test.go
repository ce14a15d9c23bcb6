package recipes

import (
	"bytes"
	"errors"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"github.com/goblosc/blosc2/ndarray"
	"github.com/goblosc/blosc2/ndarray/npy"
)

// TestLoaderSnippet has the snippet of README.md that reads batches.
func TestLoaderSnippet(t *testing.T) {
	ctx := t.Context()
	images, err := ndarray.Full(ctx, "", []int64{100, 28, 28}, uint8(7), nil)
	must(t, err)
	order, batch := make([]int64, 100), make([]float32, 64*28*28)
	for i := range order {
		order[i] = int64(len(order) - 1 - i)
	}
	n := 0
	for part := range slices.Chunk(order, 64) {
		err := ndarray.ReadInto(ctx, images, batch[:len(part)*28*28], ndarray.Pick(part...)) // images[part]
		must(t, err)
		n += len(part)
	}
	if n != 100 || batch[0] != 7 {
		t.Error(n, batch[0])
	}
}

// TestFollowSnippet has the snippet that appends and follows.
func TestFollowSnippet(t *testing.T) {
	ctx, image := t.Context(), make([]uint16, 256*256)
	t.Chdir(t.TempDir())
	a, err := ndarray.Zeros(ctx, "images.b2nd", []int64{0, 256, 256}, "<u2", &ndarray.CreateOptions{Locking: true})
	if runtime.GOOS == "wasip1" && errors.Is(err, errors.ErrUnsupported) {
		t.Skip("wasip1 has no file locks")
	}
	must(t, err)
	defer a.Close()
	b, err := ndarray.Open(ctx, "images.b2nd", &ndarray.OpenOptions{Locking: true}) // the other process
	must(t, err)
	defer b.Close()
	err = ndarray.Append(ctx, a, 0, image)
	must(t, err)
	changed, err := b.Refresh(ctx)
	must(t, err)
	if !changed || b.Shape()[0] != 1 {
		t.Error(changed, b)
	}
}

// TestUploadSnippet has the snippet that slices an upload.
func TestUploadSnippet(t *testing.T) {
	ctx := t.Context()
	x, err := ndarray.Arange[int64](ctx, "", 0, 10, 1, nil)
	must(t, err)
	var file bytes.Buffer
	_, err = x.Save(ctx, &file)
	must(t, err)
	body, w := file.Bytes(), httptest.NewRecorder()
	r := httptest.NewRequest(http.MethodPost, "/?sel=2:5", nil)
	a, err := ndarray.OpenBytes(body, &ndarray.OpenOptions{MaxBytes: 8 << 20, MaxChunks: 10_000, Concurrency: 1})
	must(t, err)
	sel, err := ndarray.ParseSelection(r.FormValue("sel")) // "2:5, ..., ::-1"
	must(t, err)
	shape, err := a.SelectionShape(sel...) // refuse shapes with too many bytes: MaxBytes does not limit npy.Write
	must(t, err)
	if !slices.Equal(shape, []int64{3}) {
		t.Errorf("shape %v", shape)
	}
	var out bytes.Buffer // because an error after the status 200 cannot be reported
	err = npy.Write(r.Context(), &out, a, sel...)
	must(t, err)
	_, err = out.WriteTo(w)
	must(t, err)
	y, err := npy.Read(ctx, filepath.Join(t.TempDir(), "y.b2nd"), w.Body, nil)
	must(t, err)
	defer y.Close()
	if got, err := ndarray.Read[int64](ctx, y); err != nil || !slices.Equal(got, []int64{2, 3, 4}) {
		t.Error(got, err)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
