package ndarray

import "github.com/goblosc/blosc2/frame"

// cursor walks once over the chunks that a plan touches: a plan, whose parts are chunkParts, or a listPlan.
type cursor[P any] struct {
	at      P // the last chunk handed out
	started bool
}

// step moves to the next chunk, at first to the first one, and returns whether there is one.
func (c *cursor[P]) step(p interface {
	first(*P) bool
	next(*P) bool
}) bool {
	if c.started {
		return p.next(&c.at)
	}
	c.started = true
	return p.first(&c.at)
}

// stateOf returns what is kept with a chunk while it is decoded or encoded.
func stateOf[T any](v *frame.Visit) *T {
	s, ok := v.State.(*T)
	if !ok {
		s = new(T)
		v.State = s
	}
	return s
}
