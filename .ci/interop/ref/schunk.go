package ref

/*
#include <blosc2.h>
#include <stdlib.h>
*/
import "C"

import (
	"encoding/hex"
	"fmt"
	"runtime"
	"unsafe"
)

// Meta is a metalayer: a name and stored bytes.
type Meta struct {
	Name    string
	Content []byte
}

// Storage describes where and how a super-chunk or array is stored.
type Storage struct {
	Path   string // of a file, or of a directory when Sparse; "" = memory
	Sparse bool   // chunks apart, not one contiguous frame
	CParams
	Metalayers []Meta // fixed metalayers
}

// with calls f with the C form of a storage, which is valid during the call.
func (s *Storage) with(f func(*C.blosc2_storage) error) error {
	var pin runtime.Pinner
	defer pin.Unpin()
	c := s.CParams.c()
	d := C.blosc2_get_blosc2_dparams_defaults()
	d.nthreads = c.nthreads
	pin.Pin(&c)
	pin.Pin(&d)
	st := C.blosc2_storage{contiguous: C.bool(!s.Sparse), cparams: &c, dparams: &d}
	if s.Path != "" {
		st.urlpath = C.CString(s.Path)
		defer C.free(unsafe.Pointer(st.urlpath)) // Safe: C allocated it, and it is freed once
	}
	return f(&st)
}

// SChunk is a super-chunk of the C library.
type SChunk struct {
	c     *C.blosc2_schunk
	owned bool // false if it belongs to an array
}

// NewSChunk creates a super-chunk, and overwrites a file at the same path. The first appended buffer sets the chunk
// size.
func NewSChunk(st *Storage) (*SChunk, error) {
	s := &SChunk{owned: true}
	err := st.with(func(c *C.blosc2_storage) error {
		if st.Path != "" {
			C.blosc2_remove_urlpath(c.urlpath)
		}
		if s.c = C.blosc2_schunk_new(c); s.c == nil {
			return fmt.Errorf("ref: no super-chunk %q", st.Path)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for _, m := range st.Metalayers {
		name := C.CString(m.Name)
		rc := C.blosc2_meta_add(s.c, name, (*C.uint8_t)(data(m.Content)), C.int32_t(len(m.Content)))
		C.free(unsafe.Pointer(name)) // Safe: C allocated it, and it is freed once
		if err := check("add metalayer "+m.Name, rc); err != nil {
			s.Close()
			return nil, err
		}
	}
	return s, nil
}

// OpenSChunk opens a file or sparse directory for reading and changing.
func OpenSChunk(path string) (*SChunk, error) {
	start()
	name := C.CString(path)
	defer C.free(unsafe.Pointer(name)) // Safe: C allocated it, and it is freed once
	c := C.blosc2_schunk_open(name)
	if c == nil {
		return nil, fmt.Errorf("ref: cannot open %s", path)
	}
	return &SChunk{c, true}, nil
}

// SChunkFrom opens a contiguous frame in memory.
func SChunkFrom(frame []byte) (*SChunk, error) {
	start()
	c := C.blosc2_schunk_from_buffer((*C.uint8_t)(data(frame)), C.int64_t(len(frame)), true)
	if c == nil {
		return nil, fmt.Errorf("ref: cannot open a frame of %d bytes", len(frame))
	}
	return &SChunk{c, true}, nil
}

// Close frees the super-chunk. It has no effect on the super-chunk of an array, which is freed with the array.
func (s *SChunk) Close() {
	if s.c != nil && s.owned {
		C.blosc2_schunk_free(s.c)
	}
	s.c = nil
}

// Frame returns the super-chunk as one contiguous frame.
func (s *SChunk) Frame() ([]byte, error) {
	var frame *C.uint8_t
	var free C.bool
	n := C.blosc2_schunk_to_buffer(s.c, &frame, &free)
	if err := check("frame", n); err != nil {
		return nil, err
	}
	b := C.GoBytes(unsafe.Pointer(frame), C.int(n)) // Safe: C returned the length
	if free {
		C.free(unsafe.Pointer(frame)) // Safe: C allocated it, and it is freed once
	}
	return b, nil
}

// Len returns the number of chunks.
func (s *SChunk) Len() int { return int(s.c.nchunks) }

// Append compresses a buffer and appends it as a chunk.
func (s *SChunk) Append(b []byte) error {
	b = append([]byte(nil), b...)
	return check("append", C.blosc2_schunk_append_buffer(s.c, data(b), C.int32_t(len(b))))
}

// AppendRaw appends a chunk.
func (s *SChunk) AppendRaw(chunk []byte) error {
	return check("append chunk", C.blosc2_schunk_append_chunk(s.c, (*C.uint8_t)(data(chunk)), true))
}

// InsertRaw inserts a chunk before chunk i.
func (s *SChunk) InsertRaw(i int, chunk []byte) error {
	return check("insert chunk", C.blosc2_schunk_insert_chunk(s.c, C.int64_t(i), (*C.uint8_t)(data(chunk)), true))
}

// UpdateRaw replaces chunk i.
func (s *SChunk) UpdateRaw(i int, chunk []byte) error {
	return check("update chunk", C.blosc2_schunk_update_chunk(s.c, C.int64_t(i), (*C.uint8_t)(data(chunk)), true))
}

// Delete deletes chunk i.
func (s *SChunk) Delete(i int) error {
	return check("delete chunk", C.blosc2_schunk_delete_chunk(s.c, C.int64_t(i)))
}

// FillSpecial fills an empty super-chunk with items of a special value, in chunks of chunkSize bytes.
func (s *SChunk) FillSpecial(items int64, special, chunkSize int) error {
	return check("fill", C.blosc2_schunk_fill_special(s.c, C.int64_t(items), C.int(special), C.int32_t(chunkSize)))
}

// Chunk returns the stored bytes of chunk i.
func (s *SChunk) Chunk(i int) ([]byte, error) {
	var p *C.uint8_t
	var free C.bool
	n := C.blosc2_schunk_get_chunk(s.c, C.int64_t(i), &p, &free)
	if err := check("chunk", n); err != nil {
		return nil, err
	}
	b := C.GoBytes(unsafe.Pointer(p), n) // Safe: C returned the length
	if free {
		C.free(unsafe.Pointer(p)) // Safe: C allocated it, and it is freed once
	}
	return b, nil
}

// Content returns the decoded bytes of chunk i.
func (s *SChunk) Content(i int) ([]byte, error) {
	chunk, err := s.Chunk(i)
	if err != nil {
		return nil, err
	}
	nbytes, _, _, err := Sizes(chunk)
	if err != nil {
		return nil, err
	}
	out := make([]byte, nbytes)
	n := C.blosc2_schunk_decompress_chunk(s.c, C.int64_t(i), data(out), C.int32_t(nbytes))
	if err := check("decompress chunk", n); err != nil {
		return nil, err
	}
	return out[:n], nil
}

// Dump returns the decoded bytes of all chunks.
func (s *SChunk) Dump() ([]byte, error) {
	var all []byte
	for i := range s.Len() {
		b, err := s.Content(i)
		if err != nil {
			return nil, err
		}
		all = append(all, b...)
	}
	return all, nil
}

// GetSlice returns the items from first up to stop.
func (s *SChunk) GetSlice(first, stop int64) ([]byte, error) {
	out := make([]byte, int(stop-first)*int(s.c.typesize))
	rc := C.blosc2_schunk_get_slice_buffer(s.c, C.int64_t(first), C.int64_t(stop), data(out))
	return out, check("get slice", rc)
}

// SetSlice replaces the items from first up to stop.
func (s *SChunk) SetSlice(first, stop int64, items []byte) error {
	if len(items) != int(stop-first)*int(s.c.typesize) {
		return fmt.Errorf("ref: set slice: %d bytes for %d items", len(items), stop-first)
	}
	items = append([]byte(nil), items...)
	return check("set slice", C.blosc2_schunk_set_slice_buffer(s.c, C.int64_t(first), C.int64_t(stop), data(items)))
}

// SetMeta replaces the content of a fixed metalayer by one of the same length.
func (s *SChunk) SetMeta(name string, content []byte) error {
	c := C.CString(name)
	defer C.free(unsafe.Pointer(c)) // Safe: C allocated it, and it is freed once
	return check("update metalayer", C.blosc2_meta_update(s.c, c, (*C.uint8_t)(data(content)), C.int32_t(len(content))))
}

// SetVLMeta adds or updates a variable-length metalayer.
func (s *SChunk) SetVLMeta(name string, content []byte) error {
	c := C.CString(name)
	defer C.free(unsafe.Pointer(c)) // Safe: C allocated it, and it is freed once
	p, n := (*C.uint8_t)(data(content)), C.int32_t(len(content))
	if C.blosc2_vlmeta_exists(s.c, c) >= 0 {
		return check("update vlmeta", C.blosc2_vlmeta_update(s.c, c, p, n, nil))
	}
	return check("add vlmeta", C.blosc2_vlmeta_add(s.c, c, p, n, nil))
}

// DeleteVLMeta deletes a variable-length metalayer.
func (s *SChunk) DeleteVLMeta(name string) error {
	c := C.CString(name)
	defer C.free(unsafe.Pointer(c)) // Safe: C allocated it, and it is freed once
	return check("delete vlmeta", C.blosc2_vlmeta_delete(s.c, c))
}

// Hex is a byte slice that is written as hexadecimal digits in JSON.
type Hex []byte

// MarshalText returns the digits.
func (h Hex) MarshalText() ([]byte, error) { return hex.AppendEncode(nil, h), nil }

// Info holds the properties of a frame that the C library reports. Its JSON has the keys of "blosc2 info -json".
type Info struct {
	Path        string         `json:"path"`
	NBytes      int64          `json:"nbytes"`
	CBytes      int64          `json:"cbytes"`
	NChunks     int64          `json:"nchunks"`
	TypeSize    int            `json:"typesize"`
	ChunkSize   int            `json:"chunksize"`
	BlockSize   int            `json:"blocksize"`
	Codec       int            `json:"compcode"`
	Level       int            `json:"clevel"`
	Filters     []int          `json:"filters"`
	FiltersMeta []int          `json:"filters_meta"`
	Metalayers  map[string]Hex `json:"metalayers"`
	VLMeta      map[string]Hex `json:"vlmeta"`
	*Geometry                  // nil for a plain super-chunk
}

// Geometry is the part of Info that only arrays have.
type Geometry struct {
	NDim        int     `json:"ndim"`
	Shape       []int64 `json:"shape"`
	Chunks      []int32 `json:"chunks"`
	Blocks      []int32 `json:"blocks"`
	DType       string  `json:"dtype"`
	DTypeFormat int     `json:"dtype_format"`
}

// Info returns the properties that the C library reads, without the geometry of an array.
func (s *SChunk) Info() (*Info, error) {
	c := s.c
	info := &Info{
		NBytes: int64(c.nbytes), CBytes: int64(c.cbytes), NChunks: int64(c.nchunks),
		TypeSize: int(c.typesize), ChunkSize: int(c.chunksize), BlockSize: int(c.blocksize),
		Codec: int(c.compcode), Level: int(c.clevel), Metalayers: map[string]Hex{}, VLMeta: map[string]Hex{},
	}
	if c.storage.urlpath != nil {
		info.Path = C.GoString(c.storage.urlpath)
	}
	for i := range c.filters {
		info.Filters = append(info.Filters, int(c.filters[i]))
		info.FiltersMeta = append(info.FiltersMeta, int(c.filters_meta[i]))
	}
	for _, m := range c.metalayers[:c.nmetalayers] {
		// Safe: C returned the length.
		info.Metalayers[C.GoString(m.name)] = C.GoBytes(unsafe.Pointer(m.content), m.content_len)
	}
	for _, m := range c.vlmetalayers[:c.nvlmetalayers] {
		var p *C.uint8_t
		var n C.int32_t
		if err := check("vlmeta", C.blosc2_vlmeta_get(c, m.name, &p, &n)); err != nil {
			return nil, err
		}
		info.VLMeta[C.GoString(m.name)] = C.GoBytes(unsafe.Pointer(p), n) // Safe: C returned the length
		C.free(unsafe.Pointer(p))                                         // Safe: C allocated it, and it is freed once
	}
	return info, nil
}
