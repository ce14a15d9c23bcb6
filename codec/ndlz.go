package codec

import (
	"fmt"

	"github.com/goblosc/blosc2/codec/internal/ndlz"
	"github.com/goblosc/blosc2/internal/errs"
)

// newNDLZEncoder returns an encoder for NDLZ. It takes two-dimensional blocks with items of one byte, or blocks that
// are split into byte planes. Params.Meta is the edge of its cells, 4 or 8. Streams are those of C-Blosc2 and record
// their shape.
//
// The format also allows NDLZ for arrays of other dimensions. C-Blosc2 fails to compress their blocks. This encoder
// stores them, which every reader understands.
func newNDLZEncoder(p Params) (Encoder, error) {
	if n := len(p.BlockShape); p.BlockShape != nil && n != 2 {
		return storingEncoder{}, nil
	}
	if _, err := blockItems(NDLZ, p, 2, 2, 1); err != nil {
		return nil, err
	}
	return &ndlzEncoder{edge: int(p.Meta), rows: int(p.BlockShape[0]), cols: int(p.BlockShape[1])}, nil
}

func newNDLZDecoder(p Params) (Decoder, error) {
	if !isCell(p.Meta) {
		return nil, fmt.Errorf("codec: ndlz: cells of edge %d, want 4 or 8: %w", p.Meta, errs.ErrUnsupported)
	}
	return ndlzDecoder{edge: int(p.Meta)}, nil
}

// isCell reports whether NDLZ has cells with this edge.
func isCell(edge uint8) bool { return edge == 4 || edge == 8 }

type ndlzEncoder struct {
	edge, rows, cols int
	lz               ndlz.Encoder
}

func (e *ndlzEncoder) Encode(dst, src []byte) (int, error) {
	if len(src) != e.rows*e.cols {
		return 0, fmt.Errorf("codec: ndlz: stream of %d bytes, want %d times %d: %w", len(src), e.rows, e.cols, errs.ErrUnsupported)
	}
	return encoded(e.lz.Encode(dst, src, e.edge, e.rows, e.cols), src)
}

// storingEncoder compresses nothing, so that all blocks are stored.
type storingEncoder struct{}

func (storingEncoder) Encode(dst, src []byte) (int, error) { return 0, ErrIncompressible }

type ndlzDecoder struct {
	edge int
}

func (d ndlzDecoder) Decode(dst, src []byte) error {
	if err := ndlz.Decode(dst, src, d.edge); err != nil {
		return fmt.Errorf("codec: ndlz: %w: %w", ErrCorrupt, err)
	}
	return nil
}
