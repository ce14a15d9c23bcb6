package main

import (
	"bytes"
	"fmt"
	"iter"

	"github.com/goblosc/blosc2/frame/store/objects"
)

// printObjects prints the items or batches of an open frame, one per line.
func printObjects(e *env, s *source) error {
	if s.frame == nil {
		return fmt.Errorf("%s: a single chunk, not an array of objects", s.path)
	}
	o, err := objects.New(e.ctx, s.frame)
	if err != nil {
		return kindError(e, s, "an array of objects", fmt.Errorf("%s: %w", s.path, err))
	}
	if o.Kind() != objects.Batches {
		return printItems(e, o.Items(e.ctx, 0, o.Len()), "", "\n", "\n")
	}
	for i := range o.Batches() {
		start, stop, err := o.BatchRange(i)
		if err != nil {
			return err
		}
		if err := printItems(e, o.Items(e.ctx, start, stop), "[", ", ", "]\n"); err != nil {
			return err
		}
	}
	return nil
}

// printItems prints items with a separator between them.
func printItems(e *env, items iter.Seq2[any, error], before, between, after string) error {
	var buf bytes.Buffer
	buf.WriteString(before)
	n := 0
	for v, err := range items {
		if err != nil {
			return err
		}
		if n++; n > 1 {
			buf.WriteString(between)
		}
		if err := writeNotation(&buf, v); err != nil {
			return err
		}
		if _, err := buf.WriteTo(e.out); err != nil {
			return err
		}
	}
	if n > 0 || before != "" {
		buf.WriteString(after)
	}
	_, err := buf.WriteTo(e.out)
	return err
}
