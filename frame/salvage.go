package frame

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/frame/internal/storage"
	"github.com/goblosc/blosc2/internal/coder"
	"github.com/goblosc/blosc2/internal/errs"
	"github.com/goblosc/blosc2/internal/task"
	"github.com/goblosc/blosc2/meta"
)

// Salvaged is the result of Salvage.
type Salvaged struct {
	Chunks int  // number of intact chunks, which are in the new frame
	Lost   int  // number of chunks that are known to be lost
	Index  bool // whether the order of the chunks comes from an index or checksums, not from their positions
	Doubt  bool // whether chunks may have other numbers, because the length of a lost header is not certain
}

// Salvage creates a new frame with the intact chunks and metalayers of the damaged frame in the file or directory
// broken, and opens it for editing. It calls report, which may be nil, with the location of each part that is lost or
// omitted.
//
// A chunk in a bad sector of the disk counts as lost, and so does a missing chunk file. After any other error of
// reading, such as a missing permission or too many open files, Salvage creates no frame and returns the error.
//
// If the header, the index and the trailer can be read, Salvage decodes each chunk and compares it with its checksum,
// if there is one. It copies the stored bytes of intact chunks. A lost chunk becomes a chunk of zeros, so that the
// others keep their numbers. In a frame with chunks of variable size it is omitted.
//
// Otherwise Salvage searches every byte of the file, or the chunk files of the directory, for chunks that can be
// decoded. If it finds an index most of whose entries are such chunks, it uses the order of that index. Otherwise it
// orders them by the checksums, or without checksums by their positions. Deleted chunks may reappear. If the header is
// lost, Salvage derives a new one from the chunks. If the chunks have one size, several lengths of the lost header may
// fit the index. Salvage then takes the most probable one and sets Doubt. It omits the metalayer that describes an
// array (b2nd or caterva) if the chunks do not match it, and metalayers whose names have a NUL or are not UTF-8.
//
// For name and o see [Create]. Codecs, UserFilters and Concurrency also apply to reading the damaged frame, with the
// default limits of OpenOptions. Params, ChunkSize, Meta and VLMeta come from the damaged frame: if one of them is set,
// Salvage returns ErrParam. It returns ErrFormat if it finds neither an intact chunk nor a header. Other errors are
// those of Create, of ctx and of reading. If too many bytes look like chunks, the search ends early, and Salvage
// reports ErrTooLarge.
func Salvage(ctx context.Context, name, broken string, report func(error), o *CreateOptions) (*Frame, Salvaged, error) {
	if report == nil {
		report = func(error) {}
	}
	if o == nil {
		o = &CreateOptions{}
	}
	ctx = task.Context(ctx)
	var found Salvaged
	err := o.checkKept("Salvage")
	if err == nil {
		_, _, err = o.settings(name)
	}
	if err != nil {
		return nil, found, err
	}
	f, err := openDamaged(ctx, strings.TrimPrefix(broken, "file://"), o, report, &found)
	if err != nil {
		return nil, found, err
	}
	defer f.Close()
	s, err := f.acquire(ctx)
	if err != nil {
		return nil, found, err
	}
	defer f.unuse(s)
	f.checkParams(s, report)
	to := *o
	to.Checksums = o.Checksums || findLayer(s.vlmeta, checksumLayer) >= 0
	to.BlockTable = o.BlockTable || findLayer(s.vlmeta, blockLayer) >= 0
	if s.vlmeta, err = f.intactLayers(ctx, s, &to, report); err != nil {
		return nil, found, err
	}
	s.meta = f.fittingLayers(ctx, s, report)
	out, err := copyOf(ctx, name, s, &to, func(b *Batch) error { return f.salvageChunks(ctx, s, b, report, &found) })
	return out, found, err
}

// openDamaged opens a damaged frame for reading, with its index or a new one.
func openDamaged(ctx context.Context, broken string, o *CreateOptions, report func(error), found *Salvaged) (*Frame, error) {
	from := &OpenOptions{
		Codecs: o.Codecs, UserFilters: o.UserFilters, Postfilter: o.Postfilter, Concurrency: o.Concurrency, sys: o.sys,
	}
	f, fault := Open(ctx, broken, from)
	switch {
	case fault == nil:
		hidden, err := f.repairIndex(ctx, report, found)
		if err != nil {
			return nil, err
		}
		if !hidden {
			return f, nil
		}
		report(f.errHidden())
	case isFault(fault), storage.IsBadSector(fault):
		report(fault)
	default:
		return nil, fault // there is nothing to read
	}
	return rebuild(ctx, broken, from, fault, report, found)
}

// repairIndex repairs the index of an opened frame. It closes the frame after an error or a panic, or if the header
// denies that there is an index: then it returns true.
func (f *Frame) repairIndex(ctx context.Context, report func(error), found *Salvaged) (hidden bool, err error) {
	repaired := false
	defer func() {
		if !repaired {
			f.Close()
		}
	}()
	s := f.snap.Load()
	sv := &salvager{ctx: ctx, f: f, report: report, found: found, s: s, pool: f.pool, headed: true}
	sv.src = notedSource{s.src, sv}
	if s.checksums != nil && s.checksums.fault != nil {
		report(s.checksums.fault)
	}
	if found.Index = true; s.index.n == 0 {
		hidden, err = sv.hidden(ctx)
	} else if sv.size, err = f.store.size(s); err == nil {
		sv.repairItemSize(ctx)
		err = sv.repair(ctx)
	}
	err = sv.result(err)
	repaired = err == nil && !hidden
	return hidden, err
}

// repairItemSize replaces the item size in the header if all chunks have another one, and with it the array has the
// right size, or more chunks can be decoded.
func (sv *salvager) repairItemSize(ctx context.Context) {
	s, had := sv.s, sv.s.typeSize
	size, ok := sv.commonTypeSize(ctx)
	if !ok || sv.hasArray() {
		return
	}
	use := func(n int32) {
		s.typeSize = n
		sv.f.workers = sync.Pool{} // they decode with the other size
		sv.f.prepare(s)
		sv.pool = sv.f.pool
	}
	if use(size); !sv.hasArray() {
		use(had)
		without, all := sv.countIntact(ctx)
		if all {
			return
		}
		use(size)
		if with, _ := sv.countIntact(ctx); with <= without {
			use(had)
			return
		}
	}
	sv.report(sv.f.wrap("header", offTypeSize, corrupt("item size %d, that of the chunks is %d", had, size)))
}

// commonTypeSize returns the item size that all chunk headers have, unless it is that of the frame.
func (sv *salvager) commonTypeSize(ctx context.Context) (size int32, ok bool) {
	for i := range sv.s.index.distinct() {
		h, err := sv.f.chunkHeader(storage.Bind(ctx, sv.s.src), sv.s, i)
		if err != nil || h.Special != chunk.Regular {
			continue
		}
		if h.TypeSize == coder.CappedTypeSize(int(sv.s.typeSize)) || ok && h.TypeSize != int(size) {
			return 0, false
		}
		size, ok = int32(h.TypeSize), true
	}
	return size, ok && ctx.Err() == nil
}

// hasArray reports whether the frame is an array of the size that its metalayer describes.
func (sv *salvager) hasArray() bool {
	return slices.ContainsFunc(sv.s.meta, func(l meta.Layer) bool {
		return (l.Name == "b2nd" || l.Name == "caterva") && fitsArray(sv.s, l) == nil
	})
}

// countIntact returns how many chunks can be decoded, and reports whether these are all.
func (sv *salvager) countIntact(ctx context.Context) (n int, all bool) {
	chunks := sv.f.distinctChunks(ctx, sv.s)
	chunks.left = salvageLimit(sv.size)
	all = true
	for i := range sv.s.index.distinct() {
		_, last, err := chunks.verify(i)
		if last || ctx.Err() != nil {
			return n, false
		}
		if err == nil {
			n++
		} else {
			all = false
		}
	}
	return n, all
}

// rebuild opens a damaged frame with a new index. fault is the error of Open, which was reported, or nil.
func rebuild(ctx context.Context, broken string, from *OpenOptions, fault error, report func(error), found *Salvaged) (*Frame, error) {
	opts, sys, err := from.settings(modeRead)
	if err != nil {
		return nil, err
	}
	f, err := newFrame(broken, opts, sys)
	if err != nil {
		return nil, err
	}
	fi, err := sys.Stat(broken)
	if err != nil {
		return nil, err
	}
	sv := &salvager{ctx: ctx, f: f, found: found}
	sv.report = func(err error) {
		if fault == nil || err.Error() != fault.Error() {
			report(err)
		}
	}
	rebuilt := false
	defer func() {
		if !rebuilt && f.store != nil {
			f.store.close()
		}
	}()
	if fi.IsDir() {
		err = sv.openDir(ctx, broken)
	} else {
		err = sv.openFile(ctx, broken)
	}
	if err = sv.result(err); err != nil {
		return nil, err
	}
	rebuilt = true
	return f, nil
}

// intactLayers returns the variable-length metalayers that can be read, as many as can be written besides those of to.
// It includes metalayers with a wrong checksum, because another library may have written them.
func (f *Frame) intactLayers(ctx context.Context, s *snapshot, to *CreateOptions, report func(error)) ([]meta.Layer, error) {
	most := meta.MaxVLLayersWrite
	if to.Checksums {
		most--
	}
	if to.BlockTable {
		most--
	}
	contents, records, sums := map[*byte]error{}, map[*byte]bool{}, map[*byte]uint32{}
	var layers []meta.Layer
	for _, l := range s.vlmeta {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if l.Name == checksumLayer || l.Name == blockLayer {
			continue
		}
		if err := f.checkLayer(sums, s, true, l); err != nil {
			report(err)
		}
		err := f.checkContent(ctx, contents, l)
		if canceled := ctx.Err(); canceled != nil {
			return nil, canceled
		}
		switch {
		case err != nil:
		case once(records, l, f.isChecksumRecord):
			err = f.wrap("variable-length metalayer "+l.Name, -1, fmt.Errorf("left out: it holds checksums, but has another name: %w", ErrChecksum))
		case !writable(l.Name, layers):
			err = f.wrap("variable-length metalayer "+l.Name, -1, fmt.Errorf("left out: the name cannot be written: %w", ErrParam))
		case len(layers) == most:
			err = f.wrap("variable-length metalayer "+l.Name, -1, fmt.Errorf("one more than can be written: %w", ErrTooLarge))
		}
		if err != nil {
			report(err)
			continue
		}
		layers = append(layers, l)
	}
	return layers, nil
}

// writable reports whether a metalayer with this name can be written after others. Damage may have changed the name to
// one that other libraries misread. C-Blosc2 writes empty names.
func writable(name string, layers []meta.Layer) bool {
	return len(name) <= meta.MaxNameLen && findLayer(layers, name) < 0 && (name == "" || checkLayerName(name) == nil)
}

// fittingLayers returns the metalayers, without the description of an array that the chunks do not match.
func (f *Frame) fittingLayers(ctx context.Context, s *snapshot, report func(error)) []meta.Layer {
	var layers []meta.Layer
	for _, l := range s.meta {
		if !writable(l.Name, layers) {
			report(f.wrap("metalayer "+l.Name, -1, fmt.Errorf("left out: the name cannot be written: %w", ErrParam)))
			continue
		}
		if l.Name == "b2nd" || l.Name == "caterva" {
			err := fitsArray(s, l)
			if err == nil {
				err = f.fitsBlocks(ctx, s)
			}
			if err != nil {
				report(f.wrap("metalayer "+l.Name, -1, fmt.Errorf("left out: %w", err)))
				continue
			}
		}
		layers = append(layers, l)
	}
	return layers
}

// fitsArray returns an error if the chunks of s cannot be those of the array that a metalayer describes.
func fitsArray(s *snapshot, l meta.Layer) error {
	a, err := meta.ParseArray(l.Content, int(s.typeSize))
	if err == nil {
		err = a.Validate(int(s.typeSize))
	}
	if err != nil {
		return err
	}
	chunks, size := int64(1), int64(s.typeSize)
	if slices.Contains(a.Shape, 0) {
		chunks = 0
	}
	for i := 0; i < len(a.Shape) && chunks > 0; i++ {
		n, c, b := a.Shape[i], int64(a.ChunkShape[i]), int64(a.BlockShape[i])
		chunks *= (n-1)/c + 1
		size *= (c + b - 1) / b * b
	}
	switch {
	case chunks != int64(s.index.n):
		return corrupt("%d chunks, the shape needs %d", s.index.n, chunks)
	case chunks > 0 && (int64(s.chunkSize) != size || s.nbytes != chunks*size):
		return corrupt("%d bytes in chunks of %d, the shape needs chunks of %d", s.nbytes, s.chunkSize, size)
	}
	return nil
}

// fitsBlocks returns an error if most chunks of an array have blocks of another size than those of the array. The data
// of these chunks is not lost, but the description of the array would make them unreadable.
func (f *Frame) fitsBlocks(ctx context.Context, s *snapshot) error {
	_, want := arraySizes(s)
	fit, other := 0, 0
	for i, e := range s.index.distinct() {
		if e == maxOffset {
			continue
		}
		switch h, err := f.chunkHeader(storage.Bind(ctx, s.src), s, i); {
		case err != nil || h.Special != chunk.Regular:
		case int64(h.BlockSize) == want && !h.VLBlocks:
			fit++
		default:
			other++
		}
	}
	if other > fit {
		return corrupt("%d chunks have blocks of other sizes than %d bytes", other, want)
	}
	return nil
}

// salvageChunks appends the intact chunks of s.
func (f *Frame) salvageChunks(ctx context.Context, s *snapshot, b *Batch, report func(error), found *Salvaged) error {
	b.copiesFrom(f)
	if s.index.list == nil && s.index.n > 0 {
		if s.chunkSize <= 0 {
			report(f.wrap("index", s.indexPos(), corrupt("%d chunks of a special value without a size", s.index.n)))
			found.Lost = s.index.n
			return nil
		}
		f.salvageUniform(ctx, s, b, report, found)
		err := b.storeOddItems()
		if errors.Is(err, ErrTooLarge) { // only C-Blosc2 cannot read the last chunk
			report(err)
			err = nil
		}
		return err
	}
	size, err := f.store.size(s)
	if err != nil {
		return err
	}
	var buf []byte
	chunks := f.distinctChunks(ctx, s)
	chunks.left = salvageLimit(size)
	chunks.checkArray()
	for i := range s.index.n {
		if err := ctx.Err(); err != nil {
			return err
		}
		err := chunks.usableOnce(i)
		if err == nil {
			buf, err = chunks.append(b, i, buf)
		}
		if b.err != nil {
			return b.err
		}
		if failsToRead(err) {
			return err
		}
		if canceled := ctx.Err(); err != nil && canceled != nil { // the chunk is not lost
			return canceled
		}
		if err == nil {
			found.Chunks++
			continue
		}
		report(err)
		found.Lost++
		if n := s.chunkLen(i); n > 0 && !s.vlBlocks {
			zeros, err := coder.EncodeSpecial(nil, chunk.Zeros, int(n), nil, coder.Params{TypeSize: int(s.typeSize)})
			if err == nil {
				err = b.insertChunk(b.next.index.n, zeros, nil)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// salvageUniform sets the index to that of s, whose chunks have one special value. Chunks that are lost become zeros.
func (f *Frame) salvageUniform(ctx context.Context, s *snapshot, b *Batch, report func(error), found *Salvaged) {
	b.next.index, b.next.nbytes = s.index, s.nbytes
	if err := f.checkUsable(ctx, s, 0); err != nil {
		report(err)
		found.Lost, b.next.index.uniform = s.index.n, entryZeros
		return
	}
	found.Chunks = s.index.n
	if err := f.checkUsable(ctx, s, s.index.n-1); err != nil { // the last may be shorter than the others
		report(err)
		f.loseLast(b, found)
	}
}

// loseLast replaces the last of the chunks of one special value by zeros, or all chunks if there are too many for a
// list.
func (f *Frame) loseLast(b *Batch, found *Salvaged) {
	x := &b.next.index
	if f.CheckAlloc(8*int64(x.n)) != nil {
		found.Chunks, found.Lost, x.uniform = 0, x.n, entryZeros
		return
	}
	found.Chunks, found.Lost = x.n-1, 1
	list, checksums := x.entries(), b.next.chunkChecksums()
	list[x.n-1] = entryZeros
	*x = newIndex(list, checksums)
}

// sensible returns an error if no library writes these parameters for new chunks. It accepts filters that this package
// only reads: older libraries, and libraries that check less, write them.
func (h *header) sensible(plugins coder.Plugins) error {
	p := h.cparams()
	p.Filters = slices.Clone(p.Filters)
	for i, f := range p.Filters {
		if coder.MayReject(f) {
			p.Filters[i] = chunk.NoFilter
		}
	}
	_, _, err := plugins.Normalize(p)
	return err
}

// checkParams replaces parameters for new chunks that no library writes by the defaults.
func (f *Frame) checkParams(s *snapshot, report func(error)) {
	if err := s.sensible(f.plugins); err != nil {
		report(f.wrap("header", offFilters, fmt.Errorf("parameters for new chunks, defaults take their place: %w", err)))
		if s.setCParams(chunk.Params{TypeSize: int(s.typeSize)}, f.plugins) != nil {
			s.setCParams(chunk.Params{TypeSize: 1}, f.plugins)
		}
	}
}

// salvageLimit returns the number of bytes of chunks that may be examined or copied from a file of size bytes.
// Overlapping chunks could otherwise make a file of any size.
func salvageLimit(size int64) int64 { return 16<<20 + 4*min(size, 1<<60) }

// checkUsable returns an error unless chunk i is intact, or cannot be checked because its codec is not available.
func (f *Frame) checkUsable(ctx context.Context, s *snapshot, i int) error {
	if s.index.at(i) == maxOffset {
		return f.chunkErrorAt(i, -1, corrupt("not found"))
	}
	_, err := f.usableHeader(ctx, storage.Bind(ctx, s.src), s, i)
	return err
}

// usableHeader returns the header of chunk i if it is usable.
func (f *Frame) usableHeader(ctx context.Context, from io.ReaderAt, s *snapshot, i int) (coder.Header, error) {
	h, err := f.verifyChunk(ctx, from, s, i)
	if errors.Is(err, errs.ErrUnsupported) {
		return f.chunkHeader(from, s, i)
	}
	return h, err
}

// usableOnce is checkUsable, but examines a chunk that is referenced many times only once, and bounds the work for
// chunks that overlap.
func (d *distinctChunks) usableOnce(i int) error {
	e := d.s.index.at(i)
	if e < 0 || e == maxOffset {
		return d.f.checkUsable(d.ctx, d.s, i)
	}
	if err := d.spend(i, 0); err != nil {
		return err
	}
	if d.seen == nil {
		h, err := d.f.usableHeader(d.ctx, storage.Bind(d.ctx, d.s.src), d.s, i)
		d.left -= int64(h.CBytes)
		return cmp.Or(err, d.checkSizes(i, &h))
	}
	c := d.seen[e]
	if c == nil {
		c = d.examine(i, storage.Bind(d.ctx, d.s.src), d.f.usableHeader)
		d.seen[e] = c
		d.left -= int64(c.h.CBytes)
	}
	return cmp.Or(d.fits(i, c), d.checkSizes(i, &c.h))
}
