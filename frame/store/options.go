package store

import (
	"fmt"

	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/frame/internal/storage"
	"github.com/goblosc/blosc2/internal/coder"
)

// OpenOptions are the settings for opening a store. A nil *OpenOptions and zero fields are the defaults. No field is
// ignored: a field that cannot apply to the call returns ErrParam.
type OpenOptions struct {
	// Frames are the options for the frames of the store; nil = the defaults. NoSync is for editing. Mmap, Locking,
	// Prefilter and Postfilter return ErrParam.
	Frames *frame.OpenOptions
	// MaxLeaves is the largest number of leaves; 0 = 1<<20.
	MaxLeaves int
	// Threshold is for editing a directory store: frames with fewer decoded bytes go to embed.b2e. 0 = none.
	Threshold int64

	sys storage.System // nil = the operating system
}

// CreateOptions are the settings for creating a store. A nil *CreateOptions and zero fields are the defaults. No field
// is ignored: a field that cannot apply to the call returns ErrParam.
type CreateOptions struct {
	Layout    Layout // of a directory: LayoutDict or LayoutTree; 0 = LayoutTree
	Overwrite bool   // replace the file of an embed store; for a directory it returns ErrParam
	OpenOptions
}

// check returns ErrParam for options that cannot apply to reading, or with edit to editing.
func (o *OpenOptions) check(edit bool) error {
	if o == nil {
		return nil
	}
	f := o.frames()
	for _, c := range []struct {
		name   string
		bad    bool
		reason string
	}{
		{"MaxLeaves", o.MaxLeaves < 0, "is negative"},
		{"Threshold", o.Threshold < 0, "is negative"},
		{"Threshold", o.Threshold != 0 && !edit, "is for editing"},
		{"Frames.Mmap", f.Mmap, "is for files with one frame"},
		{"Frames.Locking", f.Locking, "is for files with one frame"},
		{"Frames.Prefilter", f.Prefilter != nil, "is for one frame"},
		{"Frames.Postfilter", f.Postfilter != nil, "is for one frame"},
		{"Frames.NoSync", o.noSync() && !edit, "is for editing"},
	} {
		if c.bad {
			return fmt.Errorf("option %s %s: %w", c.name, c.reason, ErrParam)
		}
	}
	return nil
}

// errThreshold returns the error for a threshold of a store in one file.
func errThreshold() error { return fmt.Errorf("option Threshold is for a directory: %w", ErrParam) }

// maxLeaves returns the limit on leaves.
func (o *OpenOptions) maxLeaves() int {
	if o == nil || o.MaxLeaves == 0 {
		return 1 << 20
	}
	return o.MaxLeaves
}

// system returns the system of the files of the store.
func (o *OpenOptions) system() storage.System {
	if o == nil || o.sys == nil {
		return storage.OS()
	}
	return o.sys
}

// noSync reports whether edits do not wait for the disk.
func (o *OpenOptions) noSync() bool { return o != nil && o.Frames != nil && o.Frames.NoSync }

// frames returns a copy of the options for frames that are read.
func (o *OpenOptions) frames() frame.OpenOptions {
	if o == nil || o.Frames == nil {
		return frame.OpenOptions{}
	}
	f := *o.Frames
	f.NoSync = false
	return f
}

// embedded returns the options for frames inside the decoded bytes of a frame with stored bytes. Bytes that were
// decoded do not justify memory, because few stored bytes decode to many.
func (o *OpenOptions) embedded(stored int64) frame.OpenOptions {
	f := o.frames()
	if f.MaxBytes == 0 {
		f.MaxBytes = coder.EmbeddedLimit(stored)
	}
	return f
}
