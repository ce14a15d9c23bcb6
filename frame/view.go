package frame

import (
	"slices"

	"github.com/goblosc/blosc2/internal/errs"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/meta"
)

// Info describes a frame. Sizes are in bytes.
type Info struct {
	Version   int   // of the frame format
	Sparse    bool  // a directory of chunk files
	NBytes    int64 // decoded size of all chunks
	CBytes    int64 // room that the chunks take
	FrameLen  int64 // size of the frame; without the chunks in sparse frames
	NumChunks int
	TypeSize  int
	BlockSize int // decoded size of a block; 0 = automatic, for each chunk
	ChunkSize int // decoded size of all chunks but the last; 0 = each has its own; -1 = not known yet
	VLBlocks  bool
	Params    chunk.Params // parameters for new chunks
	Checksums bool         // it keeps checksums; see Options
}

// Info returns what the header says of the frame, or the zero Info when it is closed.
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

// Path returns the name that the frame was opened with, or "".
func (f *Frame) Path() string { return f.path }

// NumChunks returns the number of chunks.
func (f *Frame) NumChunks() int { return f.current().index.n }

// Meta returns the metalayers. The slice and the contents are the caller's.
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

// VLMetaNames returns the names of the variable-length metalayers, in their order, except "b2crc32c".
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

// VLMeta returns the content of a variable-length metalayer, or fs.ErrNotExist. It is the caller's. By python-blosc2's
// convention it is a MessagePack value: see meta.Unmarshal.
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
