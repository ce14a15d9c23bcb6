package ndarray

import (
	"errors"
	"testing"
)

// TestMaxDims opens an array with as many dimensions as the options allow, and one more.
func TestMaxDims(t *testing.T) {
	a, err := Zeros("", []int64{2, 3, 4}, "<i2", nil)
	if err != nil {
		t.Fatal(err)
	}
	b, err := a.Frame().AppendTo(nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := FromBytes(b, &Options{MaxDims: 3}); err != nil {
		t.Error(err)
	}
	if _, err := FromBytes(b, &Options{MaxDims: 2}); !errors.Is(err, ErrTooLarge) {
		t.Errorf("three dimensions, two allowed: %v", err)
	}
}
