// Package crc32c computes CRC-32C, the cyclic redundancy check with the polynomial of Castagnoli, as hash/crc32 does.
// Where the CPU can multiply polynomials in registers of 64 bytes, it is several times as fast.
package crc32c

import "hash/crc32"

// table is that of hash/crc32. It never changes.
var table = crc32.MakeTable(crc32.Castagnoli)

// Checksum returns the CRC-32C of p.
func Checksum(p []byte) uint32 { return Update(0, p) }

// Update returns the CRC-32C of some bytes, whose CRC-32C is crc, followed by p. That of no bytes is 0. Any number of
// goroutines may call it.
func Update(crc uint32, p []byte) uint32 {
	crc, p = updateVector(crc, p)
	return updateGeneric(crc, p)
}

// updateGeneric is Update by the standard library.
func updateGeneric(crc uint32, p []byte) uint32 { return crc32.Update(crc, table, p) }
