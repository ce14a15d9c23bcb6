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
	"strings"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/codec"
	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/meta"
)

// A super-chunk in a file: append chunks, read bytes anywhere.
func Example() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "frame")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	name := filepath.Join(dir, "log.b2frame")

	f, err := frame.Create(ctx, name, nil)
	if err != nil {
		log.Fatal(err)
	}
	for i := range 3 {
		line := fmt.Sprintf("chunk %d: %s\n", i, strings.Repeat("all work and no play ", 500))
		if err := f.Append(ctx, []byte(line)); err != nil {
			log.Fatal(err)
		}
	}
	if err := f.Close(); err != nil {
		log.Fatal(err)
	}

	if f, err = frame.Open(ctx, name, nil); err != nil {
		log.Fatal(err)
	}
	defer f.Close()
	info := f.Info()
	p := make([]byte, 16)
	if _, err := f.Content(ctx).ReadAt(p, int64(info.ChunkSize)); err != nil {
		log.Fatal(err)
	}
	fmt.Println(info.NumChunks, "chunks of", info.ChunkSize, "bytes")
	fmt.Printf("%q\n", p)
	// Output:
	// 3 chunks of 10510 bytes
	// "chunk 1: all wor"
}

// Several edits become visible together, or not at all.
func ExampleBatch() {
	ctx := context.Background()
	f, err := frame.Create(ctx, "", &frame.CreateOptions{ChunkSize: 4})
	if err != nil {
		log.Fatal(err)
	}
	defer f.Close()
	b, err := f.Begin(ctx)
	if err != nil {
		log.Fatal(err)
	}
	defer b.Rollback() // does nothing after Commit
	for _, s := range []string{"zero", "one.", "two."} {
		if err := b.Append(ctx, []byte(s)); err != nil {
			log.Fatal(err)
		}
	}
	if err := b.Delete(1); err != nil {
		log.Fatal(err)
	}
	fmt.Println("before:", f.NumChunks())
	if err := b.Commit(); err != nil {
		log.Fatal(err)
	}
	fmt.Println("after:", f.NumChunks())
	// Output:
	// before: 0
	// after: 2
}

// Metalayers are in the header and keep their lengths. Variable-length metalayers are in the trailer and can be added
// and removed.
func ExampleBatch_SetVLMeta() {
	ctx := context.Background()
	f, err := frame.Create(ctx, "", &frame.CreateOptions{
		Params: chunk.Params{TypeSize: 8},
		Meta:   []meta.Layer{{Name: "version", Content: []byte{1}}},
	})
	if err != nil {
		log.Fatal(err)
	}
	defer f.Close()
	b, err := f.Begin(ctx)
	if err != nil {
		log.Fatal(err)
	}
	defer b.Rollback()
	if err := b.SetVLMeta("comment", []byte("measured in the rain")); err != nil {
		log.Fatal(err)
	}
	if err := b.SetMeta("version", []byte{2}); err != nil {
		log.Fatal(err)
	}
	if err := b.Commit(); err != nil {
		log.Fatal(err)
	}
	comment, err := f.VLMeta("comment")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(f.Meta(), f.VLMetaNames(), string(comment))
	// Output: [{version [2]}] [comment] measured in the rain
}

// Save writes a frame to a connection, a hash or memory, without holding it as a whole.
func ExampleFrame_Save() {
	ctx := context.Background()
	f, err := frame.CreateFunc(ctx, "", func(b *frame.Batch) error { return b.Append(ctx, []byte("some bytes")) }, nil)
	if err != nil {
		log.Fatal(err)
	}
	var b bytes.Buffer
	if _, err := f.Save(ctx, &b); err != nil {
		log.Fatal(err)
	}
	again, err := frame.OpenBytes(b.Bytes(), nil)
	if err != nil {
		log.Fatal(err)
	}
	p, err := again.ReadChunk(ctx, nil, 0)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s\n", p)
	// Output: some bytes
}

// Edits leave dead bytes. Later edits use most of them again, and Compact releases the rest.
func ExampleFrame_Compact() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "frame")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	f, err := frame.Create(ctx, filepath.Join(dir, "x.b2frame"), nil)
	if err != nil {
		log.Fatal(err)
	}
	defer f.Close()
	for i := range 20 {
		if err := f.Append(ctx, []byte(strings.Repeat(fmt.Sprint("line ", i), 1000))); err != nil {
			log.Fatal(err)
		}
	}
	b, err := f.Begin(ctx)
	if err != nil {
		log.Fatal(err)
	}
	defer b.Rollback()
	for range 19 {
		if err := b.Delete(0); err != nil {
			log.Fatal(err)
		}
	}
	if err := b.Commit(); err != nil {
		log.Fatal(err)
	}
	before, err := f.DeadBytes(ctx)
	if err != nil {
		log.Fatal(err)
	}
	if err := f.Compact(ctx); err != nil {
		log.Fatal(err)
	}
	after, err := f.DeadBytes(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("dead bytes before:", before > 0, "after:", after)
	// Output:
	// dead bytes before: true after: 0
}

// A frame with checksums tells when a stored byte is another.
func ExampleFrame_Verify() {
	ctx := context.Background()
	o := &frame.CreateOptions{Checksums: true, Params: chunk.Params{Level: codec.NoCompression}}
	f, err := frame.CreateFunc(ctx, "", func(b *frame.Batch) error {
		return errors.Join(b.Append(ctx, []byte("the first")), b.Append(ctx, []byte("a second.")), b.Append(ctx, []byte("the third")))
	}, o)
	if err != nil {
		log.Fatal(err)
	}
	var saved bytes.Buffer
	if _, err := f.Save(ctx, &saved); err != nil {
		log.Fatal(err)
	}
	stored := saved.Bytes()
	stored[bytes.Index(stored, []byte("second"))] = 'S'

	f, err = frame.OpenBytes(stored, &frame.OpenOptions{Verify: true})
	if err != nil {
		log.Fatal(err)
	}
	_, err = f.ReadChunk(ctx, nil, 1)
	fmt.Println("chunk 1:", errors.Is(err, frame.ErrChecksum))
	_, err = f.ReadChunk(ctx, nil, 2)
	fmt.Println("chunk 2:", err)
	err = f.Verify(ctx, func(err error) error {
		fmt.Println(err)
		return nil
	})
	if err != nil {
		log.Fatal(err)
	}
	// Output:
	// chunk 1: true
	// chunk 2: <nil>
	// frame: chunk 1 at byte 138: checksum mismatch: corrupt data
}

// Salvage finds the chunks of a frame that has lost its end.
func ExampleSalvage() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "frame")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	name := filepath.Join(dir, "x.b2frame")
	f, err := frame.CreateFunc(ctx, name, func(b *frame.Batch) error {
		return errors.Join(b.Append(ctx, []byte("first ")), b.Append(ctx, []byte("second")))
	}, nil)
	if err != nil {
		log.Fatal(err)
	}
	size := f.Info().FrameLen
	f.Close()
	if err := os.Truncate(name, size-40); err != nil {
		log.Fatal(err)
	}
	_, err = frame.Open(ctx, name, nil)
	fmt.Println("opens:", err == nil)

	f, found, err := frame.Salvage(ctx, filepath.Join(dir, "new.b2frame"), name, nil, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer f.Close()
	var text strings.Builder
	if _, err := io.Copy(&text, f.Content(ctx)); err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%d chunks: %q\n", found.Chunks, text.String())
	// Output:
	// opens: false
	// 2 chunks: "first second"
}

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
		fmt.Println("0 1 from g") // this system has no file locks
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
