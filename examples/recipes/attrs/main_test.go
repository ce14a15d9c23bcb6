package main

func Example() {
	main()
	// Output:
	// [title version axes latitude]
	// Sea level 2 [latitude longitude] [60 20 -20 -60]
	// no author: true
}
