// Command service is an HTTP service. It accepts an array as an upload and returns a slice of it as a .npy file. The
// uploads come from unknown users, so sizes and time are limited.
package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/url"
	"time"

	"github.com/goblosc/blosc2/ndarray"
	"github.com/goblosc/blosc2/ndarray/npy"
)

const (
	maxUpload = 1 << 20 // bytes of an upload
	maxSlice  = 8 << 20 // bytes of a slice
)

// decoders limits the number of uploads that are decoded at the same time, because MaxBytes applies to each call.
var decoders = make(chan struct{}, 8)

// handle serves POST /slice?sel=SELECTION. The body is a .b2nd file.
func handle(w http.ResponseWriter, r *http.Request) {
	var out bytes.Buffer // because an error after the status 200 cannot be reported
	if code, err := slice(&out, http.MaxBytesReader(w, r.Body, maxUpload), r); err != nil {
		http.Error(w, err.Error(), code)
		return
	}
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Write(out.Bytes())
}

// status returns the HTTP status for an error of an upload.
func status(err error) int {
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return http.StatusServiceUnavailable
	case errors.Is(err, ndarray.ErrTooLarge):
		return http.StatusRequestEntityTooLarge
	}
	return http.StatusUnprocessableEntity // ErrFormat, ErrCorrupt, ...
}

// slice writes the slice of an upload. It returns the status of an error.
func slice(out io.Writer, body io.Reader, r *http.Request) (code int, err error) {
	ctx, cancel := context.WithTimeout(r.Context(), 5*time.Second)
	defer cancel()
	upload, err := io.ReadAll(body)
	if err != nil {
		return http.StatusRequestEntityTooLarge, err
	}
	select {
	case decoders <- struct{}{}:
		defer func() { <-decoders }()
	case <-ctx.Done():
		return http.StatusServiceUnavailable, ctx.Err()
	}
	a, err := ndarray.OpenBytes(upload, &ndarray.OpenOptions{
		MaxBytes: 8 << 20, MaxChunks: 10_000, MaxMeta: 64 << 10, Concurrency: 1,
	})
	if err != nil {
		return status(err), err
	}
	defer a.Close()
	sel, err := ndarray.ParseSelection(r.FormValue("sel")) // NumPy's notation
	if err != nil {
		return http.StatusBadRequest, err
	}
	shape, err := a.SelectionShape(sel...)
	if err != nil {
		return http.StatusBadRequest, err
	}
	size := int64(max(a.DType().Size, 1)) // of an item, which the upload chooses, too
	for _, n := range shape {
		if size *= min(n, maxSlice+1); size > maxSlice { // does not overflow
			return http.StatusRequestEntityTooLarge, ndarray.ErrTooLarge
		}
	}
	err = npy.Write(ctx, out, a, sel...)
	return status(err), err
}

func run(ctx context.Context) error {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /slice", handle)
	server := httptest.NewServer(mux)
	defer server.Close()

	a, err := ndarray.Arange[int32](ctx, "", 0, 10_000, 1, nil)
	if err != nil {
		return err
	}
	var upload bytes.Buffer
	if _, err := a.Save(ctx, &upload); err != nil {
		return err
	}
	huge, err := ndarray.Zeros(ctx, "", []int64{1 << 40}, "<i4", nil)
	if err != nil {
		return err
	}
	var bomb bytes.Buffer
	if _, err := huge.Save(ctx, &bomb); err != nil {
		return err
	}
	wide, err := ndarray.Zeros(ctx, "", []int64{1 << 20}, "V512", nil)
	if err != nil {
		return err
	}
	var items bytes.Buffer
	if _, err := wide.Save(ctx, &items); err != nil {
		return err
	}
	for _, c := range []struct {
		title, sel string
		body       []byte
	}{
		{"slice", "10:14", upload.Bytes()},
		{"bad selection", "10:14:0", upload.Bytes()},
		{"outside", "10000", upload.Bytes()},
		{"not an array", ":", []byte("hello")},
		{"a tebi-item array", ":", bomb.Bytes()},
		{"large items", ":", items.Bytes()},
		{"a large upload", ":", make([]byte, maxUpload+1)},
	} {
		response, err := http.Post(server.URL+"/slice?sel="+url.QueryEscape(c.sel), "application/octet-stream", bytes.NewReader(c.body))
		if err != nil {
			return err
		}
		fmt.Printf("%s: %d", c.title, response.StatusCode)
		if response.StatusCode == http.StatusOK {
			part, err := npy.Read(ctx, "", response.Body, nil)
			if err != nil {
				return err
			}
			items, err := ndarray.Read[int32](ctx, part)
			if err != nil {
				return err
			}
			fmt.Print(" ", items)
		}
		fmt.Println()
		response.Body.Close()
	}
	return nil
}

func main() {
	if err := run(context.Background()); err != nil {
		log.Print(err)
	}
}
