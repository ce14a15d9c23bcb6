package ndarray

import (
	"bytes"
	"context"
	"fmt"

	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/internal/task"
	"github.com/goblosc/blosc2/meta"
)

// Attrs returns the names of the attributes of the array, in the order in which they are stored. python-blosc2 calls
// them vlmeta. The caller owns the slice. Attrs and Attr use the state of the last read, edit or Refresh.
func (a *Array) Attrs() []string { return a.f.VLMetaNames() }

// Attr decodes the attribute called name into the value that v points to:
//
//	var units string
//	err := a.Attr("units", &units)
//
// Numbers, strings, booleans, byte slices, slices, maps and structs work as in [meta.Unmarshal], and a pointer to an
// any accepts every attribute. A variable of type *Array receives an array that was stored as an attribute, if v points
// to it. That array is in memory, cannot be edited, and need not be closed. The error wraps fs.ErrNotExist if there is
// no such attribute, ErrType if the value does not fit v, ErrTooLarge if it takes more memory than the stored bytes or
// MaxBytes justify, ErrCorrupt or fs.ErrClosed.
func (a *Array) Attr(name string, v any) error {
	content, err := a.f.VLMeta(name)
	if err != nil {
		return storedAttrError(name, err)
	}
	if to, ok := v.(**Array); ok && to != nil {
		var inner *Array
		if inner, err = a.openAttr(content); err == nil {
			*to = inner
		}
	} else {
		err = meta.UnmarshalWithin(content, v, a.f.CheckAlloc)
	}
	if err != nil {
		return a.fault("attribute %q: %w", name, err)
	}
	return nil
}

// openAttr opens an array that is stored as an attribute, within the limits of the array that it belongs to. It returns
// nil for nil.
func (a *Array) openAttr(content []byte) (*Array, error) {
	var x *meta.Ext
	if err := meta.UnmarshalWithin(content, &x, a.f.CheckAlloc); err != nil || x == nil {
		return nil, err
	}
	if x.Type != meta.ExtFrame {
		return nil, fmt.Errorf("an extension of type %d, want %d, an array: %w", x.Type, meta.ExtFrame, ErrType)
	}
	return OpenBytes(x.Data, a.innerOptions())
}

// SetAttr sets an attribute, in one commit. The value may be any that [meta.Marshal] accepts, or an *Array or *View,
// whose items are copied. Store a time as text. The name must be UTF-8 of 1 to 31 bytes without a NUL, because other
// libraries misread other names. An array has at most 16 attributes, because other libraries cannot edit a frame with
// more. Checksums and a block table count as one each. The error wraps ErrParam for the name of a new attribute that is
// not of this form, ErrType for a value of another kind and ErrTooLarge for too many attributes, or is an error of
// Begin or of writing.
func (a *Array) SetAttr(ctx context.Context, name string, v any) error {
	// An array is copied before the edit, which locks the file: it may be another handle of the same file.
	content, err := marshalAttr(ctx, v)
	if err != nil {
		return attrError(name, err)
	}
	return a.edit(ctx, func(b *Batch) error { return storedAttrError(name, b.b.SetVLMeta(name, content)) })
}

// DeleteAttr removes an attribute, in one commit. The error wraps fs.ErrNotExist if there is no attribute with that
// name, or is an error of Begin or of writing.
func (a *Array) DeleteAttr(ctx context.Context, name string) error {
	return a.edit(ctx, func(b *Batch) error { return b.DeleteAttr(ctx, name) })
}

// SetAttr sets an attribute when the batch is committed. See Array.SetAttr.
func (b *Batch) SetAttr(ctx context.Context, name string, v any) error {
	if b.err != nil {
		return b.err
	}
	if err := task.Context(ctx).Err(); err != nil {
		return err
	}
	content, err := marshalAttr(ctx, v)
	if err != nil {
		return attrError(name, err)
	}
	return storedAttrError(name, b.b.SetVLMeta(name, content))
}

// stored returns a copy of the array as an attribute, or nil for nil.
func (a *Array) stored(ctx context.Context) ([]byte, error) {
	if a == nil {
		return meta.Marshal(nil)
	}
	return storedCopy(ctx, a)
}

// stored returns a copy of the view as an attribute, or nil for nil.
func (v *View) stored(ctx context.Context) ([]byte, error) {
	if v == nil {
		return meta.Marshal(nil)
	}
	return storedCopy(ctx, v)
}

// storedCopy returns a copy of r as an attribute.
func storedCopy(ctx context.Context, r Reader) ([]byte, error) {
	c, err := Copy(ctx, "", r, nil)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	var b bytes.Buffer
	if _, err := c.Save(ctx, &b); err != nil {
		return nil, err
	}
	return meta.Marshal(meta.Ext{Type: meta.ExtFrame, Data: b.Bytes()})
}

// DeleteAttr removes an attribute when the batch is committed. See Array.DeleteAttr.
func (b *Batch) DeleteAttr(ctx context.Context, name string) error {
	if b.err != nil {
		return b.err
	}
	if err := task.Context(ctx).Err(); err != nil {
		return err
	}
	return storedAttrError(name, b.b.DeleteVLMeta(name))
}

// storedAttrError returns an error of the frame about an attribute, which is a variable-length metalayer there.
func storedAttrError(name string, err error) error {
	if e, ok := err.(*frame.Error); ok && e.Part == "variable-length metalayer "+name {
		about := *e
		about.Part = "attribute " + name
		return &about
	}
	return err
}
