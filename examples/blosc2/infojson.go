package main

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"unicode/utf8"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/codec"
	"github.com/goblosc/blosc2/meta"
)

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
	Codec       string   `json:"codec"`
	FilterNames []string `json:"filter_names"`
	Data        int64    `json:"data_bytes"`
	Padding     int64    `json:"padding_bytes"`
	Meta        valueMap `json:"meta"`
	MetaErrors  valueMap `json:"meta_errors,omitempty"`
	Attrs       valueMap `json:"attrs"`
	AttrsErrors valueMap `json:"attrs_errors,omitempty"`
}

// chunkFields is the object for single chunks.
type chunkFields struct {
	Path        string   `json:"path"`
	NBytes      int      `json:"nbytes"`
	CBytes      int      `json:"cbytes"`
	NBlocks     int      `json:"nblocks"`
	TypeSize    int      `json:"typesize"`
	BlockSize   int      `json:"blocksize"`
	CompCode    uint8    `json:"compcode"`
	Filters     [6]int   `json:"filters"`
	FiltersMeta [6]int   `json:"filters_meta"`
	Version     uint8    `json:"version"`
	Special     string   `json:"special,omitempty"`
	Codec       string   `json:"codec"`
	FilterNames []string `json:"filter_names"`
}

// hexMap is a list of metalayers, printed as an object with contents in hexadecimal.
type hexMap []meta.Layer

// MarshalJSON implements json.Marshaler.
func (m hexMap) MarshalJSON() ([]byte, error) {
	return marshalLayers(m, func(content []byte) ([]byte, error) { return json.Marshal(hex.EncodeToString(content)) })
}

// valueMap is a list of metalayers, printed as an object. Their contents are JSON.
type valueMap []meta.Layer

// MarshalJSON implements json.Marshaler.
func (m valueMap) MarshalJSON() ([]byte, error) {
	return marshalLayers(m, func(content []byte) ([]byte, error) { return content, nil })
}

// decodeLayers returns the decoded contents of metalayers, and the errors of those that are not MessagePack or take
// more memory than check allows, as JSON strings. A value that JSON cannot express is a string.
func decodeLayers(layers []meta.Layer, check func(n int64) error) (values, failed valueMap) {
	values = valueMap{}
	for _, l := range layers {
		text, err := unpackJSON(l.Content, check)
		if err != nil {
			failed = append(failed, meta.Layer{Name: l.Name, Content: jsonString(err.Error())})
			continue
		}
		content := []byte(text)
		if !json.Valid(content) {
			content = jsonString(text)
		}
		values = append(values, meta.Layer{Name: l.Name, Content: content})
	}
	return values, failed
}

// jsonString returns a string in JSON.
func jsonString(text string) []byte {
	b, _ := json.Marshal(text) // of a string, there is no error
	return b
}

// marshalLayers returns an object with the names of layers, and what value makes of their contents. A name that is not
// UTF-8 is in hexadecimal.
func marshalLayers(layers []meta.Layer, value func(content []byte) ([]byte, error)) ([]byte, error) {
	b := []byte{'{'}
	for i, l := range layers {
		if i > 0 {
			b = append(b, ',')
		}
		key := l.Name
		if !utf8.ValidString(key) {
			key = fmt.Sprintf("bytes %x", key)
		}
		name, err := json.Marshal(key)
		if err != nil {
			return nil, err
		}
		text, err := value(l.Content)
		if err != nil {
			return nil, err
		}
		b = append(append(append(b, name...), ':'), text...)
	}
	return append(b, '}'), nil
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
	if s.chunk != nil {
		h := s.chunk.Header()
		c := chunkFields{
			Path: s.path, NBytes: h.NBytes, CBytes: h.CBytes, NBlocks: h.NumBlocks, TypeSize: h.Params.TypeSize,
			BlockSize: h.Params.BlockSize, CompCode: h.Params.Codec.Code(), Version: uint8(h.Version),
			Codec: h.Params.Codec.String(), FilterNames: filterList(h.Params.Filters),
		}
		c.Filters, c.FiltersMeta = pipelineNumbers(h.Params.Filters)
		if h.Special != chunk.Regular {
			c.Special = h.Special.String()
		}
		return e.printJSON(c)
	}
	i := s.frame.Info()
	v := infoFields{
		Path: s.path, NBytes: i.NBytes, CBytes: i.CBytes, NChunks: i.NumChunks, TypeSize: i.TypeSize,
		ChunkSize: i.ChunkSize, BlockSize: i.BlockSize, CompCode: i.Params.Codec.Code(),
		CLevel: storedLevel(i.Params.Level), Metalayers: s.frame.Meta(),
		Codec: i.Params.Codec.String(), FilterNames: filterList(i.Params.Filters), Data: dataBytes(s),
	}
	v.Meta, v.MetaErrors = decodeLayers(s.frame.Meta(), s.frame.CheckAlloc)
	v.Filters, v.FiltersMeta = headerFilters(i.Params)
	total := int64(0)
	for _, name := range s.frame.VLMetaNames() {
		b, err := s.frame.VLMeta(name)
		if err != nil {
			return err
		}
		total += int64(len(b))
		if err := s.frame.CheckAlloc(total); err != nil {
			return fmt.Errorf("all attributes: %w", err)
		}
		v.VLMeta = append(v.VLMeta, meta.Layer{Name: name, Content: b})
	}
	v.Padding = max(0, i.NBytes-v.Data)
	v.Attrs, v.AttrsErrors = decodeLayers(v.VLMeta, s.frame.CheckAlloc)
	if a := s.array; a != nil {
		shape, chunks, blocks := a.Shape(), a.Chunks(), a.Blocks()
		n := len(shape)
		dtype, format := storedDType(a)
		v.NDim, v.DType, v.DTypeFormat = &n, &dtype, &format
		v.Shape, v.Chunks, v.Blocks = &shape, &chunks, &blocks
	}
	return e.printJSON(v)
}
