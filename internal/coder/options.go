package coder

import (
	"runtime"

	"github.com/goblosc/blosc2/codec"
)

// Options say how chunks are coded; nothing in them is stored. A nil *Options and zero fields are the defaults.
// The same Options may serve any number of goroutines; they must not change meanwhile.
type Options struct {
	Codecs      codec.Set // codecs to use; the zero value holds the built-in ones
	Filters     FilterSet // filters to use besides those of the format
	ItemSize    int       // item size in bytes where the header cannot hold it (above 255); 0 = the header's
	BlockShape  []int32   // shape of a block in items, for codecs and filters that need it
	Concurrency int       // goroutines a call may use; 0 = GOMAXPROCS
	MaxBytes    int64     // largest piece of memory to take because a chunk says so; 0 = 8 MiB for a block and 64 MiB for a chunk, or 4096 times its stored size; -1 = no limit

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
	if c <= 0 {
		c = runtime.GOMAXPROCS(0)
	}
	return max(1, min(c, n))
}

// limit returns how many bytes a chunk of cbytes may ask for.
func (o *Options) limit(cbytes int, floor int64) int64 {
	switch {
	case o == nil || o.MaxBytes == 0:
		return max(floor, 4096*int64(cbytes))
	case o.MaxBytes < 0:
		return MaxBytes
	}
	return o.MaxBytes
}
