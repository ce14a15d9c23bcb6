package remote_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"sync/atomic"

	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/frame/remote"
)

// serve serves a super-chunk.
func serve() *httptest.Server {
	return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("ETag", `"v1"`)
		http.ServeFile(w, r, "../../testdata/python-blosc2/schunk_lz4hc.b2frame")
	}))
}

// Open an object, and read it as a frame. ndarray.OpenSource reads it as an array.
func ExampleOpen() {
	server := serve()
	defer server.Close()
	ctx := context.Background()

	src, err := remote.Open(ctx, server.URL, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer src.Close()
	f, err := frame.OpenSource(ctx, src, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer f.Close()
	fmt.Println(f.NumChunks(), "chunks, version", src.Version())
	// Output: 6 chunks, version "v1"
}

// A folder keeps the bytes that were received. A program that opens the object again only asks whether it has changed.
func ExampleOptions_dir() {
	server := serve()
	defer server.Close()
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "cache") // a real program uses a folder that stays
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)

	for range 2 {
		var received atomic.Int64
		src, err := remote.Open(ctx, server.URL, &remote.Options{
			Dir:      dir,
			DirBytes: 100 << 20, // at most 100 MiB
			Trace: func(e remote.Event) {
				if e.Kind == remote.Request {
					received.Add(e.Len)
				}
			},
		})
		if err != nil {
			fmt.Println(err)
			return
		}
		f, err := frame.OpenSource(ctx, src, nil)
		if err != nil {
			fmt.Println(err)
			return
		}
		chunk, err := f.ReadChunk(ctx, nil, 2)
		fmt.Println(len(chunk), "bytes", err)
		f.Close()
		src.Close() // the frame does not close its source
		fmt.Println("received more than a byte:", received.Load() > 1)
	}
	// Output:
	// 4000 bytes <nil>
	// received more than a byte: true
	// 4000 bytes <nil>
	// received more than a byte: false
}

// Options.Trace shows how many requests a program sends.
func ExampleOptions_trace() {
	server := serve()
	defer server.Close()
	ctx := context.Background()

	src, err := remote.Open(ctx, server.URL, &remote.Options{
		Small: true, // one request
		Trace: func(e remote.Event) {
			if e.Kind == remote.Request {
				fmt.Println("request, status", e.Status)
			}
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer src.Close()
	f, err := frame.OpenSource(ctx, src, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer f.Close()
	chunk, err := f.ReadChunk(ctx, nil, 2)
	fmt.Println(len(chunk), "bytes", err)
	// Output:
	// request, status 206
	// 4000 bytes <nil>
}

// Read several ranges with few requests. Frames call ReadRanges themselves.
func ExampleObject_ReadRanges() {
	server := serve()
	defer server.Close()
	ctx := context.Background()

	src, err := remote.Open(ctx, server.URL, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer src.Close()
	want := []remote.Range{{Off: 1, Len: 8}, {Off: 25, Len: 1}}
	err = src.ReadRanges(ctx, want, func(i int, at int64, b []byte) error {
		fmt.Printf("range %d from byte %d: %q\n", i, at, b)
		return nil
	})
	if err != nil {
		fmt.Println(err)
	}
	// Output:
	// range 0 from byte 0: "\xa8b2frame"
	// range 1 from byte 0: "\x12"
}

// A sparse frame is a directory with a file for each chunk. Any server of files will do.
func ExampleOpenDir() {
	server := httptest.NewServer(http.FileServer(http.Dir("../../testdata/python-blosc2")))
	defer server.Close()
	ctx := context.Background()

	dir, err := remote.OpenDir(ctx, server.URL+"/schunk_append_s/", nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer dir.Close()
	f, err := frame.OpenSource(ctx, dir, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer f.Close()
	chunk, err := f.ReadChunk(ctx, nil, 1)
	fmt.Println(f.NumChunks(), "chunks, one of", len(chunk), "bytes", err)
	// Output:
	// 6 chunks, one of 4000 bytes <nil>
}
