// Package interop holds the tests that compare this library with C-Blosc2. It is a module of its own because it
// links the C library; package ref is the bridge.
//
// Run them where C-Blosc2 3.3 with its headers, a C compiler and pkg-config are installed:
//
//	go test ./...
package interop
