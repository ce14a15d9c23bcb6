package main

func Example() {
	main()
	// Output:
	// slice: 200 [10 11 12 13]
	// bad selection: 400
	// outside: 400
	// not an array: 422
	// a tebi-item array: 413
	// large items: 413
	// a large upload: 413
}
