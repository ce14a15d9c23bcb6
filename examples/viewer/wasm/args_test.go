//go:build js && wasm

package main

import (
	"context"
	"math"
	"syscall/js"
	"testing"
	"time"
)

// TestOddArguments calls every method with values of all types, and with what is no call. Each call has an answer.
func TestOddArguments(t *testing.T) {
	global := js.Global()
	global.Set("location", map[string]any{"href": "http://127.0.0.1:1/", "origin": "http://127.0.0.1:1"})
	w := &worker{running: map[int]context.CancelFunc{}}
	value := func(code string) js.Value { return global.Call("eval", "("+code+")") }
	odd := []js.Value{
		js.Undefined(), js.Null(), js.ValueOf(true), js.ValueOf(7), js.ValueOf(math.NaN()), js.ValueOf(math.Inf(-1)), js.ValueOf(1e300),
		js.ValueOf("text"), js.ValueOf("http://["), value("{}"), value("[]"), value("[1, 'a', null]"), value("new Array(1e6)"),
		value("Symbol('s')"), value("function () {}"), value("{length: 1e9}"), value("new Blob(['items'])"),
	}
	names := []string{"file", "url", "key", "start", "stop", "first", "last", "at", "axis", "most", "budget", "row", "col", "top", "left", "bottom",
		"right", "rows", "cols", "height", "width", "map", "log", "percentile", "range", "nan"}
	id, want, answers := 0, 0, make(chan string, 1000)
	answer := js.FuncOf(func(_ js.Value, args []js.Value) any {
		if args[2].Bool() {
			answers <- args[0].String()
		}
		return nil
	})
	defer answer.Release()
	call := func(method string, args js.Value) {
		id++
		want++
		w.call(js.Undefined(), []js.Value{js.ValueOf(id), js.ValueOf(method), args, answer.Value})
	}
	for method := range methods {
		for i, v := range odd {
			call(method, v)
			all := value("{}")
			for k, name := range names {
				all.Set(name, odd[(i+k)%len(odd)])
			}
			if method == "open" { // only what opens nothing on a server
				all.Set("url", "http://[")
			}
			call(method, all)
		}
	}
	call("none", js.Null())
	for _, v := range odd { // no calls
		w.call(js.Undefined(), []js.Value{v})
		w.call(js.Undefined(), []js.Value{v, v, v, v})
		w.cancel(js.Undefined(), []js.Value{v})
	}
	w.call(js.Undefined(), nil)
	w.cancel(js.Undefined(), nil)
	for range want {
		select {
		case <-answers:
		case <-time.After(20 * time.Second):
			t.Fatal("a call has no answer")
		}
	}
}
