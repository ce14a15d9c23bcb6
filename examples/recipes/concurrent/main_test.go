package main

func Example() {
	main()
	// Output:
	// 8 goroutines read whole commits only
	// sum 640000
}
