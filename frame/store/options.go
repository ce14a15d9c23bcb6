package store

import (
	"fmt"

	"github.com/goblosc/blosc2/frame"
)

// OpenOptions are the settings for opening a store. A nil *OpenOptions and zero fields are the defaults.
type OpenOptions struct {
	// Frames are the options for the frames of the store. With Offset or Locking, opening returns ErrParam.
	Frames *frame.Options
	// MaxLeaves is the largest number of leaves; 0 = 1<<20.
	MaxLeaves int
	// Threshold is for editing a directory store: frames with fewer decoded bytes go to embed.b2e. 0 = none.
	Threshold int64
}

// check returns an error for options that cannot apply.
func (o *OpenOptions) check() error {
	if f := o.frames(); f.Offset != 0 || f.Locking {
		return fmt.Errorf("frames of a store cannot have Offset or Locking: %w", ErrParam)
	}
	return nil
}

// maxLeaves returns the limit on leaves.
func (o *OpenOptions) maxLeaves() int {
	if o == nil || o.MaxLeaves == 0 {
		return 1 << 20
	}
	return o.MaxLeaves
}

// frames returns a copy of the options for frames.
func (o *OpenOptions) frames() frame.Options {
	if o == nil || o.Frames == nil {
		return frame.Options{}
	}
	return *o.Frames
}

// embedded returns the options for frames inside the decoded bytes of a frame with stored bytes. Bytes that were
// decoded do not justify memory, because few stored bytes decode to many.
func (o *OpenOptions) embedded(stored int64) frame.Options {
	f := o.frames()
	if f.MaxBytes == 0 {
		f.MaxBytes = 64<<20 + min(stored, 1<<40)*4096
	}
	return f
}
