// Package coder encodes and decodes chunks. It implements package chunk, which documents the format, for that package
// and for the packages that read and write frames. It knows headers, filter pipelines, the streams of a block and
// special values. It does not know files, other chunks or dimensions.
//
// The unit of work is a block. A [Worker] encodes and decodes blocks on one goroutine and owns all scratch memory. A
// [Pool] keeps workers between calls. A [Reader] is an opened chunk that any number of workers share. A [Layout] holds
// everything that encoding needs to know about a chunk before its first block. Worker.Build makes a chunk of blocks.
// [Encode] and [Decode] process a chunk in memory as a whole.
//
// # Files, from the bottom up
//
//	errors                           errors
//	header                           constants of the format; headers
//	filter, pipeline                 what a filter is, and the filters of the format; the filters of one chunk
//	cparams, options, layout         compression parameters, and the layout of a chunk that they determine
//	stream                           the streams of a block
//	special, reader                  special values; the parts of a stored chunk
//	worker, pool                     state of one goroutine; workers kept between calls
//	evidence                         how much memory the stored bytes of a chunk justify
//	locate                           where the blocks of a stored chunk are
//	open, decode                     blocks of an opened chunk; streams that are decoded at once
//	encode, dict                     blocks of a chunk to be written; whole chunks
//	builder, parallel                the one builder of chunks; blocks that several workers encode for it
//	decodechunk, vl, readerat        whole chunks; blocks of variable length; reading at an offset
//
// A new filter is one entry of the table in filter.go.
package coder
