package frames

import (
	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/meta"
)

// Unmarshal is meta.Unmarshal for an item or a metalayer of f. It returns ErrTooLarge if f does not justify the memory
// of the values.
func Unmarshal(f *frame.Frame, raw []byte, v any) error {
	return meta.UnmarshalWithin(raw, v, f.CheckAlloc)
}
