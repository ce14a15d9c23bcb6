package main

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/codec"
	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/meta"
	"github.com/goblosc/blosc2/ndarray"
)

// infoCmd prints the contents of the headers.
type infoCmd struct {
	JSON bool   `name:"json" help:"print one JSON object with the keys path nbytes cbytes nchunks typesize chunksize blocksize compcode clevel filters filters_meta metalayers vlmeta, and for arrays also ndim shape chunks blocks dtype dtype_format. Metalayers are in hexadecimal: fixed-length ones as stored, variable-length ones decompressed"`
	Path string `arg:"" name:"PATH"`
}

// Help describes the verb.
func (infoCmd) Help() string {
	return `
Prints the contents of the header and the trailer. It decodes no chunk.
`
}

// Run runs the verb.
func (v *infoCmd) Run(e *env) error {
	s, err := openSource(e, v.Path)
	if err != nil {
		return err
	}
	defer s.close()
	if v.JSON {
		return infoJSON(e, s)
	}
	tw := tabwriter.NewWriter(e.out, 0, 0, 2, ' ', 0)
	if s.chunk != nil {
		infoChunk(tw, s)
	} else if err := infoFrame(tw, s); err != nil {
		return err
	}
	return tw.Flush()
}

// infoFields is the object that info -json prints for frames, in the order of its keys.
type infoFields struct {
	Path        string   `json:"path"`
	NBytes      int64    `json:"nbytes"`
	CBytes      int64    `json:"cbytes"`
	NChunks     int      `json:"nchunks"`
	TypeSize    int      `json:"typesize"`
	ChunkSize   int      `json:"chunksize"`
	BlockSize   int      `json:"blocksize"`
	CompCode    uint8    `json:"compcode"`
	CLevel      int      `json:"clevel"`
	Filters     [6]int   `json:"filters"`
	FiltersMeta [6]int   `json:"filters_meta"`
	Metalayers  hexMap   `json:"metalayers"`
	VLMeta      hexMap   `json:"vlmeta"`
	NDim        *int     `json:"ndim,omitempty"`
	Shape       *[]int64 `json:"shape,omitempty"`
	Chunks      *[]int64 `json:"chunks,omitempty"`
	Blocks      *[]int64 `json:"blocks,omitempty"`
	DType       *string  `json:"dtype,omitempty"`
	DTypeFormat *int     `json:"dtype_format,omitempty"`
}

// chunkFields is the object for single chunks.
type chunkFields struct {
	Path        string `json:"path"`
	NBytes      int    `json:"nbytes"`
	CBytes      int    `json:"cbytes"`
	NBlocks     int    `json:"nblocks"`
	TypeSize    int    `json:"typesize"`
	BlockSize   int    `json:"blocksize"`
	CompCode    uint8  `json:"compcode"`
	Filters     [6]int `json:"filters"`
	FiltersMeta [6]int `json:"filters_meta"`
	Version     uint8  `json:"version"`
	Special     string `json:"special,omitempty"`
}

// hexMap is a list of metalayers, printed as an object with contents in hexadecimal.
type hexMap []meta.Layer

// MarshalJSON implements json.Marshaler.
func (m hexMap) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, l := range m {
		if i > 0 {
			b.WriteByte(',')
		}
		name, err := json.Marshal(l.Name)
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&b, "%s:%q", name, hex.EncodeToString(l.Content))
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// pipelineNumbers returns filters and their parameters as headers store them.
func pipelineNumbers(p []chunk.Filter) (ids, metas [6]int) {
	for i, f := range p {
		ids[i], metas[i] = int(f.Code()), int(f.Param())
	}
	return ids, metas
}

// storedLevel returns a compression level as headers store it.
func storedLevel(level int) int {
	if level == codec.NoCompression {
		return 0
	}
	return level
}

// infoJSON prints the contents of the headers as JSON.
func infoJSON(e *env, s *source) error {
	out := json.NewEncoder(e.out)
	out.SetEscapeHTML(false)
	if s.chunk != nil {
		h := s.chunk.Header()
		c := chunkFields{
			Path: s.path, NBytes: h.NBytes, CBytes: h.CBytes, NBlocks: h.NumBlocks, TypeSize: h.Params.TypeSize,
			BlockSize: h.Params.BlockSize, CompCode: h.Params.Codec.Code(), Version: uint8(h.Version),
		}
		c.Filters, c.FiltersMeta = pipelineNumbers(h.Params.Filters)
		if h.Special != chunk.Regular {
			c.Special = h.Special.String()
		}
		return out.Encode(c)
	}
	i := s.frame.Info()
	v := infoFields{
		Path: s.path, NBytes: i.NBytes, CBytes: i.CBytes, NChunks: i.NumChunks, TypeSize: i.TypeSize,
		ChunkSize: i.ChunkSize, BlockSize: i.BlockSize, CompCode: i.Params.Codec.Code(),
		CLevel: storedLevel(i.Params.Level), Metalayers: s.frame.Meta(),
	}
	v.Filters, v.FiltersMeta = headerFilters(i.Params)
	for _, name := range s.frame.VLMetaNames() {
		b, err := s.frame.VLMeta(name)
		if err != nil {
			return err
		}
		v.VLMeta = append(v.VLMeta, meta.Layer{Name: name, Content: b})
	}
	if a := s.array; a != nil {
		shape, chunks, blocks := a.Shape(), a.Chunks(), a.Blocks()
		n := len(shape)
		dtype, format := storedDType(a)
		v.NDim, v.DType, v.DTypeFormat = &n, &dtype, &format
		v.Shape, v.Chunks, v.Blocks = &shape, &chunks, &blocks
	}
	return out.Encode(v)
}

// storedDType returns the stored dtype of an array and its format. The dtype is "" if none is stored.
func storedDType(a *ndarray.Array) (string, int) {
	dtype, format := "", 0
	for _, l := range a.Frame().Meta() {
		if l.Name != "b2nd" && l.Name != "caterva" {
			continue
		}
		// ParseArray replaces a missing dtype by one that depends on the item size.
		one, err1 := meta.ParseArray(l.Content, 1)
		two, err2 := meta.ParseArray(l.Content, 2)
		if err1 == nil && err2 == nil {
			format = int(one.DTypeFormat)
			if one.DType == two.DType {
				dtype = one.DType
			}
		}
		break
	}
	return dtype, format
}

// headerFilters returns the filters of a frame as its header stores them.
func headerFilters(c chunk.Params) (ids, metas [6]int) {
	var p [numFilters]chunk.Filter
	copy(p[:], c.Filters)
	return pipelineNumbers(p[:])
}

// infoFrame prints a frame as text.
func infoFrame(tw *tabwriter.Writer, s *source) error {
	i := s.frame.Info()
	kind, storage := "super-chunk", "contiguous file"
	if i.Sparse {
		storage = "sparse directory"
	}
	if s.array != nil {
		kind = "array"
	}
	fmt.Fprintf(tw, "%s\nkind\t%s, %s, frame format %d\n", s.path, kind, storage, i.Version)
	if s.damaged != nil {
		fmt.Fprintf(tw, "array\tdamaged: %s\n", oneLine(s.damaged))
	}
	if a := s.array; a != nil {
		dtype, _ := storedDType(a)
		if d := a.DType().String(); dtype == "" {
			dtype = "none, read as " + d
		} else if d != dtype {
			dtype += ", read as " + d
		}
		fmt.Fprintf(tw, "shape\t%s\n", pyTuple(a.Shape()))
		fmt.Fprintf(tw, "chunks\t%s\n", pyTuple(a.Chunks()))
		fmt.Fprintf(tw, "blocks\t%s\n", pyTuple(a.Blocks()))
		fmt.Fprintf(tw, "dtype\t%s\n", dtype)
	}
	fmt.Fprintf(tw, "data\t%d bytes in %d chunks\n", i.NBytes, i.NumChunks)
	fmt.Fprintf(tw, "stored\t%d bytes%s\n", i.CBytes, ratio(i.NBytes, i.CBytes))
	fmt.Fprintf(tw, "item size\t%d bytes\n", i.TypeSize)
	fmt.Fprintf(tw, "chunk size\t%s\n", chunkSizeText(i))
	if i.VLBlocks {
		fmt.Fprintf(tw, "block size\tvaries by block\n")
	} else {
		fmt.Fprintf(tw, "block size\t%s\n", sizeOr(i.BlockSize, "chosen for each chunk"))
	}
	name := i.Params.Codec.String()
	if i.Params.CodecMeta != 0 {
		name += fmt.Sprintf(" (parameter %d)", i.Params.CodecMeta)
	}
	if i.Params.Dict {
		name += ", dictionaries"
	}
	fmt.Fprintf(tw, "codec\t%s, level %d\n", name, storedLevel(i.Params.Level))
	fmt.Fprintf(tw, "filters\t%s\n", filterNames(i.Params.Filters))
	for _, l := range s.frame.Meta() {
		fmt.Fprintf(tw, "metalayer %s\t%s\n", l.Name, valueText(l.Content))
	}
	for _, name := range s.frame.VLMetaNames() {
		b, err := s.frame.VLMeta(name)
		if err != nil {
			return err
		}
		fmt.Fprintf(tw, "vlmeta %s\t%s\n", name, valueText(b))
	}
	return nil
}

// infoChunk prints a single chunk as text.
func infoChunk(tw *tabwriter.Writer, s *source) {
	h := s.chunk.Header()
	fmt.Fprintf(tw, "%s\nkind\tchunk, format %d\n", s.path, h.Version)
	fmt.Fprintf(tw, "data\t%d bytes in %d blocks\n", h.NBytes, h.NumBlocks)
	fmt.Fprintf(tw, "stored\t%d bytes%s\n", h.CBytes, ratio(int64(h.NBytes), int64(h.CBytes)))
	fmt.Fprintf(tw, "item size\t%d bytes\n", h.Params.TypeSize)
	if !h.VarBlocks {
		fmt.Fprintf(tw, "block size\t%d bytes\n", h.Params.BlockSize)
	}
	switch {
	case h.Special != chunk.Regular:
		fmt.Fprintf(tw, "content\t%v\n", h.Special)
	case h.Stored:
		fmt.Fprintf(tw, "content\tuncompressed\n")
	default:
		fmt.Fprintf(tw, "codec\t%v\n", h.Params.Codec)
		fmt.Fprintf(tw, "filters\t%s\n", filterNames(h.Params.Filters))
	}
}

func ratio(nbytes, cbytes int64) string {
	if cbytes <= 0 {
		return ""
	}
	return fmt.Sprintf(", ratio %.4g", float64(nbytes)/float64(cbytes))
}

func sizeOr(n int, none string) string {
	if n <= 0 {
		return none
	}
	return fmt.Sprintf("%d bytes", n)
}

func chunkSizeText(i frame.Info) string {
	if i.ChunkSize < 0 {
		return "set by the first chunk"
	}
	return sizeOr(i.ChunkSize, "varies by chunk")
}

// filterNames returns the filters in order, with parameters that are not 0.
func filterNames(list []chunk.Filter) string {
	var names []string
	for _, f := range list {
		if f.With(0) == chunk.NoFilter {
			continue
		}
		names = append(names, f.String())
	}
	if names == nil {
		return "none"
	}
	return strings.Join(names, ", ")
}

// valueText returns a MessagePack value as JSON, or the size of any other value.
func valueText(b []byte) string {
	const most = 200
	text, err := unpackJSON(b)
	if err != nil {
		return fmt.Sprintf("%d bytes", len(b))
	}
	if len(text) > most {
		return strings.ToValidUTF8(text[:most], "") + " ..."
	}
	return text
}
