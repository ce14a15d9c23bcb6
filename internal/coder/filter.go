package coder

// FilterID is the number of a filter, as headers store it.
type FilterID uint8

// Filter is one slot of the pipeline.
type Filter struct {
	ID   FilterID
	Meta uint8 // parameter; the filter defines its meaning
}

// Pipeline holds the filters of a chunk: slot 0 is the first to be applied when writing, the last when reading.
type Pipeline [NumFilters]Filter

// has reports whether a filter is in the pipeline.
func (p *Pipeline) has(id FilterID) bool {
	for _, f := range p {
		if f.ID == id {
			return true
		}
	}
	return false
}

// BlockInfo describes the block that a filter works on.
type BlockInfo struct {
	Chunk    int64   // number of the chunk in its frame; -1 = not known
	Block    int     // number of the block in its chunk
	Offset   int     // where the block starts in the decoded chunk, in bytes
	TypeSize int     // item size that the chunk header holds: 1 to 255
	ItemSize int     // item size of the frame, from Options or Params if the header cannot hold it
	Shape    []int32 // Options.BlockShape: shape of a block in items, nil if the chunk is not part of an array
	Meta     uint8   // parameter of the filter; 0 for Prefilter and Postfilter
}

// UserFilter is a filter that a program registers in Options.Filters. Its number is 160 to 255, or one of the numbers
// from 32 up that the format reserves for plug-ins. Implementations must be safe for concurrent use.
//
// Forward writes to dst the bytes that are stored for the block src. Backward restores src. dst and src have the same
// length and do not overlap. Neither may be retained, and src must not be changed. In decoding, src is untrusted. An
// error ends the encoding or decoding of the chunk. Wrap ErrCorrupt for a block that cannot be valid.
type UserFilter interface {
	ID() FilterID
	Forward(dst, src []byte, b BlockInfo) error
	Backward(dst, src []byte, b BlockInfo) error
}

// block is the block that the filters of this package work on.
type block struct {
	BlockInfo
	version uint8  // of the chunk
	ref     []byte // decoded block 0, for Delta; nil in block 0 itself
}

// filterDef defines a filter: the filters of the format are entries of a table (builtinFilters), and user filters are
// wrapped in one.
type filterDef struct {
	name  string
	lossy bool // decoding may not restore the bytes that were encoded

	// shaped filters work on the shape of a block in an array. Decoding needs Options.BlockShape.
	shaped bool
	// itemized filters without a parameter work on items of the frame's size. Decoding needs Options.ItemSize if the
	// header cannot hold that size.
	itemized bool

	// check returns an error if encoding does not accept a parameter for items of a size. nil = it accepts all.
	check func(meta uint8, typeSize int) error
	// planes returns the number of byte planes that the filter makes of items: its output can be read and written by
	// plane, without Backward and Forward. A filter with one plane does not change a block. nil = the filter is not a
	// shuffle.
	planes func(meta uint8, typeSize int) int

	// forward and backward transform src, which they must not change, to dst. Without forward, the filter can only be
	// decoded. Without backward, decoding has nothing to do. Without both, the slot is empty.
	forward, backward func(dst, src []byte, b *block) error
}

// firstUserFilter is the lowest number that a FilterSet looks up. Lower numbers belong to the format itself.
const firstUserFilter = 32

// FilterSet is an immutable set of filters. The zero value holds only the filters of the format.
type FilterSet struct {
	user []userFilter // later ones win
}

type userFilter struct {
	id  FilterID
	def *filterDef
}

// With returns a set that also holds f. f replaces a filter with the same number. A number below 32 is never looked up.
func (s FilterSet) With(f UserFilter) FilterSet {
	user := make([]userFilter, 0, len(s.user)+1)
	return FilterSet{user: append(append(user, s.user...), userFilter{f.ID(), &filterDef{
		lossy:    true,
		forward:  func(dst, src []byte, b *block) error { return f.Forward(dst, src, b.BlockInfo) },
		backward: func(dst, src []byte, b *block) error { return f.Backward(dst, src, b.BlockInfo) },
	}})}
}

// find returns the user filter with a number, or nil.
func (s *FilterSet) find(id FilterID) *filterDef {
	if id < firstUserFilter {
		return nil
	}
	for i := len(s.user) - 1; i >= 0; i-- {
		if s.user[i].id == id {
			return s.user[i].def
		}
	}
	return nil
}
