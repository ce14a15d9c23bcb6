package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/meta"
	"github.com/goblosc/blosc2/ndarray"
)

// infoCmd prints the contents of the headers.
type infoCmd struct {
	JSON   bool     `name:"json" help:"print a JSON object for each path with the keys path nbytes cbytes nchunks typesize chunksize blocksize compcode clevel filters filters_meta metalayers vlmeta, and for arrays also ndim shape chunks blocks dtype dtype_format. Metalayers are in hexadecimal: fixed-length ones as stored, variable-length ones decompressed. The other keys are codec and filter_names, the names for compcode and filters, data_bytes and padding_bytes, whose sum is nbytes, and meta and attrs, the decoded metalayers. Those that cannot be decoded are in meta_errors and attrs_errors instead, with their errors"`
	Chunks bool     `help:"print a table of the chunks: position in the file (number of the file in a directory), stored size, ratio, codec and special value. It reads the header of each chunk"`
	Tree   bool     `help:"print the tree of a store. If a leaf cannot be opened, the exit status is 1"`
	Paths  []string `arg:"" name:"PATH"`
}

// Help describes the verb.
func (infoCmd) Help() string {
	return `
Prints the contents of the header and the trailer. It decodes no chunk. Data is the size of the items, and padding
the size of the bytes that fill up chunks and blocks.

Examples:
  blosc2 info a.b2nd b.b2nd
  blosc2 info -chunks a.b2nd
  blosc2 info -tree tree.b2z
`
}

// Run runs the verb.
func (v *infoCmd) Run(e *env) error {
	if v.JSON && (v.Chunks || v.Tree) {
		return usagef("-json excludes -chunks and -tree")
	}
	if v.Tree && v.Chunks {
		return usagef("-tree and -chunks exclude each other")
	}
	var failed []error
	for i, path := range v.Paths {
		if i > 0 && !v.JSON {
			e.out.WriteByte('\n')
		}
		if err := v.one(e, path); err != nil {
			failed = append(failed, err)
		}
	}
	return errors.Join(failed...)
}

// one prints what is at a path.
func (v *infoCmd) one(e *env, path string) error {
	if v.Tree {
		return printTree(e, path)
	}
	s, err := openSource(e, path)
	if err != nil {
		return err
	}
	defer s.close()
	if v.JSON {
		return infoJSON(e, s)
	}
	p := &propertyPrinter{e: e, title: s.path}
	if s.chunk != nil {
		infoChunk(p, s)
	} else if err := infoFrame(p, s); err != nil {
		return err
	}
	p.print()
	if v.Chunks && s.frame != nil {
		return printChunks(e, s)
	}
	return nil
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

// dataBytes returns the size of the items of a frame, without the padding of an array.
func dataBytes(s *source) int64 {
	if s.array != nil {
		return s.array.Size() * int64(s.array.DType().Size)
	}
	return s.frame.Info().NBytes
}

// infoFrame prints a frame as text.
func infoFrame(p *propertyPrinter, s *source) error {
	i := s.frame.Info()
	kind, storage := "super-chunk", "contiguous file"
	if i.Sparse {
		storage = "sparse directory"
	}
	if s.array != nil {
		kind = "array"
	}
	p.add("kind", "%s, %s, frame format %d", kind, storage, i.Version)
	if s.damaged != nil {
		p.add("array", "damaged: %s", oneLine(s.damaged))
	}
	if a := s.array; a != nil {
		dtype, _ := storedDType(a)
		if d := a.DType().String(); dtype == "" {
			dtype = "none, read as " + d
		} else if d != dtype {
			dtype += ", read as " + d
		}
		p.add("shape", "%s", pyTuple(a.Shape()))
		p.add("chunks", "%s", pyTuple(a.Chunks()))
		p.add("blocks", "%s", pyTuple(a.Blocks()))
		p.add("dtype", "%s", dtype)
	}
	data := dataBytes(s)
	p.add("data", "%s in %s", sizeText(data), plural(i.NumChunks, "chunk"))
	if padding := i.NBytes - data; padding > 0 {
		p.add("padding", "%s", sizeText(padding))
	}
	p.add("stored", "%s%s", sizeText(i.CBytes), ratio(data, i.CBytes))
	p.add("item size", "%s", sizeText(int64(i.TypeSize)))
	p.add("chunk size", "%s", chunkSizeText(i))
	if i.VLBlocks {
		p.add("block size", "varies by block")
	} else {
		p.add("block size", "%s", sizeOr(i.BlockSize, "chosen for each chunk"))
	}
	name := i.Params.Codec.String()
	if i.Params.CodecMeta != 0 {
		name += fmt.Sprintf(" (parameter %d)", i.Params.CodecMeta)
	}
	if i.Params.Dict {
		name += ", dictionaries"
	}
	p.add("codec", "%s, level %d", name, storedLevel(i.Params.Level))
	p.add("filters", "%s", filterNames(i.Params.Filters))
	if i.Checksums {
		p.add("checksums", "CRC-32C")
	}
	if i.BlockTable {
		p.add("block table", "yes")
	}
	for _, l := range s.frame.Meta() {
		p.add("metalayer "+l.Name, "%s", valueText(l.Content, s.frame.CheckAlloc))
	}
	for _, name := range s.frame.VLMetaNames() {
		b, err := s.frame.VLMeta(name)
		if err != nil {
			return err
		}
		p.add("vlmeta "+name, "%s", valueText(b, s.frame.CheckAlloc))
	}
	return nil
}

// infoChunk prints a single chunk as text.
func infoChunk(p *propertyPrinter, s *source) {
	h := s.chunk.Header()
	p.add("kind", "chunk, format %d", h.Version)
	p.add("data", "%s in %d blocks", sizeText(int64(h.NBytes)), h.NumBlocks)
	p.add("stored", "%s%s", sizeText(int64(h.CBytes)), ratio(int64(h.NBytes), int64(h.CBytes)))
	p.add("item size", "%s", sizeText(int64(h.Params.TypeSize)))
	if !h.VarBlocks {
		p.add("block size", "%s", sizeText(int64(h.Params.BlockSize)))
	}
	switch {
	case h.Special != chunk.Regular:
		p.add("content", "%v", h.Special)
	case h.Stored:
		p.add("content", "uncompressed")
	default:
		p.add("codec", "%v", h.Params.Codec)
		p.add("filters", "%s", filterNames(h.Params.Filters))
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
	return sizeText(int64(n))
}

func chunkSizeText(i frame.Info) string {
	if i.ChunkSize < 0 {
		return "set by the first chunk"
	}
	return sizeOr(i.ChunkSize, "varies by chunk")
}

// filterList returns the names of the filters in order, with parameters that are not 0.
func filterList(list []chunk.Filter) []string {
	names := []string{}
	for _, f := range list {
		if f.With(0) != chunk.NoFilter {
			names = append(names, f.String())
		}
	}
	return names
}

// filterNames returns the filters as text.
func filterNames(list []chunk.Filter) string {
	names := filterList(list)
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}

// valueText returns a MessagePack value as JSON, or the size of any other value, or of one that check rejects.
func valueText(b []byte, check func(n int64) error) string {
	const most = 200
	text, err := unpackJSON(b, check)
	if err != nil {
		return fmt.Sprintf("%d bytes", len(b))
	}
	if len(text) > most {
		return strings.ToValidUTF8(text[:most], "") + " ..."
	}
	return text
}
