// Package view shows an array or a store on a terminal: a grid of values, a heat map, metadata, a map of the chunks,
// and the list of a store.
//
// The state is a model, a value that each key changes into another. What is on the screen is a function of the model.
// Only the part of the array that is on the screen is read, by commands on other goroutines that end when the user
// moves on.
package view

import (
	"context"
	"image/color"

	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/meta"
	"github.com/goblosc/blosc2/ndarray"
)

// A Document is what a path refers to: an array, a frame without one, or a store.
type Document struct {
	Path    string
	Array   ndarray.Reader // nil if there is none
	Info    [][2]string    // names with values, as the verb info prints them
	Entries []Entry        // of a store; nil for anything else
	Grid    []int64        // number of chunks along each axis; nil if there are none to show
	Chunks  []int64        // chunk shape in items
	Chunk   func(ctx context.Context, n int) (frame.ChunkInfo, error)
	Close   func()
}

// An Entry is a line of the list of a store.
type Entry struct {
	Key, Text string
	Path      string // what enter opens, or ""
}

// A Palette maps a number from 0 to 1 to a color.
type Palette struct {
	Name  string
	Color func(x float64) color.NRGBA
}

// Tools are functions of the command that this package uses. They are safe for concurrent use.
type Tools struct {
	Open     func(ctx context.Context, path string) (*Document, error)
	Aligned  func(d meta.DType, items []byte) []string // items as texts of equal width
	Item     func(d meta.DType, item []byte) string    // an item without rounding
	Number   func(d meta.DType, item []byte) float64   // an item of a dtype for which IsReal returns true
	IsReal   func(d meta.DType) bool
	Palettes []Palette
	Color    bool // colors are allowed
}
