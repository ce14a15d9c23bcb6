//go:build (amd64 || arm64) && !purego

package lz4

import (
	"github.com/goblosc/blosc2/internal/cpu"
	"github.com/goblosc/blosc2/internal/race"
)

// Reasons why a kernel stops.
const (
	stopDone = iota // all sequences are written
	stopRest        // the current sequence is too near the end of the input or of the output
	stopRoom        // there is not enough space
)

func encodeSmall(b *block, table *[1 << smallBits]uint16) bool {
	if !cpu.Has(cpu.Baseline) || len(b.src) < minKernel || len(b.dst) < minKernel {
		return encodeGeneric(b, table, smallFactor, smallShift)
	}
	race.Read(b.src)
	race.Write(b.dst)
	switch smallAsm(b, table) {
	case stopDone:
		return true
	case stopRoom:
		return false
	}
	b.found = true
	return encodeGeneric(b, table, smallFactor, smallShift)
}

func encodeLarge(b *block, table *[1 << smallBits]uint32) bool {
	if !cpu.Has(cpu.Baseline) || len(b.dst) < minKernel {
		return encodeGeneric(b, table, largeFactor, largeShift)
	}
	race.Read(b.src)
	race.Write(b.dst)
	switch largeAsm(b, table) {
	case stopDone:
		return true
	case stopRoom:
		return false
	}
	b.found = true
	return encodeGeneric(b, table, largeFactor, largeShift)
}

// smallAsm does encodeGeneric from the start of a block, and returns the reason why it stops. It compares 16 bytes at a
// time and copies up to 32, so it stays away from the ends of the input and of the output, which Go processes. It needs
// only cpu.Baseline.
//
//go:noescape
func smallAsm(b *block, table *[1 << smallBits]uint16) (result int)

// largeAsm is smallAsm for inputs of smallLength and more.
//
//go:noescape
func largeAsm(b *block, table *[1 << smallBits]uint32) (result int)
