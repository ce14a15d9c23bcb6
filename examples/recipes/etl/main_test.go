package main

func Example() {
	main()
	// Output:
	// [200000 8] <i2 lz4 level 1: 50% of 3200000 bytes
	// [200000 8] <f4 lz4 level 1: 31% of 6400000 bytes
	// [200000 8] <f4 zstd level 9: 13% of 6400000 bytes
	// last item -1.328 V, faults: <nil>
}
