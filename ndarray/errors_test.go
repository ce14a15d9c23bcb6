package ndarray

import (
	"testing"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/codec"
	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/internal/errs"
	"github.com/goblosc/blosc2/meta"
)

// TestSameErrors checks that the packages export one value for each kind of failure.
func TestSameErrors(t *testing.T) {
	for name, c := range map[string]struct {
		want     error
		exported []error
	}{
		"ErrFormat":   {errs.ErrFormat, []error{ErrFormat, frame.ErrFormat}},
		"ErrNotArray": {errs.ErrNotArray, []error{ErrNotArray}},
		"ErrCorrupt":  {errs.ErrCorrupt, []error{ErrCorrupt, frame.ErrCorrupt, chunk.ErrCorrupt, codec.ErrCorrupt, meta.ErrCorrupt}},
		"ErrChecksum": {errs.ErrChecksum, []error{ErrChecksum, frame.ErrChecksum}},
		"ErrChanged":  {errs.ErrChanged, []error{ErrChanged, frame.ErrChanged}},
		"ErrTooLarge": {errs.ErrTooLarge, []error{ErrTooLarge, frame.ErrTooLarge, chunk.ErrTooLarge, meta.ErrTooLarge}},
		"ErrReadOnly": {errs.ErrReadOnly, []error{ErrReadOnly, frame.ErrReadOnly}},
		"ErrParam":    {errs.ErrParam, []error{ErrParam, frame.ErrParam, chunk.ErrParam, codec.ErrParam}},
		"ErrShape":    {errs.ErrShape, []error{ErrShape}},
		"ErrBounds":   {errs.ErrBounds, []error{ErrBounds, frame.ErrBounds}},
		"ErrType":     {errs.ErrType, []error{ErrType, meta.ErrType}},
		"ErrValue":    {errs.ErrValue, []error{ErrValue}},
	} {
		for i, err := range c.exported {
			if err != c.want {
				t.Errorf("%s: exported value %d is another one: %v", name, i, err)
			}
		}
	}
}
