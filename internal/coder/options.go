package coder

import (
	"io"

	"github.com/goblosc/blosc2/codec"
	"github.com/goblosc/blosc2/internal/task"
)

// Options say how chunks are coded; nothing in them is stored. A nil *Options and zero fields are the defaults.
// The same Options may serve any number of goroutines; they must not change meanwhile.
type Options struct {
	Codecs      codec.Set // codecs to use; the zero value holds the built-in ones
	Filters     FilterSet // filters to use besides those of the format
	ItemSize    int       // item size in bytes where the header cannot hold it (above 255); 0 = the header's
	BlockShape  []int32   // shape of a block in items, for codecs and filters that need it
	Concurrency int       // goroutines a call may use, at most 1024; 0 = GOMAXPROCS
	MaxBytes    int64     // largest piece of memory to take because a chunk says so; 0 = 8 MiB for a block and 64 MiB for a chunk, or 4096 times its stored size, of which pages of zeros do not count (see MayRead); -1 = no limit

	// Prefilter makes of each block src what is encoded in its place, before the filters of the chunk and for stored
	// chunks too. Postfilter makes of each decoded block src what the reader gets, of special values too. Both write
	// all of dst; the rules are those of UserFilter. nil = the block as it is.
	Prefilter  func(dst, src []byte, b BlockInfo) error
	Postfilter func(dst, src []byte, b BlockInfo) error
}

// workers returns the number of goroutines for n pieces of work.
func (o *Options) workers(n int) int {
	c := 0
	if o != nil {
		c = o.Concurrency
	}
	return task.Workers(c, int64(n))
}

// allows returns how many bytes a chunk may ask for, and whether n are no more. The chunk is in memory, or at off of
// src; its own size counts only as far as it is evidence. Without a limit of the caller, floor bytes are always allowed.
func (o *Options) allows(n, floor int64, h *Header, src io.ReaderAt, off int64, mem []byte) (int64, bool) {
	limit := int64(0)
	if o != nil {
		limit = o.MaxBytes
	}
	switch {
	case limit < 0:
		limit = MaxBytes
	case limit == 0 && n <= floor:
		return floor, true
	case limit == 0:
		if src == nil {
			src = memory(mem)
		}
		need := (n-1)/MemoryRatio + 1
		limit = floor
		if need <= int64(h.CBytes) {
			limit = max(floor, MemoryRatio*Evidence(src, off, int64(h.CBytes), need))
		} else {
			limit = max(floor, MemoryRatio*int64(h.CBytes))
		}
	}
	return limit, n <= limit
}
