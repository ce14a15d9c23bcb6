package attack

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"path/filepath"
	"time"

	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/ndarray"
)

// timeLimit is how long an operation may take whose time depends on what a file claims. Its context ends it.
const timeLimit = 300 * time.Millisecond

// maxAll is the largest content, in bytes, that is read as a whole.
const maxAll = 1 << 20

// checkFrame reads a mutant, copies it, repairs it, and edits it.
func (c *checker) checkFrame() {
	before := snapshot(c.path)
	c.checkVerify()
	c.readByName()
	if b := c.mu.Bytes(); b != nil && c.rng.IntN(2) == 0 {
		if f, err := frame.OpenBytes(b, openOptions(c.options(), false)); c.step("FromBytes", err) {
			c.readFrame(f)
			c.readArray(f)
			f.Close()
		}
	}
	if c.mu.pure {
		c.compare()
	}
	c.copies()
	c.salvage()
	if after := snapshot(c.path); after != before {
		c.faultf("reading changed the files:\n%s\nbefore:\n%s", after, before)
	}
	c.edits()
}

// checkVerify sets Intact.
func (c *checker) checkVerify() {
	f, err := frame.Open(context.Background(), c.path, &frame.OpenOptions{Concurrency: 1, MaxBytes: pick[int64](c.rng, 0, 32<<20)})
	if !c.step("Open", err) {
		return
	}
	defer f.Close()
	c.Opened = true
	c.Intact = c.verify("Verify", f) == nil
	if !c.Intact || !c.mu.Array {
		return
	}
	// Verify of a frame does not know whether the array can be read.
	a, err := ndarray.OpenFrame(f)
	if err == nil && a.Size() < maxAll/int64(a.DType().Size) {
		c.Intact = a.ReadBytes(context.Background(), make([]byte, int(a.Size())*a.DType().Size)) == nil
	} else {
		c.Intact = false
	}
}

var errEnough = errors.New("enough")

// verify returns the first fault that Verify finds, or nil.
func (c *checker) verify(name string, f *frame.Frame) error {
	var first error
	faults := 0
	err := f.Verify(context.Background(), func(err error) error {
		if c.step(name, err); first == nil {
			first = err
		}
		if faults++; faults > 20 {
			return errEnough
		}
		return nil
	})
	if err != nil && !errors.Is(err, errEnough) {
		c.step(name, err)
	}
	return cmp.Or(first, err)
}

// readByName opens a mutant by its name, as a frame and as an array.
func (c *checker) readByName() {
	if f, err := frame.Open(context.Background(), c.path, openOptions(c.options(), true)); c.step("Open", err) {
		c.readFrame(f)
		f.Close()
	}
	if !c.mu.Array && c.rng.IntN(8) > 0 {
		return
	}
	if a, err := ndarray.Open(context.Background(), c.path, c.arrayOptions()); c.step("Open of an array", err) {
		c.readArray(a.Frame())
		a.Close()
	}
}

// readFrame reads the parts of a frame.
func (c *checker) readFrame(f *frame.Frame) {
	info := f.Info()
	if info.NumChunks < 0 || info.NBytes < 0 || f.NumChunks() != info.NumChunks {
		c.faultf("Info: %d chunks, %d bytes", info.NumChunks, info.NBytes)
	}
	for _, l := range f.Meta() {
		if _, ok := metaLayer(f, l.Name); !ok {
			c.faultf("Meta: no metalayer %q", l.Name)
		}
	}
	for i, name := range f.VLMetaNames() {
		if i < 20 {
			_, err := f.VLMeta(name)
			c.mustStep("VLMeta", err)
		}
	}
	_, err := f.DeadBytes(context.Background())
	c.mustStep("DeadBytes", err)
	f.Engine().AllocLimit(context.Background())
	n := info.NumChunks
	if n > 0 {
		for _, i := range []int{0, n - 1, c.rng.IntN(n), c.rng.IntN(n)} {
			c.readChunk(f, i)
		}
	}
	_, err = f.ReadChunk(context.Background(), nil, n)
	if !errors.Is(err, frame.ErrBounds) {
		c.faultf("ReadChunk(%d) of %d: %v", n, n, err)
	}
	c.readAt(f, info.NBytes)
}

// readChunk reads a chunk as a whole and its blocks.
func (c *checker) readChunk(f *frame.Frame, i int) {
	info, err := f.ChunkInfo(context.Background(), i)
	ok := c.mustStep("ChunkInfo", err)
	_, err = f.ReadRaw(context.Background(), nil, i)
	c.mustStep("ReadRaw", err)
	whole, err := f.ReadChunk(context.Background(), nil, i)
	read := c.mustStep("ReadChunk", err)
	if !ok || info.Blocks == 0 {
		return
	}
	if read && len(whole) != info.NBytes {
		c.faultf("chunk %d has %d bytes, ChunkInfo says %d", i, len(whole), info.NBytes)
	}
	for _, k := range []int{0, info.Blocks - 1, c.rng.IntN(info.Blocks)} {
		b, err := f.ReadBlock(context.Background(), nil, i, k)
		if c.mustStep("ReadBlock", err) && read && !bytes.Contains(whole, b) {
			c.faultf("block %d of chunk %d is not in the chunk", k, i)
		}
	}
}

// readAt reads at some positions, and a small frame as a whole.
func (c *checker) readAt(f *frame.Frame, n int64) {
	buf := make([]byte, 1000)
	for _, off := range []int64{0, n / 2, max(0, n-500), n} {
		k, err := f.Content(context.Background()).ReadAt(buf, off)
		if err == io.EOF {
			err = nil
			if off+int64(k) != n {
				c.faultf("ReadAt(%d) returns %d bytes of %d and io.EOF", off, k, n)
			}
		}
		c.mustStep("ReadAt", err)
	}
	if n > maxAll {
		return
	}
	var all bytes.Buffer
	_, err := io.Copy(&all, f.Content(context.Background()))
	if c.mustStep("WriteTo", err) && int64(all.Len()) != n {
		c.faultf("WriteTo writes %d bytes of %d", all.Len(), n)
	}
}

// compare reads a mutant whose checksums are those of the original. What can be read is what the original has.
func (c *checker) compare() {
	f, err := frame.Open(context.Background(), c.path, &frame.OpenOptions{RequireChecksums: true, Concurrency: 1})
	if !c.step("Open with checksums", err) {
		return
	}
	defer f.Close()
	o := c.mu.from
	if f.NumChunks() != len(o.data) && len(o.data) > 0 {
		c.faultf("%d chunks, the original has %d", f.NumChunks(), len(o.data))
		return
	}
	for i, want := range o.data {
		got, err := f.ReadChunk(context.Background(), nil, i)
		if !c.step("ReadChunk with checksums", err) || bytes.Equal(got, want) {
			continue
		}
		// The fixed part of the header has no checksum: special chunks without bytes have the length that it states.
		if info, err := f.ChunkInfo(context.Background(), i); err != nil || info.Off >= 0 {
			c.faultf("chunk %d differs from the original although checksums are required", i)
		}
	}
	for name, want := range o.meta {
		if got, ok := metaLayer(f, name); ok && !bytes.Equal(got, want) {
			c.faultf("metalayer %q differs from the original", name)
		}
	}
	for name, want := range o.vlmeta {
		got, err := f.VLMeta(name)
		if c.step("VLMeta with checksums", err) && !bytes.Equal(got, want) {
			c.faultf("variable-length metalayer %q differs from the original", name)
		}
	}
	if o.items == nil {
		return
	}
	a, err := ndarray.OpenFrame(f)
	if !c.step("FromFrame with checksums", err) {
		return
	}
	if size := a.Size() * int64(a.DType().Size); size != int64(len(o.items)) {
		c.faultf("%d bytes of items, the original has %d", size, len(o.items))
		return
	}
	got := make([]byte, len(o.items))
	if err := a.ReadBytes(context.Background(), got); c.step("ReadBytes with checksums", err) && !bytes.Equal(got, o.items) {
		c.faultf("items differ from the original although checksums are required")
	}
}

// copies copies a mutant to a file or directory, and to memory.
func (c *checker) copies() {
	f, err := frame.Open(context.Background(), c.path, &frame.OpenOptions{Concurrency: 1, MaxBytes: pick[int64](c.rng, 0, 32<<20)})
	if err != nil {
		return
	}
	defer f.Close()
	if c.rng.IntN(2) == 0 && f.NumChunks() <= 50_000 {
		name := filepath.Join(c.dir, "copy")
		g, err := frame.Copy(context.Background(), name, f, &frame.CreateOptions{NoSync: true, Sparse: c.rng.IntN(2) == 0 && f.NumChunks() < 300})
		if c.mustStep("Copy", err) {
			c.sameData("Copy", f, g)
			g.Close()
		} else if snapshot(name) != "" {
			c.faultf("Copy fails and leaves %s", snapshot(name))
		}
	}
	b, err := saved(f)
	if !c.mustStep("Save", err) {
		return
	}
	g, err := frame.OpenBytes(b, nil)
	if err != nil {
		if !errors.Is(err, frame.ErrTooLarge) {
			c.faultf("Save makes what cannot be opened: %v", err)
		}
		return
	}
	c.sameData("Save", f, g)
	g.Close()
}

// sameData compares the content of a frame and of its copy.
func (c *checker) sameData(name string, f, g *frame.Frame) {
	// In frames whose chunks have sizes of their own the header may be wrong; Verify reports that.
	if f.NumChunks() != g.NumChunks() || f.Info().NBytes != g.Info().NBytes && (c.Intact || f.Info().ChunkSize > 0) {
		c.faultf("%s: %d chunks of %d bytes, the copy has %d of %d", name, f.NumChunks(), f.Info().NBytes, g.NumChunks(), g.Info().NBytes)
		return
	}
	if max(f.Info().NBytes, g.Info().NBytes) <= maxAll {
		var a, b bytes.Buffer
		_, err := io.Copy(&a, f.Content(context.Background()))
		_, err2 := io.Copy(&b, g.Content(context.Background()))
		if err == nil && err2 == nil && !bytes.Equal(a.Bytes(), b.Bytes()) || err == nil && err2 != nil && !errors.Is(err2, frame.ErrTooLarge) {
			c.faultf("%s: the copy differs: %v", name, err2)
		}
	}
	if !c.Intact {
		return
	}
	if err := c.verify("Verify of a copy", g); err != nil {
		c.faultf("%s: a copy of an intact mutant is not intact: %v", name, err)
	}
}

// salvage repairs a mutant. The result is intact.
func (c *checker) salvage() {
	name := filepath.Join(c.dir, "new")
	o := &frame.CreateOptions{NoSync: true, Checksums: c.rng.IntN(2) == 0, Concurrency: 1}
	// Salvage reads the whole file, holes included: a program limits its time.
	ctx, cancel := context.WithTimeout(context.Background(), timeLimit)
	defer cancel()
	var lost error // the first thing that is lost
	told := 0
	f, found, err := frame.Salvage(ctx, name, c.path, func(err error) {
		lost = cmp.Or(lost, err)
		if told++; told < 20 {
			c.step("Salvage", err)
		}
	}, o)
	if errors.Is(err, context.DeadlineExceeded) {
		if s := snapshot(name); s != "" {
			c.faultf("Salvage ends early and leaves %s", s)
		}
		return
	}
	if !c.step("Salvage", err) {
		if c.Intact && !limit(err) && !mayGuess(c.path) {
			c.faultf("Salvage of an intact mutant: %v", err)
		}
		if s := snapshot(name); s != "" {
			c.faultf("Salvage fails and leaves %s", s)
		}
		return
	}
	defer f.Close()
	if c.Intact && found.Lost > 0 && !mayGuess(c.path) { // other chunks may be found for an entry that is given twice
		c.faultf("Salvage loses %d chunks of an intact mutant: %v", found.Lost, lost)
	}
	// What uses an unknown codec or filter is kept, as it may be valid.
	if err := c.verify("Verify of a salvaged frame", f); err != nil && !errors.Is(err, errors.ErrUnsupported) && !errors.Is(err, frame.ErrTooLarge) {
		c.faultf("Salvage makes a frame that is not intact: %v", err)
	}
}

// mayGuess reports whether Salvage may see more in an intact frame than Verify: the index references a chunk twice, or
// is lost, because the frame is empty according to its header.
func mayGuess(path string) bool {
	f, err := frame.Open(context.Background(), path, nil)
	if err != nil {
		return false
	}
	defer f.Close()
	if f.NumChunks() == 0 {
		return true
	}
	seen := map[int64]bool{}
	for i := range f.NumChunks() {
		info, err := f.ChunkInfo(context.Background(), i)
		if err != nil || info.Off >= 0 && seen[info.Off] {
			return true
		}
		seen[info.Off] = true
	}
	return false
}
