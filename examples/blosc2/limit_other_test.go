//go:build !linux || race

package main

const canLimit = false

func limitMemory(uint64) error { return nil }
