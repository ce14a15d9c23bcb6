package codec

import "fmt"

// corrupt returns the error of a decoder of this package.
func corrupt(id ID, what string) error {
	return fmt.Errorf("codec: %v: %s: %w", id, what, ErrCorrupt)
}

// encoded turns the length of a stream, or 0 if there is none, into the result of Encode.
func encoded(n int, src []byte) (int, error) {
	if n == 0 || n >= len(src) {
		return 0, ErrIncompressible
	}
	return n, nil
}
