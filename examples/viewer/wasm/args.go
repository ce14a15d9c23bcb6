//go:build js && wasm

package main

import (
	"math"
	"syscall/js"
)

// arguments are those of a call, an object of the page. The methods of js.Value panic for a value of another type,
// which would end the program. Here such a value counts as missing.
type arguments struct{ object js.Value }

// get returns a value, or undefined.
func (a arguments) get(name string) js.Value {
	if t := a.object.Type(); t != js.TypeObject && t != js.TypeFunction {
		return js.Undefined()
	}
	return a.object.Get(name)
}

// text returns a string, or "".
func (a arguments) text(name string) string {
	if v := a.get(name); v.Type() == js.TypeString {
		return v.String()
	}
	return ""
}

// flag reports whether a value is true.
func (a arguments) flag(name string) bool { return a.get(name).Truthy() }

// float returns a number, or NaN.
func (a arguments) float(name string) float64 { return float(a.get(name)) }

func float(v js.Value) float64 {
	if v.Type() != js.TypeNumber {
		return math.NaN()
	}
	return v.Float()
}

// integer returns a number without its fraction, or -1.
func (a arguments) integer(name string) int64 { return integer(a.get(name)) }

func integer(v js.Value) int64 {
	const exact = 1 << 53
	f := float(v)
	if math.IsNaN(f) {
		return -1
	}
	return int64(max(-exact, min(exact, f)))
}

// integers returns the numbers of an Array, of which there may be as many as an array has axes. Otherwise it is nil.
func (a arguments) integers(name string) []int64 {
	const most = 255
	v := a.get(name)
	if !js.Global().Get("Array").Call("isArray", v).Bool() || v.Length() > most {
		return nil
	}
	list := make([]int64, v.Length())
	for i := range list {
		list[i] = integer(v.Index(i))
	}
	return list
}

// pair returns two numbers, or nil for another value.
func (a arguments) pair(name string) *[2]float64 {
	v := a.get(name)
	if v.Type() != js.TypeObject {
		return nil
	}
	return &[2]float64{float(v.Index(0)), float(v.Index(1))}
}
