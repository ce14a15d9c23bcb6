//go:build !linux

package main

import "errors"

// errLinux says why nothing is measured.
var errLinux = errors.New("needs Linux")

func resetPeak() error        { return errLinux }
func peak() (int64, error)    { return 0, errLinux }
func ioBytes() (usage, error) { return usage{}, errLinux }
func dropCache(string) error  { return errLinux }
