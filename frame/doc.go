// Package frame reads, writes and edits Blosc2 frames. A frame holds a list of compressed chunks, the super-chunk, and
// metalayers. It is stored in a file, in a directory, in memory, or in any other storage. This package knows bytes and
// chunks, but no dimensions. Use package ndarray for arrays, and this package for plain super-chunks and for rarely
// needed functions.
//
// Create a frame and append chunks. Each Append is one commit. When it returns, the disk has the frame:
//
//	params := chunk.Params{Codec: codec.LZ4, TypeSize: 8}
//	f, err := frame.Create(ctx, "log.b2frame", &frame.CreateOptions{Params: params})
//	defer f.Close()
//	err = f.Append(ctx, data)
//
// Open it and read a chunk, or any range of the decoded bytes:
//
//	f, err := frame.Open(ctx, "log.b2frame", nil)
//	defer f.Close()
//	first, err := f.ReadChunk(ctx, nil, 0)
//	_, err = f.Content(ctx).ReadAt(p, 1000)
//
// Make several edits one commit:
//
//	b, err := f.Begin(ctx)
//	defer b.Rollback() // does nothing after Commit
//	err = b.Update(ctx, 0, data)
//	err = b.Delete(1)
//	err = b.SetVLMeta("note", content)
//	err = b.Commit()
//
// [OpenBytes] opens a frame in memory, [OpenReaderAt] a frame in an io.ReaderAt, and [OpenSource] a frame in a
// [Source]. Package remote has a Source for HTTP servers. [Frame.Save] writes a frame to an io.Writer. [Copy] creates a
// new frame from an intact frame, and [Salvage] from a damaged one. docs/FORMAT.md in the repository describes the
// format byte by byte, and docs/SUPPORT.md what is supported.
//
// All functions and methods are safe for concurrent use. Decoded data is appended or written to memory of the caller,
// and belongs to the caller. Sizes and offsets are in bytes unless the documentation says otherwise.
//
// A nil context counts as context.Background(). Calls check whether their context is done while they wait for a batch,
// for a lock file or for a [Source], between the reads of an io.ReaderAt, and between the blocks or chunks that they
// decode or write. They then return the error of the context.
//
// # A contiguous frame
//
// Integers are big-endian MessagePack, except in the index, which is a chunk.
//
//	+--------+---------+-------+---------+
//	| header | chunks  | index | trailer |
//	+--------+---------+-------+---------+
//	0        headerLen |       |         frameLen
//	                   headerLen + cbytes
//
//	header   87 bytes: lengths, sizes, codec, filters; then the metalayers, whose lengths never change
//	chunks   in any order, with dead bytes between them where chunks were replaced or deleted
//	index    a chunk of 8-byte entries, one for each chunk: its offset from the end of the header or, if negative,
//	         the special value (zeros, NaNs, uninitialized) that it represents; absent in a frame with no bytes
//	trailer  the variable-length metalayers, each value a chunk; its own length; a fingerprint (unused)
//
// # A sparse frame
//
// A sparse frame is a directory with one file for each chunk. The file chunks.b2frame has header, index and trailer.
// The entries of the index are the numbers of chunk files, such as 42 for 0000002A.chunk.
//
// Several writers can fill a sparse frame at the same time: see [Regions]. Until it is finished, the directory has the
// file unfinished.layout in place of chunks.b2frame. Chunk i is in the file with that number, also a chunk of zeros.
// The directory unfinished holds temporary files.
//
// # States
//
// A reader sees the frame in the state that one commit left, for as long as it reads, and takes no locks against edits,
// except the file lock of OpenOptions.Locking.
//
// A commit writes chunks, index and trailer to space that no state in use references, and syncs. It then overwrites the
// header in one write; in a sparse frame it renames a new index file over the old one. Until then the stored frame is
// in the old state. After a crash, the frame is in the state before or after the commit, unless NoSync is set. If a
// process is killed before the last sync of a commit, a power failure can still bring back the state before it. So
// opening a frame for editing syncs it first, and so does the first batch after another process has written a state.
//
// A disk may tear a write that crosses sectors of 512 bytes. If a frame is at the start of a file, the 87 fixed bytes
// of the header are in one sector. Only commits that change metalayers of a longer header change several sectors. Such
// a commit first writes a copy of the old and the new header to the end of the file and syncs, and removes the copy
// after the header is written. This costs one more sync. If the header is torn, Open takes the new header from the copy
// without writing anything, and Edit completes the write. Other libraries cannot read the frame before that.
//
// The trailer of a frame without chunks is in its first 2 GiB. If a longer frame loses all chunks, its trailer
// overwrites some of them, and is written together with the header in this way.
//
// Bytes that only old states use, including the previous index and trailer, stay dead until a later commit reuses them.
// While commits append a chunk each, a file grows to about 1.5 times the size of its live bytes until the index is as
// long as a chunk. After that the factor decreases. While reads of old states through the same Frame overlap without a
// pause, each commit adds another index and trailer. The next commit without such reads releases them. Before its first
// edit, a Frame searches for dead bytes that other writers left. Compact returns dead bytes to the operating system.
// C-Blosc2 reads and edits frames with dead bytes.
//
// Every commit writes the whole index, and the checksums if the frame has them. Its cost is proportional to the number
// of chunks: docs/PERFORMANCE.md in the repository has a table. To edit a large frame many times, use a Batch.
//
// # Checksums
//
// A frame created with CreateOptions.Checksums, or after Batch.SetChecksums, has CRC-32Cs (Castagnoli) in the
// variable-length metalayer "b2crc32c", which other readers ignore. It is a MessagePack map, in Python a dictionary:
//
//	version  1
//	index    the CRC-32C of the stored index, header included; 0 if there is none
//	meta     bytes: for each metalayer, the CRC-32C of its name and the CRC-32C of its content
//	vlmeta   bytes: the same for each other variable-length metalayer; the content is the chunk that holds it
//	chunks   bytes: the CRC-32C of each stored chunk, in the order of the index; 0 for special values that the
//	         index holds; empty if all chunks are one such value
//
// The bytes hold little-endian numbers of 4 bytes. Every commit of this package updates the checksums. They do not
// cover the 87 fixed bytes of the header, which change with every edit and do not affect the chunks.
//
// With OpenOptions.Verify, reads return ErrChecksum if bytes do not match. Opening compares the index and the
// metalayers, VLMeta compares its value, and reads compare each chunk that they use. A read of at least half of a chunk
// compares it every time. A smaller read compares the whole chunk once, on first use after opening or after a commit.
// ChunkInfo reads headers, which are not compared. Without OpenOptions.Verify, only Frame.Verify, copies, and edits
// that keep a part of a chunk compare. So no damaged byte gets a new checksum, except that SetChecksums(ctx, true)
// accepts the metalayers as they are. If damage hides the metalayer with the checksums, for example by a changed bit in
// its name, a frame looks as if it had none. Verify and OpenOptions.Verify then look for the record under other names,
// and for trailer bytes that belong to no metalayer. With OpenOptions.RequireChecksums, a frame without checksums
// cannot be opened.
//
// A library that does not know the checksums leaves them unchanged when it edits the frame. They are stale then. If the
// list of chunks has changed, the checksum of the index does not match, and the checksums of the chunks have no
// meaning. Otherwise the checksums of the changed metalayers or chunks do not match. An edit by this package does not
// recompute stale checksums. Verify reports them, and opening or reading with OpenOptions.Verify returns ErrChecksum.
// SetChecksums(ctx, true) or a copy recomputes all checksums if the index has changed.
//
// # Block tables
//
// A frame created with CreateOptions.BlockTable has the positions of the blocks in the variable-length metalayer
// "b2blocks", which other readers ignore. It is a MessagePack map:
//
//	version  1
//	blocks   bytes: little-endian numbers of 4 bytes
//
// For each chunk, in the order of the index, the bytes hold the number of its blocks. If it is not 0, the offset of the
// first block in the chunk follows, and then the stored size of each block, both in bytes. The number is 0 for special
// values and for chunks whose blocks do not follow each other. Reads of a Source with ReadRanges use the table to
// request blocks at the same time as the beginnings of their chunks. If the table is wrong, because another library has
// edited the frame, they read once more, with the same result. A commit of this package that changes chunks removes the
// table. Compact, Save and Copy keep it.
//
// # Data elsewhere
//
// python-blosc2 saves lazy expressions, lazy functions and remote arrays as frames that hold only metadata, and its
// Proxy caches chunks of another array in a frame. The metalayers "b2o", "LazyArray" and "proxy-source" mark these
// frames. Their empty chunks look like zeros. This package reads their metalayers, and the chunks that a cache has
// fetched. Reading other data and editing data returns errors.ErrUnsupported with a description of the frame. Copy,
// Save, Compact and Salvage keep the frame as it is.
//
// # Empty frames
//
// The format requires the trailer of a frame without chunks to follow the header directly. When the last chunk is
// deleted, the old chunks may still be in use. The trailer is then written after them, and the header records a larger
// length than it has. When no reader uses the old states any more, the trailer moves back. Until then, C-Blosc2 reads
// the frame, but does not edit it.
package frame
