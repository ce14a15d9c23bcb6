// Package ndarray reads, writes and edits Blosc2 N-dimensional arrays ("b2nd"): arrays of NumPy dtypes with up to 16
// dimensions, compressed in chunks, in files, directories or memory, as python-blosc2 has them. It also reads the older
// Caterva arrays.
//
// # How an array is cut
//
// A shape is cut into chunks, the unit of writing, and each chunk into blocks, the unit of reading. An array of shape
// (7, 10) with chunks of (4, 6) and blocks of (2, 4), each item drawn as the number of its block in its chunk:
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
// Chunks stand in C order over the grid, the blocks in C order inside their chunk, the items in C order inside their
// block. Nothing needs to divide evenly: a chunk at the border is stored whole, and a chunk that its blocks do not
// divide is stored rounded up to whole blocks, here 8 columns in place of 6. What stands in a place without an item, a
// dot, is padding, which is never read: zeros where items were written, in chunks of one value that value. The shapes
// stand in a metalayer of the frame, which knows nothing else of dimensions.
//
// Leave Options.Chunks and Options.Blocks nil to get what python-blosc2 chooses. Small chunks make edits cheap, small
// blocks make small reads cheap, large ones compress better. An array that shall grow from nothing needs both: with a
// dimension of length zero there is nothing to choose from.
//
// # Selections
//
// Reading and writing take a list of indexes, one for each axis, as between the brackets of NumPy:
//
//	a[3]             At(3)                          drops the axis
//	a[2:5, :, -1]    Span(2, 5), All, At(-1)
//	a[..., ::-2]     Ellipsis, Step(None, None, -2)
//	a[None, 4:]      NewAxis, From(4)
//
// Missing indexes stand for whole axes, so that no index at all is everything. ParseSelection reads NumPy's notation.
// Items always come and go in C order of the selection.
//
// A read decodes only the blocks that have selected items, each once, and reads from the file little more than their
// bytes; a chunk of one value, as zeros are, is not read at all. A write makes the chunks anew that have selected
// items; of those, it decodes only the blocks that keep a part of theirs, and compresses those that change.
//
// # Views
//
// Slice, Transpose, Flip, ExpandDims, Squeeze, BroadcastTo and Field return a View: the same array seen in another way.
// It copies nothing until it is read, sees later commits, and can be read, sliced, copied and, unless it repeats items,
// written like an array. However many views stand on each other, a read takes from each chunk what it needs at once
// and puts it where it belongs. What reads takes a Reader, which arrays and views are.
//
// # Combining
//
// Copy, Reshape, AsType, Concat and Stack make new arrays of Readers. Chunks that fit as they are stored are copied
// without decoding: in Copy with the same partition and parameters, in Concat where parts begin at a chunk. All else is
// streamed in pieces of 32 MiB, or of a chunk if that is larger, in one commit.
//
// # Items
//
// ReadBytes, WriteBytes and FillBytes move items as they are stored. Read, ReadInto, ReadAt, Take, Write, Fill, Put,
// Append, Insert and Create move values of a Go type that goes with the dtype, in either byte order:
//
//	bool, int8 ... complex128     the dtype of the same kind and size; int64 also M8 and m8, as counts of their unit
//	Float16, float32              f2; a float32 is rounded to the nearest when it is written
//	string                        S and U, without the zeros at the end
//	time.Time                     M8 with a unit, in UTC; the zero Time is NaT
//	time.Duration                 m8 with a unit up to weeks; the constant NaT is NaT
//	[3]T                          a sub-array of length 3
//	[3]byte                       also V3 and S3, as they are stored
//	struct                        a structure
//
// Each exported field of a struct stands for the field of the item with the name or title in its tag `b2:"name"`, or
// without a tag for that of its own name, in any case; a tag "-" leaves it out. Embedded structs count as their
// fields. A struct may have some of the fields for reading, but must have all for writing, where gaps become zeros.
// A struct that is in memory as the items are stored is not converted.
//
// A time or duration between two steps of the unit goes to the one before, as in NumPy. What an item or a value
// cannot hold is an ErrValue: a time or duration out of range, a string too long (NumPy would cut it), characters
// that are not Unicode. Other types than these, as int and *T are, are an ErrType.
//
// # Changing arrays
//
// Resize changes the shape at the end of the axes, ResizeAt at any place; Append, Insert and Delete work along one axis:
//
//	numpy.append(a, rows, axis=0)       a.Append(ctx, 0, rows)           or  Append(ctx, a, 0, rows)
//	numpy.insert(a, 5, rows, axis=0)    a.Insert(ctx, 0, 5, rows)        or  Insert(ctx, a, 0, 5, rows)
//	numpy.delete(a, slice(5, 7), -1)    a.Delete(ctx, -1, 5, 2)
//
// What only moves by whole chunks is not compressed again, nor read: the index alone changes. That is so at the end of an
// axis, and elsewhere where place and number are multiples of the chunk length. Other chunks behind the place are made
// anew from the old ones, some 8 MiB at a time whatever the size of the array; until the commit, their new bytes stand
// beside the old ones. Items that come in without data are zeros.
//
// Begin starts a Batch, which makes any number of edits one commit. An instrument that adds a frame at a time does best
// with chunks of as many frames as it adds in one call, and with a Batch where a commit for each is too slow: a chunk
// with room left at the end of the axis is written again by each call that adds to it. Blocks of one frame help there:
// of a chunk that is written in part, the blocks without a selected item stay as they are stored.
//
// # Making arrays
//
// Create takes a slice. FromFunc computes the items block by block, in parallel; FromReader and FromSeq take them as they
// come; ReadNPY reads .npy files, and WriteNPY and WriteItems write them. Arange, Linspace and Eye have NumPy's numbers;
// Zeros, Ones, Full, Uninit and NaNs store next to nothing; ZerosLike and its kin take shape, dtype and partition of
// another array. Each makes the array in one commit, in memory that does not grow with it.
//
// # Going through arrays
//
// ByChunk, ByBlock, ByRows and ByWindow say in which boxes to go through an array or a view; Tiles reads them, ahead of
// the loop if wished. Map makes a new array of the items of each block. Reduce takes sums, means, minima and the like
// over any axes, without decoding chunks of one value. Array.ChunkInfos tells of the chunks without decoding them.
//
// # Goroutines, commits and memory
//
// An Array may be used by any number of goroutines. Each read works on one committed state, however long it takes,
// with no lock against writers; writers wait for each other. Every edit, of items or of the shape, is one commit: it
// becomes visible, and with Options.NoSync unset durable, as a whole or not at all. After an error the array is as it
// was. A Batch makes several edits one commit; Batch.Frame and Array.Frame edit metalayers.
//
// A call uses up to Options.Concurrency goroutines, which have done with it when it returns; up to eight of them stay awake
// for some 30 microseconds more, to help with the next call. Buffers belong to the caller and are not kept. A read of an
// array in memory or in one file allocates nothing once it was done a few times; the bytes of the file decide what is
// allocated besides, up to Options.MaxBytes, so that files from anywhere may be opened.
package ndarray
