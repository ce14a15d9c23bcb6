package objects

import (
	"context"
	"fmt"
	"reflect"
	"slices"

	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/meta"
)

// CreateOptions are the settings for creating an array. A nil *CreateOptions and zero fields are the defaults. No field
// is ignored: a field that cannot apply to the kind of the array returns ErrParam.
type CreateOptions struct {
	// Frame are the options for the frame; nil = the defaults. If its Params and Goal are zero, they are those of
	// python-blosc2: the defaults of chunk.Params, and for object arrays a dictionary for each chunk. The item size of
	// the frame is one byte: another TypeSize returns ErrParam. So do ChunkSize and BlockTable, and for batch and list
	// arrays BlockSize.
	Frame *frame.CreateOptions

	// ItemsPerBlock is the number of items of each block of a batch except the last, of a batch or list array. 0 = the
	// first Append chooses it.
	ItemsPerBlock int

	// Element is the kind of the elements of a list array, which needs one: bool, int8 to int64, uint8 to uint64,
	// float32, float64, timestamp, string, bytes, vlstring, vlbytes, utf8 or struct.
	Element string
	// ElementSpec are further entries of python-blosc2's description of the elements of a list array, such as
	// max_length of strings, or fields, which struct needs.
	ElementSpec meta.Map
	// Nullable accepts nil in place of a list, in a list array.
	Nullable bool
	// BatchRows is the largest number of lists in a batch of a list array. 0 = those of an Append.
	BatchRows int
}

// Create creates an empty array and opens it for editing: in a new file, or as frame.Create does with the options in
// o.Frame. The file is like a new one of python-blosc2, with items in MessagePack. A list array is made of batches. To
// store the array in a store, append to it and pass its Frame to store.Store.Put.
//
// The error wraps ErrParam, or is an error of frame.Create, which wraps fs.ErrExist if the name exists.
func Create(ctx context.Context, name string, kind Kind, o *CreateOptions) (*Array, error) {
	if o == nil {
		o = &CreateOptions{}
	}
	fo, err := o.frame(kind)
	if err != nil {
		return nil, fmt.Errorf("objects: creating %s: %w", name, err)
	}
	f, err := frame.Create(ctx, name, fo)
	if err != nil {
		return nil, fmt.Errorf("objects: creating %s: %w", name, err)
	}
	a, err := New(ctx, f)
	if err != nil {
		f.Close()
		return nil, err
	}
	return a, nil
}

// Frame returns the frame of the array. Closing one closes the other. Use Array.Refresh instead of Frame.Refresh, which
// leaves the array with its old batches.
func (o *Array) Frame() *frame.Frame { return o.f }

// frame returns the options for the frame of an array, with its metalayers.
func (o *CreateOptions) frame(kind Kind) (*frame.CreateOptions, error) {
	fo := frame.CreateOptions{}
	if o.Frame != nil {
		fo = *o.Frame
	}
	if err := o.check(kind, &fo); err != nil {
		return nil, err
	}
	if fo.Goal == 0 && reflect.ValueOf(fo.Params).IsZero() {
		fo.Params.Dict = kind == Objects
	}
	layers, err := o.layers(kind)
	fo.Meta = slices.Concat(fo.Meta, layers)
	return &fo, err
}

// check returns ErrParam for options that cannot apply.
func (o *CreateOptions) check(kind Kind, fo *frame.CreateOptions) error {
	if kind > Lists {
		return fmt.Errorf("Kind(%d): %w", kind, ErrParam)
	}
	list := kind == Lists
	named := func(layers []meta.Layer, names ...string) bool {
		return slices.ContainsFunc(layers, func(l meta.Layer) bool { return slices.Contains(names, l.Name) })
	}
	for _, c := range []struct {
		name   string
		bad    bool
		reason string
	}{
		{"ItemsPerBlock", o.ItemsPerBlock < 0, "is negative"},
		{"ItemsPerBlock", o.ItemsPerBlock != 0 && kind == Objects, "is for batch and list arrays"},
		{"Element", o.Element != "" && !list, "is for list arrays"},
		{"Element", list && !slices.Contains(elementKinds(), o.Element), fmt.Sprintf("is %q, want one of %q", o.Element, elementKinds())},
		{"ElementSpec", o.ElementSpec != nil && !list, "is for list arrays"},
		{"ElementSpec", hasKey(o.ElementSpec, "kind"), "has the key kind, which is Element"},
		{"ElementSpec", o.Element == "struct" && !hasKey(o.ElementSpec, "fields"), "needs the key fields for struct"},
		{"Nullable", o.Nullable && !list, "is for list arrays"},
		{"BatchRows", o.BatchRows < 0, "is negative"},
		{"BatchRows", o.BatchRows != 0 && !list, "is for list arrays"},
		{"Frame.Params.TypeSize", fo.Params.TypeSize != 0 && fo.Params.TypeSize != 1, fmt.Sprintf("is %d, want 1", fo.Params.TypeSize)},
		{"Frame.Params.BlockSize", fo.Params.BlockSize != 0 && kind != Objects, "is for object arrays: blocks have ItemsPerBlock items"},
		{"Frame.ChunkSize", fo.ChunkSize != 0, "does not apply: chunks have different sizes"},
		{"Frame.BlockTable", fo.BlockTable, "is for a frame that is created with chunks"},
		{"Frame.Meta", named(fo.Meta, "vlarray", "batcharray", "listarray"), "has a metalayer of an array of objects"},
		{"Frame.VLMeta", named(fo.VLMeta, lengthsLayer), "has a metalayer of an array of objects"},
	} {
		if c.bad {
			return fmt.Errorf("option %s %s: %w", c.name, c.reason, ErrParam)
		}
	}
	return nil
}

// elementKinds returns the kinds that Element accepts: those that listMeta.fits checks.
func elementKinds() []string {
	return []string{"bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64",
		"timestamp", "string", "bytes", "vlstring", "vlbytes", "utf8", "struct"}
}

// hasKey reports whether m has a key.
func hasKey(m meta.Map, key string) bool {
	return slices.ContainsFunc(m, func(e meta.Entry) bool { return e.Key == key })
}

// layers returns the metalayers of an array, with their entries in the order of python-blosc2.
func (o *CreateOptions) layers(kind Kind) ([]meta.Layer, error) {
	const serializer = "msgpack"
	optional := func(n int) any {
		if n == 0 {
			return nil
		}
		return n
	}
	var layers []meta.Layer
	add := func(name string, m meta.Map) error {
		content, err := meta.Marshal(m)
		layers = append(layers, meta.Layer{Name: name, Content: content})
		return err
	}
	if kind == Objects {
		err := add("vlarray", meta.Map{{Key: "version", Value: 1}, {Key: "serializer", Value: serializer}})
		return layers, err
	}
	if kind == Lists {
		m := meta.Map{{Key: "version", Value: 1}, {Key: "kind", Value: "list"},
			{Key: "item", Value: slices.Concat(meta.Map{{Key: "kind", Value: o.Element}}, o.ElementSpec)},
			{Key: "nullable", Value: o.Nullable}, {Key: "serializer", Value: serializer}}
		if o.BatchRows != 0 {
			m = append(m, meta.Entry{Key: "batch_rows", Value: o.BatchRows})
		}
		if o.ItemsPerBlock != 0 {
			m = append(m, meta.Entry{Key: "items_per_block", Value: o.ItemsPerBlock})
		}
		if err := add("listarray", append(m, meta.Entry{Key: "backend", Value: "batch"})); err != nil {
			return nil, fmt.Errorf("option ElementSpec: %w", err)
		}
	}
	err := add("batcharray", meta.Map{{Key: "version", Value: 1}, {Key: "serializer", Value: serializer},
		{Key: "items_per_block", Value: optional(o.ItemsPerBlock)}, {Key: "arrow_schema", Value: nil}})
	return layers, err
}
