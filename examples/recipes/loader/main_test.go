package main

func Example() {
	main()
	// Output:
	// epoch 0 has 16 batches, first pixels of the labels [0 20 40 60 80 100 120 140 160 180]
	// epoch 1 has 16 batches, first pixels of the labels [0 20 40 60 80 100 120 140 160 180]
	// stopped early: true
}
