// Package meta reads and writes the small descriptors of Blosc2 frames: the metalayer sections of headers and trailers,
// the record that describes an array, the MessagePack values that users store, and the names of NumPy dtypes. It does
// not know chunks and does no I/O.
//
//	array := &meta.Array{
//		Shape:      []int64{100, 50},
//		ChunkShape: []int32{50, 50},
//		BlockShape: []int32{10, 50},
//		DType:      "<f4",
//	}
//	record, err := array.Append(nil) // the content of the metalayer "b2nd"
//	array, err = meta.ParseArray(record, 4)
//	value, err := meta.Marshal(map[string]any{"units": "K"})
//
// The package has no state and is safe for concurrent use. Only the metalayers of ParseHeader and ParseTrailer share
// memory with their input. Input is untrusted: it yields a result or one error, and takes memory in proportion to its
// length.
//
// # Sections
//
// A frame header ends with a section of metalayers. All integers are big-endian. The markers are those of MessagePack,
// but every field has one fixed width, whatever its value:
//
//	93                             array of three
//	cd  size u16                   bytes from the 93 to the end of the map
//	de  count u16                  map: names to offsets
//	    a0+len name  d2 pos i32    one per metalayer; pos is the offset of its c6 in the frame
//	dc  count u16                  array: the contents
//	    c6 len u32 content         one per metalayer
//
// A trailer is such a section between two fields. Its offsets count from the start of the trailer, and its size from
// the cd. Each content is one Blosc2 chunk:
//
//	94 01                          array of four, version 1
//	93 cd ... content              section
//	ce  trailer length u32         the whole trailer
//	d8 00 16 bytes                 fingerprint: none
//
// See AppendHeader, ParseHeader, AppendTrailer and ParseTrailer.
//
// # Arrays
//
// The content of the metalayer "b2nd" describes an n-dimensional array:
//
//	97                             array of seven
//	00                             version
//	nd                             number of dimensions, 0 to 16
//	90+nd  nd times d3 i64         shape
//	90+nd  nd times d2 i32         chunk shape
//	90+nd  nd times d2 i32         block shape
//	00                             dtype format: NumPy
//	db len u32 string              dtype, such as <f8
//
// See Array, which reads the older forms as well.
//
// # Dtypes
//
// The dtype of an array is text: "<f8" for simple dtypes, Python source for structured dtypes and sub-arrays.
// ParseDType reads every form. DType.String returns the text that python-blosc2 writes.
//
// # Values
//
// Other metalayers hold MessagePack in the convention of python-blosc2: see Marshal, Unmarshal and Tuple. A
// variable-length metalayer holds it inside a chunk.
package meta
