// Package coder encodes and decodes chunks: it is the engine of package chunk, which documents the format, and of the
// packages that build on it. It knows headers, filter pipelines, the streams of a block and special values; it does not
// know files, other chunks or dimensions.
//
// The unit of work is a block. A [Worker] encodes and decodes blocks on one goroutine and owns all scratch memory. A
// [Pool] keeps workers between calls. A [Reader] is an opened chunk that any number of workers share; a [Layout] is
// everything that encoding needs to know of a chunk before its first block. Worker.Build makes a chunk of blocks;
// [Encode] and [Decode] process a chunk in memory as a whole.
//
// # Files, from the bottom up
//
//	errors, flags, buffers           errors, constants of the format, scratch memory
//	filter, filters, pipeline        what a filter is, the filters of the format, the filters of one chunk
//	header, cparams, blocksize,      headers, compression parameters, and what follows from them for one chunk
//	options, layout
//	stream, batch                    the streams of a block; streams that are decoded together
//	special, lazy, reader            special values; the parts of a stored chunk
//	worker, pool                     state of one goroutine; workers kept between calls
//	decode, open, pair, shuffled     blocks of an opened chunk
//	encode, dict, copyblock          blocks of a chunk to be written
//	builder, gather                  the one builder of chunks; blocks that several workers encode for it
//	encodechunk, decodechunk, vl,    whole chunks
//	readerat
//
// A new filter is one entry of the table in filters.go.
package coder
