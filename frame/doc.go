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
//	index    a chunk of 8-byte entries, one for each chunk: its position behind the header, or, when negative,
//	         the special value (zeros, NaNs, uninitialised) that it stands for; absent in a frame with no bytes
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
// write (or renames a new index file over the old one): until then the stored frame is the old one. The bytes that
// only the old state used stay dead until a later commit uses them. Only the trailer of a frame without chunks is
// overwritten in place, since its position is fixed. The reference reads and edits such frames.
package frame
