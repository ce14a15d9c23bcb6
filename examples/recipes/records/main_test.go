package main

func Example() {
	main()
	// Output:
	// [('station', 'S8'), ('time', '<M8[s]'), ('celsius', '<f4')]
	// st-2 1.0, without a date: false
	// st-3 1.5, without a date: true
	// 24 readings on the leap day, the last one st-3 11.5
	// mean 5.72
}
