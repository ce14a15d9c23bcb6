package frame_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
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
	dir, err := os.MkdirTemp("", "frame")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	name := filepath.Join(dir, "log.b2frame")

	f, err := frame.Create(name, nil, nil)
	if err != nil {
		log.Fatal(err)
	}
	for i := range 3 {
		line := fmt.Sprintf("chunk %d: %s\n", i, strings.Repeat("all work and no play ", 500))
		if err := f.Append([]byte(line)); err != nil {
			log.Fatal(err)
		}
	}
	if err := f.Close(); err != nil {
		log.Fatal(err)
	}

	if f, err = frame.Open(name, nil); err != nil {
		log.Fatal(err)
	}
	defer f.Close()
	info := f.Info()
	p := make([]byte, 16)
	if _, err := f.ReadAt(p, int64(info.ChunkSize)); err != nil {
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
	f, err := frame.CreateMemory(&frame.Options{ChunkSize: 4}, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer f.Close()
	b, err := f.Begin(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	defer b.Rollback() // does nothing after Commit
	for _, s := range []string{"zero", "one.", "two."} {
		if err := b.Append([]byte(s)); err != nil {
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

// Metalayers have fixed lengths and stand in the header; variable-length ones stand at the end and can come and go.
func ExampleFrame_SetVLMeta() {
	f, err := frame.CreateMemory(&frame.Options{
		Params: chunk.Params{TypeSize: 8},
		Meta:   []meta.Layer{{Name: "version", Content: []byte{1}}},
	}, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer f.Close()
	if err := f.SetVLMeta("comment", []byte("measured in the rain")); err != nil {
		log.Fatal(err)
	}
	if err := f.SetMeta("version", []byte{2}); err != nil {
		log.Fatal(err)
	}
	version, err := f.MetaLayer("version")
	if err != nil {
		log.Fatal(err)
	}
	comment, err := f.VLMeta("comment")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(version, f.VLMetaNames(), string(comment))
	// Output: [2] [comment] measured in the rain
}

// A frame as bytes, to send and to open elsewhere.
func ExampleFrame_AppendTo() {
	f, err := frame.CreateMemory(nil, func(b *frame.Batch) error { return b.Append([]byte("some bytes")) })
	if err != nil {
		log.Fatal(err)
	}
	b, err := f.AppendTo(nil)
	if err != nil {
		log.Fatal(err)
	}
	again, err := frame.OpenBytes(b, nil)
	if err != nil {
		log.Fatal(err)
	}
	p, err := again.ReadChunk(nil, 0)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s\n", p)
	// Output: some bytes
}

// Edits leave dead bytes; most are used again by later edits. Compact gives back the rest.
func ExampleFrame_Compact() {
	dir, err := os.MkdirTemp("", "frame")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	f, err := frame.Create(filepath.Join(dir, "x.b2frame"), nil, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer f.Close()
	for i := range 20 {
		if err := f.Append([]byte(strings.Repeat(fmt.Sprint("line ", i), 1000))); err != nil {
			log.Fatal(err)
		}
	}
	for range 19 {
		if err := f.Delete(0); err != nil {
			log.Fatal(err)
		}
	}
	before, err := f.DeadBytes()
	if err != nil {
		log.Fatal(err)
	}
	if err := f.Compact(context.Background()); err != nil {
		log.Fatal(err)
	}
	after, err := f.DeadBytes()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("dead bytes before:", before > 0, "after:", after)
	// Output:
	// dead bytes before: true after: 0
}

// A frame with checksums tells when a stored byte is another.
func ExampleFrame_Verify() {
	o := &frame.Options{Checksums: true, Params: chunk.Params{Level: codec.NoCompression}}
	f, err := frame.CreateMemory(o, func(b *frame.Batch) error {
		return errors.Join(b.Append([]byte("the first")), b.Append([]byte("a second.")), b.Append([]byte("the third")))
	})
	if err != nil {
		log.Fatal(err)
	}
	stored, err := f.AppendTo(nil)
	if err != nil {
		log.Fatal(err)
	}
	stored[bytes.Index(stored, []byte("second"))] = 'S'

	f, err = frame.OpenBytes(stored, &frame.Options{Verify: true})
	if err != nil {
		log.Fatal(err)
	}
	_, err = f.ReadChunk(nil, 1)
	fmt.Println("chunk 1:", errors.Is(err, frame.ErrChecksum))
	_, err = f.ReadChunk(nil, 2)
	fmt.Println("chunk 2:", err)
	err = f.Verify(context.Background(), func(err error) error {
		fmt.Println(err)
		return nil
	})
	if err != nil {
		log.Fatal(err)
	}
	// Output:
	// chunk 1: true
	// chunk 2: <nil>
	// frame: chunk 1 at byte 138: the checksum is of something else: corrupt data
}

// Salvage finds the chunks of a frame that has lost its end.
func ExampleSalvage() {
	dir, err := os.MkdirTemp("", "frame")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	name := filepath.Join(dir, "x.b2frame")
	f, err := frame.Create(name, nil, func(b *frame.Batch) error {
		return errors.Join(b.Append([]byte("first ")), b.Append([]byte("second")))
	})
	if err != nil {
		log.Fatal(err)
	}
	size := f.Info().FrameLen
	f.Close()
	if err := os.Truncate(name, size-40); err != nil {
		log.Fatal(err)
	}
	_, err = frame.Open(name, nil)
	fmt.Println("opens:", err == nil)

	f, found, err := frame.Salvage(context.Background(), name, filepath.Join(dir, "new.b2frame"), nil, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer f.Close()
	var text strings.Builder
	if _, err := f.WriteTo(&text); err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%d chunks: %q\n", found.Chunks, text.String())
	// Output:
	// opens: false
	// 2 chunks: "first second"
}
