package main

import (
	"log"
	"os"
)

func Example() {
	dir, err := os.MkdirTemp("", "first")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	if err := os.Chdir(dir); err != nil {
		log.Fatal(err)
	}
	main()
	// Output:
	// [1000 1000] <f8, chunks [504 1000], blocks [8 1000], lz4hc level 9, shuffle, 8000000 bytes in 3972320, ratio 2.0
	// [999.5 999.6 999.8 999.9]
}
