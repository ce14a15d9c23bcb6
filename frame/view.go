package frame

import (
	"slices"

	"github.com/goblosc/blosc2/internal/errs"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/meta"
)

// Info describes a frame. Sizes are in bytes.
type Info struct {
	Version   int          // of the frame format
	Sparse    bool         // a directory of chunk files
	NBytes    int64        // decoded size of all chunks
	CBytes    int64        // stored size of the chunks; in a contiguous frame, dead bytes between them included
	FrameLen  int64        // size of the frame; without the chunks in sparse frames
	NumChunks int          // number of chunks
	TypeSize  int          // size of an item
	BlockSize int          // decoded size of a block; 0 = automatic, for each chunk
	ChunkSize int          // decoded size of all chunks but the last; 0 = each has its own; -1 = not known yet
	VLBlocks  bool         // whether blocks have variable sizes
	Params    chunk.Params // parameters for new chunks
	Checksums bool         // whether the frame has checksums; see CreateOptions
}

// Info returns the content of the header, or the zero Info if the frame is closed.
func (f *Frame) Info() Info {
	if s := f.snap.Load(); s != nil {
		return s.info()
	}
	return Info{}
}

func (s *snapshot) info() Info {
	p := chunk.Params(s.cparams())
	p.Filters = slices.Clone(p.Filters) // snapshots do not change
	return Info{
		Version: int(s.version), Sparse: s.sparse, NBytes: s.nbytes, CBytes: s.cbytes, FrameLen: s.frameLen,
		NumChunks: s.index.n, TypeSize: int(s.typeSize), BlockSize: int(s.blockSize), ChunkSize: int(s.chunkSize),
		VLBlocks: s.vlBlocks, Params: p, Checksums: s.checksums != nil,
	}
}

// Path returns the name that the frame was opened with, without "file://", or "" if it has none.
func (f *Frame) Path() string { return f.path }

// NumChunks returns the number of chunks.
func (f *Frame) NumChunks() int { return f.current().index.n }

// Meta returns copies of the metalayers, or nil if the frame is closed.
func (f *Frame) Meta() []meta.Layer {
	s := f.snap.Load()
	if s == nil {
		return nil
	}
	out := make([]meta.Layer, len(s.meta))
	for i, l := range s.meta {
		out[i] = meta.Layer{Name: l.Name, Content: slices.Clone(l.Content)}
	}
	return out
}

// VLMetaNames returns the names of the variable-length metalayers in stored order, except "b2crc32c", or nil if the
// frame is closed.
func (f *Frame) VLMetaNames() []string {
	s := f.snap.Load()
	if s == nil {
		return nil
	}
	names := make([]string, 0, len(s.vlmeta))
	for _, l := range s.vlmeta {
		if l.Name != checksumLayer {
			names = append(names, l.Name)
		}
	}
	return names
}

// VLMeta returns a copy of the content of a variable-length metalayer, decompressed. By python-blosc2's convention it
// is a MessagePack value: see meta.Unmarshal. The error wraps fs.ErrNotExist, fs.ErrClosed, ErrCorrupt, ErrChecksum or
// ErrTooLarge.
func (f *Frame) VLMeta(name string) ([]byte, error) {
	s := f.snap.Load()
	if s == nil {
		return nil, f.errClosed()
	}
	i := findLayer(s.vlmeta, name)
	if i < 0 {
		return nil, f.wrap("variable-length metalayer "+name, -1, errs.ErrNotExist)
	}
	if f.opts.Verify {
		if err := f.checkLayer(s, true, s.vlmeta[i]); err != nil {
			return nil, err
		}
	}
	return f.vlContent(s.vlmeta[i])
}
