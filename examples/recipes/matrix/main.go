// Command matrix passes items to libraries for matrices and tables without a copy. It does not import these libraries,
// but shows the slices and buffers that their constructors take.
//
//	gonum: mat.NewDense(rows, columns, data)   takes the []float64 of Read, in the same order
//	Arrow: memory.NewBufferBytes(buffer)       takes the bytes of ReadBytes as the values of an array
package main

import (
	"context"
	"encoding/binary"
	"fmt"
	"log"
	"math"

	"github.com/goblosc/blosc2/ndarray"
)

// dense is a matrix in C order, like the one of gonum.
type dense struct {
	rows, columns int
	data          []float64
}

// product returns m times its transpose.
func (m dense) product() dense {
	p := dense{m.rows, m.rows, make([]float64, m.rows*m.rows)}
	for i := range m.rows {
		for j := range m.rows {
			for k := range m.columns {
				p.data[i*m.rows+j] += m.data[i*m.columns+k] * m.data[j*m.columns+k]
			}
		}
	}
	return p
}

// sample is an item of a table.
type sample struct {
	ID    int64   `b2:"id"`
	Value float64 `b2:"value"`
}

// gonum reads a matrix of float32 items as float64, and stores a product.
func gonum(ctx context.Context) error {
	a, err := ndarray.Create(ctx, "", []int64{2, 3}, []float32{1, 2, 3, 4, 5, 6}, nil)
	if err != nil {
		return err
	}
	data, err := ndarray.Read[float64](ctx, a)
	if err != nil {
		return err
	}
	m := dense{2, 3, data}                                        // mat.NewDense(2, 3, data)
	p := m.product()                                              // p.Mul(m, m.T())
	b, err := ndarray.Create(ctx, "", []int64{2, 2}, p.data, nil) // p.RawMatrix().Data
	if err != nil {
		return err
	}
	fmt.Println("product:", p.data, "stored as", b.Shape(), b.DType())
	return nil
}

// arrow reads a column of a table into the buffer of an Arrow array: little-endian items without gaps.
func arrow(ctx context.Context) error {
	a, err := ndarray.Create(ctx, "", []int64{3}, []sample{{1, 0.5}, {2, 1.5}, {3, -2}}, nil)
	if err != nil {
		return err
	}
	column, err := ndarray.Field(a, "value")
	if err != nil {
		return err
	}
	buffer := make([]byte, column.Size()*int64(column.DType().Size)) // or allocator.Allocate(n), aligned to 64 bytes
	if err := column.ReadBytes(ctx, buffer); err != nil {
		return err
	}
	// array.NewData(arrow.PrimitiveTypes.Float64, 3, []*memory.Buffer{nil, memory.NewBufferBytes(buffer)}, nil, 0, 0)
	last := math.Float64frombits(binary.LittleEndian.Uint64(buffer[16:]))
	fmt.Println("column:", len(buffer), "bytes, last value", last)
	return nil
}

func main() {
	ctx := context.Background()
	if err := gonum(ctx); err != nil {
		log.Print(err)
	}
	if err := arrow(ctx); err != nil {
		log.Print(err)
	}
}
