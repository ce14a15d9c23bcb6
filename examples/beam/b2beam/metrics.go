package b2beam

import "github.com/apache/beam/sdks/v2/go/pkg/beam"

// The counters of the pipeline. See the package comment.
var (
	tilesRead      = beam.NewCounter("blosc2", "tiles_read")
	bytesRead      = beam.NewCounter("blosc2", "bytes_read")
	chunksWritten  = beam.NewCounter("blosc2", "chunks_written")
	bytesWritten   = beam.NewCounter("blosc2", "bytes_written")
	arraysFinished = beam.NewCounter("blosc2", "arrays_finished")
)
