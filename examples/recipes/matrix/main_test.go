package main

func Example() {
	main()
	// Output:
	// product: [14 32 32 77] stored as [2 2] <f8
	// column: 24 bytes, last value -2
}
