//go:build !(amd64 && !purego)

package lz4hc

// scan does what scanGeneric does.
func (t *midTables) scan(b *block) (found, at int, best bool) { return t.scanGeneric(b) }
