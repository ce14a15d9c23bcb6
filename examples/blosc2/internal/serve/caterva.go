package serve

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/codec"
	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/ndarray"
)

// arrayInfo is what Caterva2 reports of an array, as far as C2Array of python-blosc2 uses it, besides schunk.
type arrayInfo struct {
	Shape  []int64   `json:"shape"`
	Chunks []int64   `json:"chunks"`
	Blocks []int64   `json:"blocks"`
	DType  string    `json:"dtype"`
	MTime  time.Time `json:"mtime"`
}

// frameInfo is what Caterva2 reports of a frame as schunk, besides its attributes.
type frameInfo struct {
	CBytes     int64      `json:"cbytes"`
	NBytes     int64      `json:"nbytes"`
	CRatio     float64    `json:"cratio"`
	ChunkShape int        `json:"chunkshape"` // items of a chunk
	ChunkSize  int        `json:"chunksize"`
	BlockSize  int        `json:"blocksize"`
	NChunks    int        `json:"nchunks"`
	Contiguous bool       `json:"contiguous"`
	URLPath    *string    `json:"urlpath"`
	CParams    cparamInfo `json:"cparams"`
}

// cparamInfo are the arguments of blosc2.CParams.
type cparamInfo struct {
	Codec       uint8  `json:"codec"`
	CodecMeta   uint8  `json:"codec_meta"`
	CLevel      int    `json:"clevel"`
	Filters     [6]int `json:"filters"`
	FiltersMeta [6]int `json:"filters_meta"`
	TypeSize    int    `json:"typesize"`
	BlockSize   int    `json:"blocksize"`
	NThreads    int    `json:"nthreads"`
	SplitMode   int    `json:"splitmode"`
	Tuner       int    `json:"tuner"`
	UseDict     bool   `json:"use_dict"`
}

// below returns a request for the path after a prefix.
func below(r *http.Request, prefix string) *http.Request {
	r2 := *r
	u := *r.URL
	u.Path = "/" + strings.TrimPrefix(u.Path, prefix)
	r2.URL = &u
	return &r2
}

// serveInfo answers api/info/PATH.
func (s *Server) serveInfo(w *response, r *http.Request) error {
	r = below(r, "/api/info/")
	h := held{what: "the description", limit: s.limits.Result, memory: s.memory}
	defer h.free()
	done := false
	err := s.decode(w, r, func(_ context.Context, t target, e *entry) error {
		h.free() // of a state that has changed
		now := s.stateOf(e)
		if done = notModified(w, r, etag(now, "info", t.key)); done {
			return nil
		}
		return s.describeArray(&h, e.array, now)
	})
	if err != nil || done {
		return err
	}
	w.Header().Set("Content-Type", "application/json")
	return s.send(w, r, h.bytes)
}

// describeArray writes what the headers of an array say, and its attributes, as JSON.
func (s *Server) describeArray(h *held, a *ndarray.Array, now stamp) error {
	i := a.Frame().Info()
	v := arrayInfo{Shape: a.Shape(), Chunks: a.Chunks(), Blocks: a.Blocks(), DType: a.DType().String(), MTime: time.Unix(0, now.mtime).UTC()}
	f := frameInfo{
		CBytes: i.CBytes, NBytes: i.NBytes, ChunkSize: i.ChunkSize, BlockSize: i.BlockSize, NChunks: i.NumChunks,
		Contiguous: !i.Sparse, ChunkShape: i.ChunkSize / max(i.TypeSize, 1), CParams: cparamsOf(i),
	}
	if i.CBytes > 0 {
		f.CRatio = float64(i.NBytes) / float64(i.CBytes)
	}
	if err := errors.Join(h.openObject(v), h.text(`,"schunk":`), h.openObject(f)); err != nil {
		return err
	}
	if err := s.writeAttributes(h, a.Frame()); err != nil {
		return err
	}
	return h.text("}}")
}

// cparamsOf returns compression parameters with the numbers of C-Blosc2.
func cparamsOf(i frame.Info) cparamInfo {
	p := i.Params
	c := cparamInfo{
		Codec: p.Codec.Code(), CodecMeta: p.CodecMeta, CLevel: p.Level, TypeSize: i.TypeSize, BlockSize: i.BlockSize,
		NThreads: 1, SplitMode: int(p.Split), UseDict: p.Dict,
	}
	if p.Level == codec.NoCompression {
		c.CLevel = 0
	}
	if p.Split == chunk.SplitAuto {
		c.SplitMode = 3
	}
	for k, f := range p.Filters[:min(len(p.Filters), len(c.Filters))] {
		c.Filters[k], c.FiltersMeta[k] = int(f.Code()), int(f.Param())
	}
	return c
}

// serveFetch answers api/fetch/PATH: the stored frame, or a selection as a frame of its own.
func (s *Server) serveFetch(w *response, r *http.Request) error {
	r = below(r, "/api/fetch/")
	q := r.URL.Query()
	for _, name := range []string{"field", "filter"} {
		if q.Get(name) != "" {
			return errorf(http.StatusNotImplemented, "the parameter %s is not supported", name)
		}
	}
	text := q.Get("slice_")
	if text == "" {
		r.URL.RawQuery = "" // there is no other form of the stored bytes
		return s.serveStored(w, r)
	}
	sel, err := parseSelection(text)
	if err != nil {
		return err
	}
	return s.serveFrame(w, r, sel, "fetch", text)
}

// serveStored answers with the stored frame of a path, in ranges on request. The bytes of a sparse frame are those of a
// contiguous copy, with its metalayers and attributes, and without ranges.
func (s *Server) serveStored(w *response, r *http.Request) error {
	t, err := s.resolve(r.URL.Path)
	switch {
	case err != nil:
		return err
	case t.key != "":
		return s.serveLeaf(w, r)
	case t.info.IsDir():
		return s.serveSparse(w, r)
	}
	return s.serveRegular(w, r, t)
}

// serveSparse answers with the contiguous form of the sparse frame at a path. It is made in memory, except for HEAD. It
// has no ranges, each of which would make all of it again.
func (s *Server) serveSparse(w *response, r *http.Request) error {
	h := held{what: "the stored frame", limit: s.limits.Result, memory: s.memory}
	defer h.free()
	done := false
	err := s.decode(w, r, func(ctx context.Context, t target, e *entry) error {
		h.free() // of a state that has changed
		if done = notModified(w, r, etag(s.stateOf(e), "stored", t.key)); done || r.Method == http.MethodHead {
			return nil
		}
		_, err := e.array.Save(ctx, &h)
		return err
	})
	if err != nil || done {
		return err
	}
	w.Header().Set("Content-Type", contentType(""))
	if r.Method == http.MethodHead {
		w.WriteHeader(http.StatusOK) // the length is not known
		return nil
	}
	return s.send(w, r, h.bytes)
}

// serveFrame answers with a selection of an array, as a frame.
func (s *Server) serveFrame(w *response, r *http.Request, sel []ndarray.Index, parts ...string) error {
	var b bytes.Buffer
	var taken int64
	done := false
	defer func() { s.memory.give(taken) }()
	err := s.decode(w, r, func(ctx context.Context, t target, e *entry) error {
		s.memory.give(taken) // for a state that has changed
		taken = 0
		var res result
		n, _, err := s.measure(&res, e.array, sel) // a frame of index arrays is an error, before they take memory
		if err != nil {
			return err
		}
		if done = notModified(w, r, etag(s.stateOf(e), append(parts, t.key)...)); done {
			return nil
		}
		twice := min(2*n, s.memory.most) // the frame is in memory once as it is made, and once as it is sent
		if err := s.memory.take(twice, n); err != nil {
			return err
		}
		taken = twice
		b.Reset()
		return s.saveSelection(ctx, &b, e.array, sel)
	})
	if err != nil || done {
		return err
	}
	w.Header().Set("Content-Type", "application/octet-stream")
	return s.send(w, r, b.Bytes())
}

// saveSelection writes a selection of an array as a frame. Its items are those of the array, also if the codec or a
// filter of the array is lossy: encoding decoded items with it again could change them.
func (s *Server) saveSelection(ctx context.Context, w io.Writer, a *ndarray.Array, sel []ndarray.Index) error {
	v, err := ndarray.Slice(a, sel...)
	if err != nil {
		return err
	}
	o := &ndarray.CreateOptions{Concurrency: s.limits.Threads}
	if !keepsBytes(a.Frame().Info().Params) {
		o.Codec, o.Filters = codec.Zstd, []chunk.Filter{chunk.Shuffle}
	}
	c, err := ndarray.Copy(ctx, "", v, o)
	if err != nil {
		return err
	}
	defer c.Close()
	_, err = c.Save(ctx, w)
	return err
}

// keepsBytes reports whether compression parameters are known to restore each byte. Those with a parameter, as NDCell
// and user filters have, are not.
func keepsBytes(p chunk.Params) bool {
	switch p.Codec {
	case codec.Default, codec.BloscLZ, codec.LZ4, codec.LZ4HC, codec.Zlib, codec.Zstd:
	default:
		return false
	}
	return !slices.ContainsFunc(p.Filters, func(f chunk.Filter) bool {
		switch f.With(0) {
		case chunk.NoFilter, chunk.Shuffle, chunk.BitShuffle, chunk.Delta, chunk.ByteDelta:
			return false
		}
		return true
	})
}

// serveChunk answers api/chunk/PATH?nchunk=N: the stored bytes of a chunk.
func (s *Server) serveChunk(w *response, r *http.Request) error {
	r = below(r, "/api/chunk/")
	i, err := strconv.Atoi(r.URL.Query().Get("nchunk"))
	if err != nil {
		return errorf(http.StatusBadRequest, "nchunk %q is not a number", r.URL.Query().Get("nchunk"))
	}
	var b []byte
	var taken int64
	done := false
	defer func() { s.memory.give(taken) }()
	err = s.decode(w, r, func(ctx context.Context, t target, e *entry) error {
		s.memory.give(taken) // for a state that has changed
		taken = 0
		f := e.array.Frame()
		if i < 0 || i >= f.Info().NumChunks {
			return fmt.Errorf("chunk %d of %d: %w", i, f.Info().NumChunks, ndarray.ErrBounds)
		}
		if done = notModified(w, r, etag(s.stateOf(e), "chunk", t.key, strconv.Itoa(i))); done {
			return nil
		}
		info, err := f.ChunkInfo(ctx, i)
		if err == nil && int64(info.CBytes) > s.limits.Result {
			err = errorf(http.StatusRequestEntityTooLarge, "the chunk is larger than the limit of %d bytes", s.limits.Result)
		}
		if err == nil {
			err = s.memory.take(int64(info.CBytes), int64(info.CBytes))
		}
		if err != nil {
			return err
		}
		taken = int64(info.CBytes)
		b, err = f.ReadRaw(ctx, b[:0], i)
		return err
	})
	if err != nil || done {
		return err
	}
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set("Content-Disposition", fmt.Sprintf("attachment; filename=\"%s.%d.chunk\"", safeName(path.Base(r.URL.Path)), i))
	return s.send(w, r, b)
}

// safeName returns a name with letters, digits, dots, dashes and underscores only.
func safeName(name string) string {
	return strings.Map(func(c rune) rune {
		if c == '.' || c == '-' || c == '_' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' {
			return c
		}
		return '_'
	}, name)
}
