// Command viewer builds the browser viewer for Blosc2 arrays: a static page that any web server can serve. From the top
// of the repository:
//
//	go -C examples/viewer run . -o DIR
package main

import (
	"flag"
	"fmt"
	"os"
)

func main() {
	dir := flag.String("o", "", "folder for the viewer; it is created if it is missing")
	flag.Parse()
	if *dir == "" || flag.NArg() > 0 {
		fmt.Fprintln(os.Stderr, "usage: viewer -o DIR")
		os.Exit(2)
	}
	sizes, err := build(*dir)
	if err != nil {
		fmt.Fprintln(os.Stderr, "viewer:", err)
		os.Exit(1)
	}
	total := 0
	for _, s := range sizes {
		fmt.Printf("%9d bytes gzipped  %s\n", s.gzipped, s.name)
		total += s.gzipped
	}
	fmt.Printf("%9d bytes gzipped  in all, %.2f MB\n", total, float64(total)/1e6)
}
