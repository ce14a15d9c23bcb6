package ndarray

import (
	"context"
	"errors"
	"testing"

	"github.com/goblosc/blosc2/frame"
)

// TestRequireChecksums opens arrays with and without checksums.
func TestRequireChecksums(t *testing.T) {
	o := &Options{}
	o.RequireChecksums = true
	if _, err := Open("../testdata/python-blosc2/full.b2nd", o); !errors.Is(err, frame.ErrChecksum) {
		t.Errorf("without checksums: %v", err)
	}
	a, err := Create(context.Background(), "", []int64{3}, []int16{1, 2, 3}, o)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	if !a.Frame().Info().Checksums {
		t.Error("a new array has no checksums")
	}
}
