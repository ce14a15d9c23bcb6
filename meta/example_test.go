package meta_test

import (
	"fmt"

	"github.com/goblosc/blosc2/meta"
)

// This example writes and reads a metalayer section with an array record and a value.
func Example() {
	array := &meta.Array{Shape: []int64{100, 50}, ChunkShape: []int32{50, 50}, BlockShape: []int32{10, 50}, DType: "<f4"}
	record, err := array.Append(nil)
	if err != nil {
		panic(err)
	}
	units, err := meta.Marshal(map[string]any{"units": "K", "range": meta.Tuple{180.0, 330.0}})
	if err != nil {
		panic(err)
	}
	fixed := make([]byte, 87) // the fixed part of a frame header
	header, err := meta.AppendHeader(fixed, []meta.Layer{{Name: "b2nd", Content: record}, {Name: "info", Content: units}})
	if err != nil {
		panic(err)
	}

	layers, err := meta.ParseHeader(header, len(fixed))
	if err != nil {
		panic(err)
	}
	array, err = meta.ParseArray(layers[0].Content, 4)
	if err != nil {
		panic(err)
	}
	var info struct {
		Units string     `msgpack:"units"`
		Range [2]float64 `msgpack:"range"`
	}
	if err := meta.Unmarshal(layers[1].Content, &info); err != nil {
		panic(err)
	}
	fmt.Println(layers[0].Name, array.Shape, array.DType)
	fmt.Println(layers[1].Name, info.Units, info.Range)
	// Output:
	// b2nd [100 50] <f4
	// info K [180 330]
}

func ExampleParseDType() {
	d, err := meta.ParseDType("[('time', '<M8[25s]'), ('pos', '>f8', (3,)), ('name', 'S5')]")
	if err != nil {
		panic(err)
	}
	for _, f := range d.Fields {
		fmt.Println(f.Offset, f.Name, f.Type, f.Type.Size)
	}
	fmt.Println(d.Size, "bytes")
	// Output:
	// 0 time <M8[25s] 8
	// 8 pos ('>f8', (3,)) 24
	// 32 name |S5 5
	// 37 bytes
}
