package interop

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/goblosc/blosc2/ci/interop/ref"
	"github.com/goblosc/blosc2/ndarray"
)

const changesPerArray = 100

// TestArrayChanges changes arrays in every way that this library offers, in single edits and in batches, and sometimes
// with the reference. Each state must match a model. After every tenth change, the test reopens the array, and both
// libraries must read the same items.
func TestArrayChanges(t *testing.T) {
	n := 24
	if testing.Short() {
		n = 6
	}
	sum := &tally{}
	inParallel(t, make([]int, n), func(t *testing.T, rng *rand.Rand, dir string, _ int) error {
		m, err := newArrayModel(rng, dir, sum)
		if err != nil {
			return err
		}
		var a *ndarray.Array
		defer func() {
			if a != nil {
				a.Close()
			}
		}()
		for i := range changesPerArray {
			if i%10 == 0 {
				if a, err = m.reopenBoth(rng, a); err != nil {
					return fmt.Errorf("change %d, %s, %v: %w", i, m.op, &m.arrayCase, err)
				}
			}
			before := m.shape
			if err = m.changes(rng, a); err == nil {
				err = m.sameAs(a)
			}
			if err != nil {
				return fmt.Errorf("change %d, %s of %v, %v: %w", i, m.op, before, &m.arrayCase, err)
			}
		}
		a, err = m.reopenBoth(rng, a)
		return err
	})
	sum.log(t)
}

// reopenBoth closes the array, lets the reference insert or delete if it can, opens the array again, and compares what
// both libraries read with the model.
func (m *arrayModel) reopenBoth(rng *rand.Rand, a *ndarray.Array) (*ndarray.Array, error) {
	if a != nil {
		if err := a.Close(); err != nil {
			return nil, err
		}
	}
	if err := m.theirChange(rng); err != nil {
		return nil, err
	}
	if err := m.repair(); err != nil {
		return nil, err
	}
	r, err := ref.OpenArray(m.file)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	info, err := r.Info()
	if err != nil {
		return nil, err
	}
	if !slices.Equal(info.Geometry.Shape, m.shape) {
		return nil, fmt.Errorf("the reference has shape %v, want %v", info.Geometry.Shape, m.shape)
	}
	a, err = ndarray.Edit(ctx, m.file, &ndarray.OpenOptions{NoSync: true, Concurrency: 1 + rng.IntN(3)})
	if err != nil {
		return nil, err
	}
	if err := m.sameItems(rng, a, r, m.items); err != nil {
		a.Close()
		return nil, err
	}
	return a, nil
}

// theirChange lets the reference insert or delete whole chunks before the end of an axis.
func (m *arrayModel) theirChange(rng *rand.Rand) error {
	axis := rng.IntN(len(m.shape))
	ck := int64(m.chunks[axis])
	at, rows := int64(0), m.shape[axis]/max(ck, 1)
	if count(m.shape) == 0 || rows == 0 || count(m.shape)*m.ours.TypeSize > 30_000 || m.store == "directory" {
		return nil
	}
	at = ck * rng.Int64N(rows)
	r, err := ref.OpenArray(m.file)
	if err != nil {
		return err
	}
	defer r.Close()
	if rng.IntN(2) == 0 && at+ck < m.shape[axis] {
		m.note("delete", false)
		m.splice(axis, at, ck, 0, nil)
		return r.Delete(axis, at, ck)
	}
	m.note("insert", false)
	items := content(rng, pick(rng, kinds), int(ck)*m.steps(axis)*m.ours.TypeSize, m.ours.TypeSize)
	m.splice(axis, at, 0, ck, items)
	return r.Insert(items, axis, at)
}

// steps returns the number of items in one step along an axis.
func (m *arrayModel) steps(axis int) int {
	shape := slices.Clone(m.shape)
	shape[axis] = 1
	return count(shape)
}

// splice replaces the positions from at up to at+out along an axis by in positions with items, or zeros if items is
// nil.
func (m *arrayModel) splice(axis int, at, out, in int64, items []byte) {
	size, old := m.ours.TypeSize, m.shape
	shape := slices.Clone(old)
	shape[axis] += in - out
	next := make([]byte, count(shape)*size)
	move := func(from box, to int64) {
		kept := from.of(m.items, old, size)
		n := from.stop[axis] - from.first[axis]
		from.first[axis], from.stop[axis] = to, to+n
		from.put(next, kept, shape, size)
	}
	if head := all(old); at > 0 {
		head.stop[axis] = at
		move(head, 0)
	}
	if tail := all(old); at+out < old[axis] {
		tail.first[axis] = at + out
		move(tail, at+in)
	}
	if b := all(shape); in > 0 && items != nil {
		b.first[axis], b.stop[axis] = at, at+in
		b.put(next, items, shape, size)
	}
	m.shape, m.items = shape, next
}

// changes makes one change, or several in a batch that it commits or rolls back.
func (m *arrayModel) changes(rng *rand.Rand, a *ndarray.Array) error {
	if rng.IntN(4) > 0 {
		return m.change(rng, a)
	}
	b, err := a.Begin(context.Background())
	if err != nil {
		return err
	}
	defer b.Rollback()
	shape, items := m.shape, bytes.Clone(m.items)
	for range 1 + rng.IntN(4) {
		if err := m.change(rng, b); err != nil {
			return err
		}
	}
	if rng.IntN(4) == 0 {
		m.shape, m.items = shape, items
		m.note("rollback", true)
		return nil
	}
	m.note("commit", true)
	return b.Commit()
}

// change makes one random change.
func (m *arrayModel) change(rng *rand.Rand, e ndarray.Editor) error {
	size := m.ours.TypeSize
	op := pick(rng, []string{"resize", "resize at", "append", "insert", "insert", "delete", "set", "fill"})
	axis := rng.IntN(len(m.shape))
	length, ck := m.shape[axis], int64(max(m.chunks[axis], 1))
	at, n := rng.Int64N(length+1), rng.Int64N(5)
	if rng.IntN(2) == 0 {
		at, n = at-at%ck, ck*rng.Int64N(3)
	}
	if grows := op == "append" || op == "insert"; grows && (count(m.shape) == 0 || (count(m.shape)+int(n)*m.steps(axis))*size > 60_000) {
		op = "resize at"
	}
	if m.note(op, true); op == "append" {
		at = length
	}
	switch op {
	case "append", "insert":
		items := content(rng, pick(rng, kinds), int(n)*m.steps(axis)*size, size)
		m.splice(axis, at, 0, n, items)
		if op == "append" {
			return e.AppendBytes(ctx, axis, items)
		}
		return e.InsertBytes(ctx, axis, at, items)
	case "delete":
		n = min(n, length-at)
		m.splice(axis, at, n, 0, nil)
		return e.Delete(ctx, axis, at, n)
	case "resize", "resize at":
		shape, start := slices.Clone(m.shape), make([]int64, len(m.shape))
		for i, old := range m.shape {
			if rng.IntN(2) == 0 {
				shape[i] = rng.Int64N(14)
			}
			for shape[i] > 1 && count(shape)*size > 40_000 {
				shape[i]--
			}
			if start[i] = min(old, shape[i]); op == "resize at" {
				start[i] = rng.Int64N(start[i] + 1)
			}
			m.splice(i, start[i], max(old-shape[i], 0), max(shape[i]-old, 0), nil)
		}
		if op == "resize" {
			return e.Resize(ctx, shape...)
		}
		return resizeAt(e, start, shape, size)
	}
	sel, places := m.selection(rng)
	item := noise(rng, size)
	items := bytes.Repeat(item, len(places))
	if op == "set" {
		items = content(rng, pick(rng, kinds), len(places)*size, size)
	}
	for i, p := range places {
		copy(m.items[p*size:][:size], items[i*size:])
	}
	if op == "fill" {
		return e.FillBytes(ctx, item, sel...)
	}
	return e.WriteBytes(ctx, items, sel...)
}

// selection returns a selection that takes a list of positions along each axis, and the numbers of its items.
func (m *arrayModel) selection(rng *rand.Rand) (sel []ndarray.Index, items []int) {
	items = []int{0}
	for _, n := range m.shape {
		var list []int64
		kind := rng.IntN(4)
		switch first, step := rng.Int64N(n+1), 1+rng.Int64N(3); kind {
		case 0:
			sel = append(sel, ndarray.Step(first, ndarray.None, step))
			for i := first; i < n; i += step {
				list = append(list, i)
			}
		case 1:
			sel = append(sel, ndarray.Step(ndarray.None, ndarray.None, -step))
			for i := n - 1; i >= 0; i -= step {
				list = append(list, i)
			}
		case 2:
			for i := int64(0); n > 0 && i < step*2; i++ {
				list = append(list, rng.Int64N(n))
			}
			sel = append(sel, ndarray.Pick(list...))
		default:
			for i := range n {
				if rng.IntN(2) == 0 {
					list = append(list, i)
				}
			}
			sel = append(sel, ndarray.Pick(list...))
		}
		var next []int
		for _, p := range items {
			for _, i := range list {
				next = append(next, p*int(n)+int(i))
			}
		}
		items = next
	}
	return sel, items
}

// sameAs reads the array directly and through a view, and compares with the model.
func (m *arrayModel) sameAs(a *ndarray.Array) error {
	if !slices.Equal(a.Shape(), m.shape) {
		return fmt.Errorf("shape %v, want %v", a.Shape(), m.shape)
	}
	got := make([]byte, len(m.items))
	if err := a.ReadBytes(ctx, got); err != nil {
		return err
	}
	if err := sameBytes(got, m.items); err != nil {
		return fmt.Errorf("this library reads: %w", err)
	}
	view, err := ndarray.Flip(a)
	if err != nil {
		return err
	}
	if err := view.ReadBytes(ctx, got); err != nil {
		return err
	}
	size := m.ours.TypeSize
	for i, n := 0, len(got)/size; i < n/2; i++ {
		x, y := got[i*size:][:size], got[(n-1-i)*size:][:size]
		for k := range x {
			x[k], y[k] = y[k], x[k]
		}
	}
	if err := sameBytes(got, m.items); err != nil {
		return fmt.Errorf("this library reads the flipped array: %w", err)
	}
	return nil
}

// resizeAt changes the shape at any position of each axis: it deletes items from start, or inserts zeros before it.
func resizeAt(e ndarray.Editor, start, shape []int64, size int) error {
	for i, n := range e.Shape() {
		if n > shape[i] {
			if err := e.Delete(ctx, i, start[i], n-shape[i]); err != nil {
				return err
			}
		}
	}
	for i, n := range e.Shape() {
		if n >= shape[i] {
			continue
		}
		next := e.Shape()
		next[i] = shape[i] - n
		items := count(next)
		next[i] = shape[i]
		var err error
		if items == 0 || start[i] == n {
			err = e.Resize(ctx, next...)
		} else {
			err = e.InsertBytes(ctx, i, start[i], make([]byte, items*size))
		}
		if err != nil {
			return err
		}
	}
	return nil
}
