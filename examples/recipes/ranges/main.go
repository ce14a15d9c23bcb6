// Command ranges reads slices of an array on a web server. An io.ReaderAt fetches only the bytes that are needed.
package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"time"

	"github.com/goblosc/blosc2/ndarray"
)

// object reads ranges of a file on a web server. It counts the requests and their bytes.
type object struct {
	url             string
	size            int64
	requests, bytes atomic.Int64
}

// ReadAt implements io.ReaderAt. Several goroutines may call it at once.
func (o *object) ReadAt(p []byte, off int64) (int, error) {
	want := p[:max(0, min(int64(len(p)), o.size-off))]
	if len(want) == 0 {
		return 0, io.EOF
	}
	request, err := http.NewRequest(http.MethodGet, o.url, nil)
	if err != nil {
		return 0, err
	}
	request.Header.Set("Range", fmt.Sprintf("bytes=%d-%d", off, off+int64(len(want))-1))
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusPartialContent {
		return 0, fmt.Errorf("%s: %s", o.url, response.Status)
	}
	n, err := io.ReadFull(response.Body, want)
	o.requests.Add(1)
	o.bytes.Add(int64(n))
	if err == nil && n < len(p) {
		err = io.EOF
	}
	return n, err
}

// serve returns a web server for an array of 1000 x 1000 numbers.
func serve(ctx context.Context) (*httptest.Server, int64, error) {
	a, err := ndarray.FromFunc(ctx, "", []int64{1000, 1000}, func(t ndarray.Tile[float64]) error {
		for at, item := range t.All() {
			*item = float64(at[0]) + float64(at[1]*at[1]%1009)/1009
		}
		return nil
	}, &ndarray.CreateOptions{Chunks: []int64{100, 100}, Blocks: []int64{20, 100}})
	if err != nil {
		return nil, 0, err
	}
	var file bytes.Buffer
	if _, err := a.Save(ctx, &file); err != nil {
		return nil, 0, err
	}
	return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.ServeContent(w, r, "a.b2nd", time.Time{}, bytes.NewReader(file.Bytes()))
	})), int64(file.Len()), nil
}

func run(ctx context.Context) error {
	server, size, err := serve(ctx)
	if err != nil {
		return err
	}
	defer server.Close()
	remote := &object{url: server.URL, size: size}
	a, err := ndarray.OpenReaderAt(ctx, remote, size, &ndarray.OpenOptions{
		Concurrency: 16,       // requests at a time
		Cache:       16 << 20, // keep decoded blocks for neighboring reads
	})
	if err != nil {
		return err
	}
	defer a.Close()
	report := func(what string) {
		fmt.Printf("%s: %d requests, at most %d%% of the file\n", what, remote.requests.Swap(0), 1+100*remote.bytes.Swap(0)/size)
	}
	report("open")
	row, err := ndarray.Read[float64](ctx, a, ndarray.At(500)) // a[500]
	if err != nil {
		return err
	}
	report("row")
	item, err := ndarray.Item[float64](ctx, a, 250, 750) // a[250, 750]
	if err != nil {
		return err
	}
	report("item")
	next, err := ndarray.Item[float64](ctx, a, 250, 751)
	if err != nil {
		return err
	}
	report("its neighbor")
	fmt.Printf("%.3f %.3f %.3f\n", row[1], item, next)
	return nil
}

func main() {
	if err := run(context.Background()); err != nil {
		log.Print(err)
	}
}
