//go:build js && wasm

// Command wasm is the worker of the viewer. It sets a global function viewerStart, which returns the functions that the
// script worker.js calls.
package main

import (
	"context"
	"errors"
	"fmt"
	"syscall/js"

	"github.com/goblosc/blosc2/examples/viewer/internal/object"
	"github.com/goblosc/blosc2/examples/viewer/internal/session"
	"github.com/goblosc/blosc2/frame"
)

// worker answers the calls of the page.
type worker struct {
	session session.Session
	source  *object.Object // of the open document
	running map[int]context.CancelFunc
}

// counter is a source that counts its requests.
type counter interface {
	counts() (requests, bytes int64)
}

// method answers a call. notify sends a part of the answer before the end.
type method func(w *worker, ctx context.Context, args arguments, notify func(any)) (map[string]any, error)

var methods = map[string]method{
	"open": (*worker).open, "walk": (*worker).walk, "select": (*worker).selectKey, "rows": (*worker).rows, "picture": (*worker).picture, "prefetch": (*worker).prefetch,
	"line": (*worker).line, "value": (*worker).value, "table": (*worker).table, "chunks": (*worker).chunks, "stats": (*worker).stats,
}

func main() {
	w := &worker{running: map[int]context.CancelFunc{}}
	js.Global().Set("viewerCall", js.FuncOf(w.call))
	js.Global().Set("viewerCancel", js.FuncOf(w.cancel))
	js.Global().Call("viewerReady")
	select {}
}

// call starts a call: its number, its name, its arguments, and a function for its answers: (error, result, last).
func (w *worker) call(_ js.Value, args []js.Value) any {
	if len(args) != 4 || args[0].Type() != js.TypeNumber || args[3].Type() != js.TypeFunction {
		return nil // no call that could be answered
	}
	id, name, arg, answer := args[0].Int(), args[1].String(), arguments{args[2]}, args[3]
	ctx, cancel := context.WithCancel(context.Background())
	w.running[id] = cancel
	go func() {
		defer func() {
			delete(w.running, id)
			cancel()
		}()
		m := methods[name]
		if m == nil {
			answer.Invoke("no method "+name, nil, true)
			return
		}
		result, err := m(w, ctx, arg, func(v any) { answer.Invoke(nil, v, false) })
		switch {
		case err == nil:
			answer.Invoke(nil, result, true)
		case ctx.Err() != nil || errors.Is(err, context.Canceled): // by this call or by one that took its place
			answer.Invoke("canceled", nil, true)
		default:
			answer.Invoke(message(err), nil, true)
		}
	}()
	return nil
}

// cancel ends a call early.
func (w *worker) cancel(_ js.Value, args []js.Value) any {
	if len(args) > 0 && args[0].Type() == js.TypeNumber {
		if cancel := w.running[args[0].Int()]; cancel != nil {
			cancel()
		}
	}
	return nil
}

// message returns an error for the user.
func message(err error) string {
	if errors.Is(err, frame.ErrChanged) {
		return fmt.Sprintf("The object has changed since it was opened. Open it again. (%v)", err)
	}
	return err.Error()
}

// await waits for a promise. If ctx ends first, the promise is left alone.
func await(ctx context.Context, promise js.Value) (js.Value, error) {
	type result struct {
		v   js.Value
		err error
	}
	done := make(chan result, 1)
	var ok, bad js.Func
	release := func() { ok.Release(); bad.Release() }
	ok = js.FuncOf(func(_ js.Value, args []js.Value) any {
		done <- result{v: args[0]}
		release()
		return nil
	})
	bad = js.FuncOf(func(_ js.Value, args []js.Value) any {
		done <- result{err: js.Error{Value: args[0]}}
		release()
		return nil
	})
	promise.Call("then", ok, bad)
	select {
	case r := <-done:
		return r.v, r.err
	case <-ctx.Done():
		return js.Undefined(), ctx.Err()
	}
}

// bytesToJS copies bytes to a new Uint8Array.
func bytesToJS(b []byte) js.Value {
	a := js.Global().Get("Uint8Array").New(len(b))
	js.CopyBytesToJS(a, b)
	return a
}

// bytesToGo copies an ArrayBuffer.
func bytesToGo(buffer js.Value) []byte {
	a := js.Global().Get("Uint8Array").New(buffer)
	b := make([]byte, a.Length())
	js.CopyBytesToGo(b, a)
	return b
}
