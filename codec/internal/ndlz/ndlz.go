// Package ndlz encodes and decodes two-dimensional blocks of bytes in the NDLZ format of C-Blosc2. It searches for
// equal rows of square cells, of edge 4 or 8, which are close to each other in the plane but not in memory.
//
//	2, rows (4 bytes, little-endian), columns (4 bytes), cell, cell, ...
//	cell    token, data that depends on the token
//
// Cells are stored row by row. An offset, of 2 bytes, is the distance from the token back to rows to copy. These are
// among the rows of a cell that is stored literally.
//
//	token     edge
//	0x00      4, 8   the rows of the cell; cells at the border of the block have no other token
//	0x40      4, 8   one byte that all items equal
//	0xC0      4, 8   offset of a whole cell
//	0xE0..    4      offset of three rows, the fourth one
//	0x80..    4      offset of two rows, the other two
//	0x28..    4      offset of two rows, offset of the other two
//	0xA8..    8      offset of three rows, the other five
//	0x88..    8      offset of two rows, the other six
//
// Rows that are copied or stored at once are in ascending order. The low bits of a token specify their numbers.
package ndlz

const headerSize = 9

// Tokens for cells of both edges.
const (
	tokenLiteral = 0x00
	tokenSame    = 0x40
	tokenCell    = 0xc0
)

// Tokens for cells of edge 8; the number of the first row to copy is added.
const (
	tokenPair8   = 0x88
	tokenTriple8 = 0xa8
)

// plan specifies how the rows of a cell of edge 4 are encoded. The first n rows in order are copied from one position.
// The others are stored or, if n2 is not 0, copied from another position.
type plan struct {
	order [4]uint8
	n, n2 uint8
}

// plans holds the tokens for rows of cells of edge 4, by token/8.
var plans = [32]plan{
	0x28 >> 3: {[4]uint8{0, 1, 2, 3}, 2, 2},
	0x30 >> 3: {[4]uint8{0, 2, 1, 3}, 2, 2},
	0x38 >> 3: {[4]uint8{0, 3, 1, 2}, 2, 2},
	0x80 >> 3: {[4]uint8{2, 3, 0, 1}, 2, 0},
	0x88 >> 3: {[4]uint8{0, 1, 2, 3}, 2, 0},
	0x90 >> 3: {[4]uint8{0, 2, 1, 3}, 2, 0},
	0x98 >> 3: {[4]uint8{0, 3, 1, 2}, 2, 0},
	0xb0 >> 3: {[4]uint8{1, 2, 0, 3}, 2, 0},
	0xb8 >> 3: {[4]uint8{1, 3, 0, 2}, 2, 0},
	0xe0 >> 3: {[4]uint8{1, 2, 3, 0}, 3, 0},
	0xe8 >> 3: {[4]uint8{0, 1, 2, 3}, 3, 0},
	0xf0 >> 3: {[4]uint8{0, 1, 3, 2}, 3, 0},
	0xf8 >> 3: {[4]uint8{0, 2, 3, 1}, 3, 0},
}
