package frame_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"

	"github.com/goblosc/blosc2/frame"
)

// saved returns a frame with some chunks as bytes.
func saved(chunks ...string) []byte {
	ctx := context.Background()
	f, err := frame.Create(ctx, "", nil)
	if err != nil {
		log.Fatal(err)
	}
	defer f.Close()
	for _, c := range chunks {
		if err := f.Append(ctx, []byte(c)); err != nil {
			log.Fatal(err)
		}
	}
	var b bytes.Buffer
	if _, err := f.Save(ctx, &b); err != nil {
		log.Fatal(err)
	}
	return b.Bytes()
}

// A frame in memory, from a database or a message for instance.
func ExampleOpenBytes() {
	f, err := frame.OpenBytes(saved("one", "two"), nil)
	if err != nil {
		log.Fatal(err)
	}
	defer f.Close()
	all, err := io.ReadAll(f.Content(context.Background()))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s\n", all)
	// Output: onetwo
}

// A frame inside another file is read through an io.SectionReader.
func ExampleOpenReaderAt() {
	ctx := context.Background()
	b := saved("one", "two")
	file := bytes.NewReader(append([]byte("something else, then a frame: "), b...))
	section := io.NewSectionReader(file, 30, int64(len(b)))

	f, err := frame.OpenReaderAt(ctx, section, section.Size(), nil)
	if err != nil {
		log.Fatal(err)
	}
	defer f.Close()
	p, err := f.ReadChunk(ctx, nil, 1)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s\n", p)
	// Output: two
}

// A reader follows the commits of a writer.
func ExampleFrame_Refresh() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "frame")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	name := filepath.Join(dir, "x.b2frame")
	writer, err := frame.Create(ctx, name, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer writer.Close()
	reader, err := frame.Open(ctx, name, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer reader.Close()

	if err := writer.Append(ctx, []byte("news")); err != nil {
		log.Fatal(err)
	}
	before := reader.NumChunks()
	changed, err := reader.Refresh(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(before, changed, reader.NumChunks())
	// Output: 0 true 1
}

// With Locking, several processes edit one file, and each read sees what was committed last.
func ExampleOpenOptions_locking() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "frame")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	name := filepath.Join(dir, "x.b2frame")
	f, err := frame.Create(ctx, name, &frame.CreateOptions{Locking: true})
	if errors.Is(err, errors.ErrUnsupported) {
		fmt.Println("0 1 from g") // this system has no locks of files
		return
	}
	if err != nil {
		log.Fatal(err)
	}
	defer f.Close()
	// Usually in another process.
	g, err := frame.Edit(ctx, name, &frame.OpenOptions{Locking: true})
	if err != nil {
		log.Fatal(err)
	}
	defer g.Close()

	if err := g.Append(ctx, []byte("from g")); err != nil {
		log.Fatal(err)
	}
	known := f.NumChunks()
	p, err := f.ReadChunk(ctx, nil, 0)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(known, f.NumChunks(), string(p))
	// Output: 0 1 from g
}

// With a cache, items that are read one by one do not decode their block each time.
func ExampleOpenOptions_cache() {
	f, err := frame.OpenBytes(saved("0123456789", "abcdefghij"), &frame.OpenOptions{Cache: 1 << 20})
	if err != nil {
		log.Fatal(err)
	}
	defer f.Close()
	item := make([]byte, 2)
	for _, at := range []int64{4, 12, 6} {
		if _, err := f.Content(context.Background()).ReadAt(item, at); err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%s ", item)
	}
	// Output: 45 cd 67
}

// A size in a file from an unknown source is a claim. MaxBytes limits the memory that it may ask for.
func ExampleOpenOptions_maxBytes() {
	f, err := frame.OpenBytes(saved(string(make([]byte, 1<<20))+"end"), &frame.OpenOptions{MaxBytes: 1 << 16})
	if err != nil {
		log.Fatal(err)
	}
	defer f.Close()
	_, err = f.ReadChunk(context.Background(), nil, 0)
	fmt.Println(errors.Is(err, frame.ErrTooLarge))
	// Output: true
}
