//go:build !(amd64 && !purego)

package inflate

// fast decodes symbols as long as there is enough input and output.
func (r *run) fast(t *tables) (stop int) { return r.fastGeneric(t) }
