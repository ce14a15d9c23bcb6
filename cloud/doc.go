// Package cloud reads and writes frames and arrays in object stores: Amazon S3 and compatible stores, Google Cloud
// Storage, Azure Blob Storage, and all others that gocloud.dev/blob has a driver for. This opens an array:
//
//	src, err := s3.Open(ctx, "s3://bucket/a.b2nd", nil)
//	if err != nil {
//		return err
//	}
//	defer src.Close()
//	a, err := ndarray.OpenSource(ctx, src, nil)
//
// The packages s3, gcs and azure below this one open their stores by a URL. A program contains only the libraries of
// the stores that it imports. New takes a bucket that the program has opened with gocloud.dev/blob.
//
// # Reading
//
// An object is a [remote.Object] and has its options. Reads are merged, shared by goroutines, and cached in memory or
// on disk as those of an HTTP server. Opening takes one round trip of two requests, or one request with Small. Stores
// without requests for the last bytes of an object (Azure, and those without a driver of this module) take two round
// trips for objects of more than 64 KiB. The libraries of the stores repeat requests that fail; an answer that breaks
// off is continued.
//
// An Object reads one version, which it recognizes by the ETag (S3, Azure), the generation (Google Cloud Storage) or
// else the time of the last change. Requests after the first ask for that version, and the version of each answer is
// compared before its bytes are used. A store may round the time to seconds: two changes with the same time look like
// one if the size is the same.
//
// If the object was replaced or deleted, the next read that needs a request returns frame.ErrChanged, and so do all
// reads after it. Until then, reads of bytes that the Object keeps return those of the opened version: the first and
// last 64 KiB, and bytes in caches. Refresh asks the store.
//
// # Writing
//
// Objects are not edited in place: they are written as a whole, and appear completely or not at all.
//
//	b, err := s3.OpenBucket(ctx, "s3://bucket")
//	if err != nil {
//		return err
//	}
//	defer b.Close()
//	_, err = b.Save(ctx, "a.b2nd", a, nil) // a is any array or frame, also a sparse one
//
// [Bucket.Save] writes an existing array in one pass. [Bucket.Create] writes a new one while it is computed: its
// function creates the array in a Storage, for which ndarray.Create, FromFunc, FromReader, Copy and the like have an
// option. With S3, this needs memory for a few parts of the object. The header of a frame has its length, so the
// first part is uploaded last. With other stores, it needs memory for the compressed array.
//
// # Sparse frames
//
// [Bucket.OpenDir] reads a sparse frame, which has an object for each chunk, and so do OpenDir of this package and of
// those below it:
//
//	src, err := s3.OpenDir(ctx, "s3://bucket/a.b2nd/", nil)
//
// [Bucket.Objects] is the option with which ndarray.CreateRegions and OpenRegions write one: several programs write
// chunks at the same time, and Finish writes the index when all chunks are written. A program that is killed while it
// uploads a chunk of 16 MiB or more to S3 can leave parts of an upload, which a lifecycle rule of the bucket removes.
//
// Buckets are not a place to edit sparse frames. Any tool can copy a directory there, with the index, chunks.b2frame,
// last.
package cloud
