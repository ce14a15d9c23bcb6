//go:build !(amd64 && !purego)

package blosclz

// run does nothing: there is no kernel.
func (d *decoder) run() {}
