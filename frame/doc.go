// Package frame stores a list of compressed chunks, with metalayers, in a Blosc2 frame: in a file, in a directory, in
// memory, or in any other storage. It reads, writes and edits such frames. It knows nothing of dimensions: use package
// ndarray for arrays, and this package for plain super-chunks and for what is rare.
//
// Create a frame and append chunks. Each Append is one commit, after which the frame is on the disk:
//
//	f, err := frame.Create(ctx, "log.b2frame", nil)
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
// [OpenBytes], [OpenReaderAt] and [OpenSource] open frames elsewhere; [Frame.Save] writes a frame to an io.Writer;
// [Copy] and [Salvage] make a new frame of an intact and of a damaged one.
//
// A context that is nil counts as context.Background(). Calls return the error of a context that is done while they
// wait for a batch, for a lock file or for a [Source], between the reads of an io.ReaderAt, and between the blocks or
// chunks that they decode or write. Everything is safe for concurrent use. Decoded data is appended to memory of the
// caller or written to it, and is then the caller's. Sizes and offsets are in bytes unless the documentation says
// otherwise.
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
//	index    a chunk of 8-byte entries, one for each chunk: its position after the header, or, when negative,
//	         the special value (zeros, NaNs, uninitialized) that it represents; absent in a frame with no bytes
//	trailer  the variable-length metalayers, each value a chunk; its own length; a fingerprint (unused)
//
// # A sparse frame
//
// A directory with chunks.b2frame, which has header, index and trailer, and one file for each chunk: the entries of
// the index are the numbers of files such as 0000002A.chunk.
//
// # States
//
// Readers see one state of the frame, as a commit left it. They take no locks, however long they read. A commit writes
// chunks, index and trailer where no state in use has bytes, and syncs. Then it overwrites the header in one write; in
// a sparse frame it renames a new index file over the old one. Until then the stored frame is the old one. After a
// crash, the frame is in the state before or after the commit, unless NoSync is set.
//
// A disk may tear a write that crosses sectors of 512 bytes. If a frame is at the start of a file, the 87 fixed bytes
// of the header are in one sector. Only commits that change metalayers of a longer header change several sectors. Such
// a commit first writes a copy of the old and the new header to the end of the file and syncs, and removes the copy
// after the header is written. This costs one more sync. If the header is torn, Open takes the new header from the copy
// without writing anything, and Edit completes the write. Other libraries cannot read the frame before that.
//
// The bytes that only old states used stay dead until a later commit uses them. The index and trailer of the previous
// state are among them. After 10,000 commits that append a chunk each, a file has 1.04 times the size of its live
// bytes, and at most 1.4 times on the way. Before its first edit, a Frame searches for dead bytes that other writers
// left. Compact releases them. C-Blosc2 reads and edits such frames.
//
// Every commit writes the whole index, and the checksums if the frame keeps them. Its cost is in proportion to the
// number of chunks; README.md has a table. Put many edits of a large frame into one Batch.
//
// # Checksums
//
// A frame created with CreateOptions.Checksums, or after Batch.SetChecksums, has CRC-32Cs (Castagnoli) in the
// variable-length metalayer "b2crc32c", which other readers ignore. It is a MessagePack map, in Python a dictionary:
//
//	version  1
//	index    the CRC-32C of the index as it is stored, header included; 0 when there is none
//	meta     bytes: for each metalayer the CRC-32C of its name and that of its content
//	vlmeta   bytes: for each other variable-length metalayer the same; the content is the chunk that holds it
//	chunks   bytes: the CRC-32C of each chunk as it is stored, in the order of the index; 0 for special values that
//	         the index holds. Empty when all are one such value
//
// with little-endian numbers of 4 bytes in the bytes. Every commit of this package keeps them right. The 87 fixed
// bytes of the header are not covered: they change with every edit, and chunks do not depend on them.
//
// With OpenOptions.Verify, reads return ErrChecksum if bytes do not match. Opening compares the index and the
// metalayers, VLMeta compares its value, and reads compare each chunk that they use. A read of at least half of a chunk
// compares it every time. A smaller read compares the whole chunk once, on first use after opening or after a commit.
// ChunkInfo reads headers, which are not compared. Without OpenOptions.Verify, only Verify and copies compare. If
// damage hides the metalayer, for example by a changed bit in its name, a frame looks as if it had no checksums. Verify
// and OpenOptions.Verify then look for the record under other names, and for trailer bytes that belong to no metalayer.
// With OpenOptions.RequireChecksums, a frame without checksums cannot be opened.
//
// A library that does not know the checksums leaves them unchanged when it edits the frame. They are stale then. If the
// list of chunks has changed, the checksum of the index does not match, and the checksums of the chunks have no
// meaning. Otherwise the checksums of the changed metalayers or chunks do not match. Edits by this package leave stale
// checksums stale. Verify reports them, and opening or reading with OpenOptions.Verify fails. SetChecksums(ctx, true)
// or a copy computes all checksums again if the index has changed.
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
// deleted, the old chunks may still be in use. The trailer then goes after them, and the header counts as longer than
// it is. Once the old states are out of use, the trailer moves back. C-Blosc2 reads the state between, but does not
// edit it.
package frame
