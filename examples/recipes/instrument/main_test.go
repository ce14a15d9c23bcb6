package main

func Example() {
	main()
	// Output:
	// recorded [20 64 64] and followed, sum 190000
}
