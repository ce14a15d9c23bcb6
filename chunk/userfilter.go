package chunk

// BlockInfo tells a filter about the block it works on.
type BlockInfo struct {
	Chunk    int64   // number of the chunk in its frame; -1 = not known
	Block    int     // number of the block in its chunk
	Offset   int     // where the block starts in the decoded chunk, in bytes
	TypeSize int     // item size that the chunk header holds: 1 to 255
	ItemSize int     // item size of the frame, where Options or CParams say more than the header can hold
	Shape    []int32 // Options.BlockShape: shape of a block in items, nil when the chunk is not part of an array
	Meta     uint8   // parameter of the filter; 0 for Prefilter and Postfilter
}

// info returns what a filter of the user is told.
func (b *block) info(f Filter) BlockInfo {
	i := b.BlockInfo
	i.Meta = f.Meta
	return i
}

// UserFilter is a filter that a program brings with it: one with a number of its own, 160 to 255, or one of the
// numbers from 32 on that the format gives to plug-ins. Implementations are safe for use by any number of goroutines.
//
// Forward writes to dst what shall be stored for the block src, Backward undoes it. dst and src have the same length,
// do not overlap, and are not kept after the call; src stays as it is. When decoding, src is untrusted. Errors end the
// encoding or decoding of the chunk; wrap ErrCorrupt for a block that cannot be right.
type UserFilter interface {
	ID() FilterID
	Forward(dst, src []byte, b BlockInfo) error
	Backward(dst, src []byte, b BlockInfo) error
}

// firstUserFilter is the lowest number that a FilterSet is asked for. Those below belong to the format itself.
const firstUserFilter = 32

// FilterSet is an immutable set of filters. The zero value holds none but those of the format.
type FilterSet struct {
	user []UserFilter // later ones win
}

// With returns a set that also holds f. It takes the place of a filter with the same number, but filters with numbers
// below 32 are never asked for.
func (s FilterSet) With(f UserFilter) FilterSet {
	user := make([]UserFilter, 0, len(s.user)+1)
	return FilterSet{user: append(append(user, s.user...), f)}
}

// find returns the filter with a number.
func (s *FilterSet) find(id FilterID) (UserFilter, bool) {
	if id < firstUserFilter {
		return nil, false
	}
	for i := len(s.user) - 1; i >= 0; i-- {
		if s.user[i].ID() == id {
			return s.user[i], true
		}
	}
	return nil, false
}

// prefilter returns what Options.Prefilter makes of the block src: src itself without one, else memory of the worker.
func (w *Worker) prefilter(src []byte, b *block) ([]byte, error) {
	if w.o.Prefilter == nil {
		return src, nil
	}
	w.pre = sized(w.pre, len(src))
	return w.pre, w.o.Prefilter(w.pre, src, b.BlockInfo)
}
