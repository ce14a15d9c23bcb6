package b2beam

import (
	"encoding/binary"
	"fmt"
	"reflect"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/graph/coder"
)

func init() {
	beam.RegisterCoder(reflect.TypeFor[Key](), encodeKey, decodeKey)
	coder.RegisterDeterministicCoder(reflect.TypeFor[Key](), encodeKey, decodeKey)
	beam.RegisterCoder(reflect.TypeFor[Tile](), encodeTile, decodeTile)
	beam.RegisterCoder(reflect.TypeFor[part](), encodePart, decodePart)
}

// part is what a stage sends to the next one: a tile, or the items that it gives to a result.
type part struct {
	Start []int64 // coordinates of the first item in the array
	Items int64   // number of items that a partial reduction has seen
	Cover uint64  // weight of these items along the axes that are reduced
	Step  []int64 // shape of the tile at Start, for a partial reduction
	DType string  // dtype of the items before a reduction
	Tile  Tile
}

// The coders write lengths and integers as varints. A key has one encoding, as a grouping by key needs it.

func encodeKey(k Key) []byte { return appendInts(appendText(nil, k.Array), k.Start) }

func decodeKey(b []byte) (Key, error) {
	d := decoder{rest: b}
	k := Key{Array: string(d.bytes()), Start: d.ints()}
	return k, d.end("key")
}

func encodeTile(t Tile) []byte { return appendTile(make([]byte, 0, len(t.Data)+128), t) }

func decodeTile(b []byte) (Tile, error) {
	d := decoder{rest: b}
	t := d.tile()
	return t, d.end("tile")
}

func encodePart(p part) []byte {
	b := make([]byte, 0, len(p.Tile.Data)+128)
	b = appendInts(b, p.Start)
	b = binary.AppendUvarint(b, uint64(p.Items))
	b = binary.AppendUvarint(b, p.Cover)
	b = appendInts(b, p.Step)
	b = appendText(b, p.DType)
	return appendTile(b, p.Tile)
}

func decodePart(b []byte) (part, error) {
	d := decoder{rest: b}
	p := part{Start: d.ints(), Items: int64(d.uint()), Cover: d.uint(), Step: d.ints(), DType: string(d.bytes()), Tile: d.tile()}
	return p, d.end("part")
}

func appendTile(b []byte, t Tile) []byte {
	b = appendInts(b, t.Of)
	b = appendInts(b, t.Shape)
	b = appendText(b, t.DType)
	b = binary.AppendUvarint(b, uint64(len(t.Data)))
	return append(b, t.Data...)
}

func appendInts(b []byte, list []int64) []byte {
	b = binary.AppendUvarint(b, uint64(len(list)))
	for _, n := range list {
		b = binary.AppendUvarint(b, uint64(n))
	}
	return b
}

func appendText(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

// decoder reads what the encoders have written. After bad input it returns zero values.
type decoder struct {
	rest []byte
	bad  bool
}

func (d *decoder) uint() uint64 {
	v, n := binary.Uvarint(d.rest)
	if n <= 0 {
		d.bad, d.rest = true, nil
		return 0
	}
	d.rest = d.rest[n:]
	return v
}

// bytes returns a part of the input, which belongs to the element that is decoded.
func (d *decoder) bytes() []byte {
	n := d.uint()
	if n > uint64(len(d.rest)) {
		d.bad, d.rest = true, nil
		return nil
	}
	b := d.rest[:n:n]
	d.rest = d.rest[n:]
	return b
}

func (d *decoder) ints() []int64 {
	n := d.uint()
	if n > uint64(len(d.rest)) { // each takes a byte
		d.bad, d.rest = true, nil
		return nil
	}
	list := make([]int64, n)
	for i := range list {
		list[i] = int64(d.uint())
	}
	return list
}

func (d *decoder) tile() Tile {
	return Tile{Of: d.ints(), Shape: d.ints(), DType: string(d.bytes()), Data: d.bytes()}
}

// end returns an error if the input was not what was decoded.
func (d *decoder) end(what string) error {
	if d.bad || len(d.rest) > 0 {
		return fmt.Errorf("b2beam: invalid encoding of a %s", what)
	}
	return nil
}
