// Package frame reads, writes and edits Blosc2 frames: super-chunks, lists of chunks with metalayers, in a file, in
// memory, at an offset inside another file, or in a directory. It knows nothing of dimensions; package ndarray adds
// them.
//
// # A contiguous frame
//
// Integers are big-endian MessagePack, but for the index, which is a chunk.
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
//	         the special value (zeros, NaNs, uninitialised) that it represents; absent in a frame with no bytes
//	trailer  the variable-length metalayers, each value a chunk; its own length; a fingerprint (unused)
//
// # A sparse frame
//
// A directory with chunks.b2frame, which has header, index and trailer, and one file for each chunk: the entries of
// the index are the numbers of files such as 0000002A.chunk.
//
// # States
//
// Readers see one state of the frame, as a commit left it, without locks, however long they take. A commit writes
// chunks, index and trailer where no state that is in use has bytes, syncs, and then overwrites the header in one
// write (or renames a new index file over the old one): until then the stored frame is the old one. A crash leaves
// the state before or after the commit.
//
// A disk may tear a write that crosses sectors of 512 bytes. In a frame that starts a file the 87 fixed bytes of the
// header lie in one; only commits that change metalayers in a longer header change several. Those first put a copy of
// the old and the new header at the end of the file, sync, and take it away when the header is written, which costs
// one more sync. Opening a frame with a torn header finds the copy and takes the new header from it: Open without
// writing anything, Edit by finishing the write. Other libraries cannot read the frame before that.
//
// The bytes that only old states used stay dead until a later commit uses them; the index and trailer of the last
// state are among them. Appending 10,000 chunks with a commit each gives a file 1.04 times the size of what is live,
// and at most 1.4 times on the way. Opening a frame for editing finds those that others left. Compact gives them back
// to the system. The reference reads and edits such frames.
//
// Every commit writes the whole index, and the checksums if there are some: some 13 ns a chunk, and 10 ns for its
// checksum, on a machine on which syncing takes a millisecond. One append a commit takes 0.02 ms (1.1 ms with its two
// syncs) in a frame of 1,000 chunks, 1.4 ms (6 ms) in one of 100,000, and 13 ms (52 ms) in one of a million: put
// many edits of such a frame into one Batch.
//
// # Checksums
//
// A frame made with Options.Checksums, or after SetChecksums, has CRC-32Cs (Castagnoli) in the variable-length
// metalayer "b2crc32c", which other readers ignore. It is a MessagePack map, in Python a dictionary:
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
// With Options.Verify, what does not match is an ErrChecksum: opening compares the index and the metalayers, VLMeta its
// value, and reading each chunk that it touches. A chunk that is read as a whole is compared each time; of which only
// blocks are read, it is read as a whole the first time after opening or a commit. ChunkInfo reads headers, which are
// not compared. Without Options.Verify only Verify compares, and what copies chunks. If damage hides the metalayer, for
// example by a changed bit in its name, a frame looks as if it had no checksums. Verify and Options.Verify then look for
// the record under other names and for trailer bytes that belong to no metalayer. Options.RequireChecksums goes further:
// without checksums the frame cannot be opened.
//
// A library that edits the frame and knows nothing of checksums leaves them as they were. They are stale then: when it
// changed the list of chunks, that of the index does not match, and those of the chunks have no meaning; else those of
// the metalayers or chunks that it changed. Edits by this package leave stale ones stale. Verify reports it, opening or
// reading with Options.Verify fails, and SetChecksums(ctx, true), or a copy, makes all anew where the index is another.
//
// # Data elsewhere
//
// python-blosc2 saves lazy expressions, lazy functions and remote arrays as frames that hold only metadata, and its
// Proxy caches chunks of another array in a frame. The metalayers "b2o", "LazyArray" and "proxy-source" mark such
// frames. Their empty chunks look like zeros. This package reads the metalayers of such frames and the chunks that a
// cache has fetched; reading other data and editing data is an ErrUnsupported that says what the frame is. Copy,
// AppendTo, Compact and Salvage keep such frames as they are.
//
// # Empty frames
//
// The format wants the trailer of a frame without chunks right after the header. When the last chunk is deleted, the
// trailer goes beside the chunks all the same, as they may still be read, and the header counts as longer than it
// is; once the old states are out of use the trailer moves back. The reference reads the state between, but does not
// edit it.
package frame
