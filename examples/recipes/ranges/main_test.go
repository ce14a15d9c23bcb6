package main

func Example() {
	main()
	// Output:
	// open: 2 requests, at most 1% of the file
	// row: 10 requests, at most 5% of the file
	// item: 2 requests, at most 1% of the file
	// its neighbor: 1 requests, at most 1% of the file
	// 500.001 250.483 250.970
}
