//go:build !wasip1 && !js

// These systems have no file locks.

package main

func Example() {
	main()
	// Output:
	// recorded and followed 20 images, sum 190000
}
