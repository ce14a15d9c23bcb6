// Package b2beam has Apache Beam transforms for arrays of Blosc2 that are too large for one machine.
//
// A pipeline works on tiles. A tile is a box of an array with its items; its key has the name of the array and the
// coordinates of the first item. A collection of tiles is a PCollection<KV<Key, Tile>>. It holds any number of arrays,
// and the tiles of an array cover it once:
//
//	p, s := beam.NewPipelineWithRoot()
//	files, err := b2beam.Glob("/data/era5", "*.b2nd")
//	tiles := b2beam.Read(s, files, nil)
//	mean := b2beam.Reduce(s, ndarray.OpMean, tiles, &ndarray.ReduceOptions{Axes: []int{0}, SkipNaN: true})
//	b2beam.Write(s, "/data/mean", mean, nil)
//	err = beamx.Run(ctx, p)
//
// Read and FromFiles make tiles, Map, Rechunk, Reduce and Zip turn tiles into others, and Write stores them.
// RechunkStored copies stored arrays without a shuffle. Beam's own transforms may be used in between.
//
// # Storage
//
// Arrays are read from local paths, from file systems that all workers share, from http and https URLs, and from
// buckets of gocloud.dev/blob. They are written to local paths, to shared file systems, and to buckets as sparse
// arrays, with an object for each chunk. A program imports the drivers of the buckets that it uses, such as
// gocloud.dev/blob/s3blob.
//
// # Retries
//
// A runner may process an element again after a failure, or twice at the same time. The result is the same, because
// Write replaces whole chunks, and finishes an array only after all of its tiles have arrived. Reduce merges results in
// the order of the tiles, not of their arrival, so the same tiles have the same result in every run.
//
// # Memory
//
// A bundle holds one tile for each transform of a fused stage. Rechunk also holds one result, and Reduce several. A
// worker may process several bundles at a time; Prism has up to 8. A tile has the size of a chunk, unless the options
// of Read choose another one. Rechunk, Reduce and Zip move tiles or results through the shuffle of the runner. Prism
// keeps the shuffle in memory.
//
// # Metrics
//
// The counters blosc2/tiles_read, bytes_read, chunks_written, bytes_written and arrays_finished count tiles, chunks,
// arrays, and bytes of uncompressed items. They count retries again.
package b2beam
