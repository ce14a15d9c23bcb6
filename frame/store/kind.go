package store

import (
	"fmt"

	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/frame/store/internal/frames"
	"github.com/goblosc/blosc2/internal/engine"
)

// Kind is the kind of a leaf, a table or a group.
type Kind uint8

// Kinds.
const (
	KindFrame     Kind = iota // a super-chunk
	KindArray                 // an N-dimensional array
	KindTensor                // a super-chunk that python-blosc2's save_tensor wrote: see Store.Array
	KindObjects               // an array of Python objects
	KindBatches               // an array of batches of Python objects
	KindLists                 // an array of lists
	KindTable                 // a table: the leaves below the key are its columns
	KindStore                 // an embed store inside a leaf: see Store.Sub
	KindReference             // data elsewhere: a remote array, a lazy expression, a cache of another array
	KindGroup                 // a key that has others below it
)

// String returns the name of a kind, such as "array" or "object array".
func (k Kind) String() string {
	names := [...]string{"super-chunk", "array", "tensor", "object array", "batch array", "list array", "table", "store", "reference", "group"}
	if int(k) < len(names) {
		return names[k]
	}
	return fmt.Sprintf("Kind(%d)", uint8(k))
}

// kindOf returns the kind of a frame from its metalayers, in the order in which python-blosc2 looks at them.
func kindOf(f *frame.Frame) Kind {
	for _, l := range []struct {
		name string
		kind Kind
	}{
		{engine.ProxyLayer, KindReference}, {engine.ObjectLayer, KindReference},
		{"listarray", KindLists}, {"vlarray", KindObjects}, {"batcharray", KindBatches},
		{engine.OldLazyLayer, KindReference}, {"b2embed", KindStore}, {"b2dict", KindStore}, {"b2tree", KindStore},
		{"b2nd", KindArray}, {"caterva", KindArray},
	} {
		if _, ok := frames.MetaLayer(f, l.name); ok {
			return l.kind
		}
	}
	for _, name := range f.VLMetaNames() {
		if name == tensorLayer {
			return KindTensor
		}
	}
	return KindFrame
}
