package ndarray

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/goblosc/blosc2/meta"
)

// attrValue is a value that stores itself as an attribute: an *Array or a *View.
type attrValue interface {
	stored(ctx context.Context) ([]byte, error)
}

// marshalAttr returns an attribute as it is stored.
func marshalAttr(ctx context.Context, v any) ([]byte, error) {
	if x, ok := v.(attrValue); ok {
		return x.stored(ctx)
	}
	return meta.Marshal(v)
}

// attrError returns an error about an attribute.
func attrError(name string, err error) error {
	return fmt.Errorf("ndarray: attribute %q: %w", name, err)
}

// attrLayers returns attributes as they are stored, sorted by name.
func attrLayers(ctx context.Context, attrs map[string]any) ([]meta.Layer, error) {
	var layers []meta.Layer
	for _, name := range slices.Sorted(maps.Keys(attrs)) {
		content, err := marshalAttr(ctx, attrs[name])
		if err != nil {
			return nil, attrError(name, err)
		}
		layers = append(layers, meta.Layer{Name: name, Content: content})
	}
	return layers, nil
}
