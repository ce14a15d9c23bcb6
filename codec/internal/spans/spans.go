// Package spans provides a table for kernels that repeat bytes.
package spans

// Span specifies how to repeat the first n bytes of 16 with PSHUFB. It takes 32 bytes.
type Span struct {
	Mask [16]byte // to repeat them over 16 bytes
	Step uint64   // number of the 16 bytes that are complete repetitions
	_    [8]byte
}

// Table returns the spans by n, from 1 to 16. It never changes.
func Table() *[17]Span { return table }

var table = makeTable()

func makeTable() *[17]Span {
	var s [17]Span
	for n := 1; n < len(s); n++ {
		for i := range s[n].Mask {
			s[n].Mask[i] = byte(i % n)
		}
		s[n].Step = uint64(16 / n * n)
	}
	return &s
}
