// Package ndarray reads, writes and edits compressed N-dimensional arrays in files, in directories or in memory:
//
//	o := &ndarray.CreateOptions{Codec: codec.LZ4HC, Level: 9}
//	a, err := ndarray.Create(ctx, "t.b2nd", []int64{365, 180, 360}, data, o)
//	series, err := ndarray.Read[float32](ctx, a, ndarray.All, ndarray.At(45), ndarray.At(-1)) // a[:, 45, -1]
//	err = ndarray.Append(ctx, a, 0, day)
//	err = a.SetAttr(ctx, "units", "K")
//
// Open opens an array for reading, and Edit for reading and writing. The items have a NumPy dtype, and an array has up
// to 16 dimensions. The format is "b2nd", that of python-blosc2's NDArray. The package also reads the older Caterva
// arrays. Package npy below this one reads and writes .npy files.
//
// In the repository, docs/RECIPES.md has whole programs and advice on chunks, blocks and codecs, and docs/NUMPY.md
// translates expressions of NumPy and python-blosc2.
//
// # Chunks and blocks
//
// An array is divided into chunks, the unit of writing, and each chunk into blocks, the unit of reading. This array has
// shape (7, 10), chunks of (4, 6) and blocks of (2, 4). Each item is drawn as the number of its block in its chunk:
//
//	column  0 1 2 3   4 5         6 7 8 9
//	      +-------------------+-------------------+
//	row 0 | 0 0 0 0 | 1 1 . . | 0 0 0 0 | . . . . |
//	    1 | 0 0 0 0 | 1 1 . . | 0 0 0 0 | . . . . |
//	      |---------+---------|---------+---------|
//	    2 | 2 2 2 2 | 3 3 . . | 2 2 2 2 | . . . . |
//	    3 | 2 2 2 2 | 3 3 . . | 2 2 2 2 | . . . . |
//	      +------ chunk 0 ----+------ chunk 1 ----+
//	    4 | 0 0 0 0 | 1 1 . . | 0 0 0 0 | . . . . |
//	    5 | 0 0 0 0 | 1 1 . . | 0 0 0 0 | . . . . |
//	      |---------+---------|---------+---------|
//	    6 | 2 2 2 2 | 3 3 . . | 2 2 2 2 | . . . . |
//	      | . . . . | . . . . | . . . . | . . . . |
//	      +------ chunk 2 ----+------ chunk 3 ----+
//
// Chunks are stored in C order over the grid, blocks in C order inside their chunk, and items in C order inside their
// block. The shapes need not divide each other: a chunk at the border is stored in full size, and a chunk that is not a
// multiple of its blocks is rounded up to whole blocks, here to 8 columns instead of 6. The dots are padding, which is
// never read. It is zero in chunks that were written, and the repeated value in special chunks. The shapes are stored
// in the metalayer "b2nd" of the frame.
//
// If CreateOptions.Chunks and CreateOptions.Blocks are nil, the array gets the partition that python-blosc2 chooses. An
// axis of length zero is taken for one that will grow. Small chunks make edits cheap, small blocks make small reads
// cheap, and large chunks and blocks compress better.
//
// # Selections
//
// Reads and writes take a selection: a list of indexes, one for each axis, as between the brackets of NumPy:
//
//	a[3]             At(3)                          drops the axis
//	a[2:5, :, -1]    Span(2, 5), All, At(-1)
//	a[..., ::-2]     Ellipsis, Step(None, None, -2)
//	a[None, 4:]      NewAxis, Span(4, None)
//
// A missing index selects its whole axis, so a call without indexes selects everything. ParseSelection reads NumPy's
// notation. Items are read and written in C order of the selection.
//
// A read decodes only the blocks that have selected items, each once, and reads little more than their bytes from the
// file. It does not read special chunks, such as those of zeros. A write rewrites the chunks that hold selected items.
// Within a chunk it decodes only blocks that are overwritten in part, and compresses only blocks that change.
//
// # Views
//
// Slice, Transpose, Flip, ExpandDims, Squeeze, BroadcastTo, Field and AsType return a View, which transforms an array
// without copying it. A view sees later commits. It can be read, sliced and copied like an array, and written unless it
// repeats or converts items. A view of a view refers to the array directly, so a read decodes each block it needs once,
// however deep the views are nested. Functions that read accept a Reader, which Array and View implement.
//
// # Combining
//
// Copy, Reshape, Concat and Stack create arrays from Readers, in one commit. They copy chunks as stored where
// possible: Copy if partition and parameters are the same, Concat where parts begin at a chunk. They stream all other
// items in pieces of 32 MiB, or of one chunk if that is larger.
//
// # Items
//
// ReadBytes, WriteBytes and FillBytes use items as they are stored. Read, ReadInto, Item, Write, Fill, Append, Insert,
// Create and Full use values of a Go type that matches the dtype, in either byte order:
//
//	bool, int8 ... complex128     the dtype of the same kind and size; int64 also M8 and m8, as counts of their unit
//	int, uint                     i8 and u8, also on machines of 32 bits
//	Float16                       f2
//	string                        S (its bytes, of any value) and U, without trailing zeros
//	time.Time                     M8 with a unit, in UTC; the zero Time is NaT, and also midnight of 0001-01-01
//	time.Duration                 m8 with a unit up to weeks; the constant NaT is NaT
//	[3]T                          a sub-array of length 3
//	[3]byte                       also V3 and S3, as they are stored
//	struct                        a structured dtype
//
// An exported field of a struct holds the field of the item whose name or title is in its tag `b2:"name"`. Without a
// tag it holds the field of its own name, in upper or lower case. The tag "-" omits a field. The fields of embedded
// structs count as fields of the struct. A struct for reading may have only some of the fields. A struct for writing
// must have all of them, and the bytes between fields become zeros. Structs whose memory layout is that of the items
// are not converted.
//
// A number type also reads every dtype whose values it can represent exactly, and writes every dtype that can represent
// its own values: float64 reads f4, f2, i4 and bools, int64 reads u4, int16 writes f4 and i8. This holds in either byte
// order, and for fields of structs. Conversions with loss are rejected with ErrType. AsType makes them explicit.
//
// If the dtype of an array is known only at run time, choose the type by DType().Kind:
//
//	'b', 'i', 'u', 'f' up to 8 bytes    float64, from AsType(a, "<f8"); integers above 2^53 lose digits
//	'S', 'U'                            string
//	'M' with a Unit                     time.Time
//	others, such as long double         use ReadBytes
//
// JSON cannot represent NaN: replace NaNs before encoding the values as JSON.
//
// A time or duration between two units is rounded down, as in NumPy. If an item or value does not fit, the call returns
// ErrValue: for a time or duration out of range, a string that is too long, which NumPy would truncate, or characters
// that are not Unicode. Any other type, such as uintptr or *T, is rejected with ErrType.
//
// # Changing arrays
//
// Resize changes the shape at the end of the axes. Append, Insert and Delete work along one axis, and AppendBytes and
// InsertBytes take items as they are stored:
//
//	numpy.append(a, rows, axis=0)       Append(ctx, a, 0, rows)
//	numpy.insert(a, 5, rows, axis=0)    Insert(ctx, a, 0, 5, rows)
//	numpy.delete(a, slice(5, 7), -1)    a.Delete(ctx, -1, 5, 2)
//
// Chunks that move by whole chunk lengths are neither read nor compressed: only the index changes. This holds at the
// end of an axis, and elsewhere if the position and the number of items are multiples of the chunk length. Other chunks
// after the position are rewritten, about 8 MiB at a time, whatever the size of the array. Their old bytes remain
// stored until the commit. Items that are added without data are zeros.
//
// Begin starts a Batch, which makes any number of edits one commit. Each call of Append rewrites the last chunk if it
// is not full. If each call appends one image, use chunks of one image, or blocks of one image: blocks of a rewritten
// chunk that get no new items are copied as stored. Use a Batch if one commit for each call is too slow. A Batch, too,
// compresses a block again for each call that adds items to it. So if a block holds several images, collect all images
// of a chunk and append them with one call.
//
// Each commit writes the whole index, at most 8 bytes for each chunk, usually 2 MB at 300,000 chunks. To record for
// days, use chunks of hundreds of images with blocks of one, append several images in a Batch, or begin a new file each
// hour.
//
// # Making arrays
//
// Create takes a slice. FromFunc computes the items block by block, in parallel. FromReader and FromSeq read a stream
// of items, and ToWriter writes one. Arange and Linspace compute the same numbers as NumPy. Zeros and Full store almost
// nothing. Each of these functions creates the array in one commit. Create needs all items in memory. The memory use
// of the others does not grow with the array.
//
// Regions is an array that several processes or machines fill, each with chunks of its own.
//
// # From NumPy
//
//	numpy.zeros, empty              Zeros
//	numpy.ones, full                Full(ctx, name, shape, value, nil)
//	numpy.zeros_like(r)             Zeros(ctx, name, r.Shape(), r.DType().String(), r.CreateOptions())
//	numpy.full(s, nan)              Full(ctx, name, s, math.NaN(), nil)
//	numpy.eye                       FromFunc with a loop over Tile.All
//	numpy.linspace(endpoint=False)  FromFunc with a loop over Tile.All
//	numpy.take(a, p)                Read[T](ctx, a, Flat(p...))
//	numpy.put(a, p, v)              Write(ctx, a, v, Flat(p...))
//	a[mask], a[rows, columns]       Mask(mask, a.Shape()...); Coords(rows), Coords(columns)
//	a[numpy.ix_(rows, columns)]     Pick(rows...), Pick(columns...)
//	a.item(3, 4)                    Item[T](ctx, a, 3, 4)
//	a.ndim, a.itemsize              len(a.Shape()), a.DType().Size
//	numpy.load, numpy.save          npy.Read, npy.Write
//	a.tofile(f)                     ToWriter(ctx, f, a)
//
// # Iterating over arrays
//
// ByChunk, ByTile, ByBlock, ByRows and ByWindow return boxes that cover an array or a view. Tiles reads the boxes one
// after the other, and Boxes.ReadAhead makes it read ahead. Map computes a new array block by block. Reduce computes
// sums, means, minima and other reductions along any axes, without decoding special chunks. Array.ChunkInfos describes
// the chunks without decoding them.
//
// # Goroutines, commits and memory
//
// Any number of goroutines may use an Array. Each read sees one committed state, regardless of concurrent edits, and
// takes no lock against them, except the file lock of Locking: with it, a read waits while another handle has an open
// Batch. Without Locking, only one Array may edit a file at a time: two damage it, and a process that has it open for
// reading may see edits in part. Two calls may see different states: if the array is edited in between, the second call
// may not find the shape that the first one returned. Tiles reads one state for the whole loop.
//
// Edits wait for each other. Every edit of items or of the shape is one commit, which becomes visible completely or not
// at all, and is durable if NoSync is unset. After an error the array is unchanged. A Batch makes several edits one
// commit. SetAttr edits attributes, and Array.Frame gives access to metalayers.
//
// A call uses up to Concurrency goroutines, a field of the options. None of them works on the call after it returns,
// but up to eight stay awake for about 30 µs to help with the next call. Calls do not retain the buffers of the caller.
// Repeated calls of ReadInto, ReadBytes and Item of numbers and bools allocate nothing for an array in memory or in one
// file, except with Dict or Locking, and for some views. A nil context counts as context.Background. Other arguments
// must not be nil unless their documentation allows it.
//
// If an array was opened, its stored size and OpenOptions.MaxBytes limit each allocation whose size the file states, so
// files from unknown sources may be opened. A read may hold up to four blocks for each goroutine: limit Concurrency,
// and the number of calls at a time. An array that the program itself created has no such limit. Index arrays take
// about 16 more bytes for each selected item, and 24 if a Mask is broadcast to several axes. SelectionShape returns the
// shape of a result before anything is read.
package ndarray
