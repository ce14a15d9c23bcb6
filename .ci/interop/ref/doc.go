// Package ref calls C-Blosc2, the reference implementation, so that tests can compare with it. It wraps as much as
// the tests need: chunks, super-chunks and arrays, with the C library's own parameters and numbers.
//
// Buffers that go in are copied where the C library might write to them or keep them; what comes out belongs to
// the caller. Every call may run beside others, but a SChunk or Array belongs to one goroutine. Both hold C memory
// until Close. Errors carry the C library's text and code.
package ref
