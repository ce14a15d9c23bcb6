package main

func Example() {
	main()
	// Output:
	// [365 37 72] <f4 degC
	// day 200, 90° N to 90° S at 50° E: -2.0 ... -32.0
	// 45° N, every 73rd day: [-4.6 -0.6 11.8 15.5 5.4]
	// means of the year at 90°, 45°, 0°, -45°, -90°: [-17.0 5.5 28.0 5.5 -17.0]
	// highest: 29.2
}
