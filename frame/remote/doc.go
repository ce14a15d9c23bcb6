// Package remote reads frames and arrays on HTTP servers and in object stores that speak HTTP, without downloading
// them. Open returns a Source of a frame. Package ndarray opens the array in it:
//
//	src, err := remote.Open(ctx, "https://example.org/temperature.b2nd", nil)
//	if err != nil {
//		return err
//	}
//	defer src.Close()
//	a, err := ndarray.OpenSource(ctx, src, nil)
//	if err != nil {
//		return err
//	}
//	series, err := ndarray.Read[float32](ctx, a, ndarray.All, ndarray.At(45), ndarray.At(90))
//
// Module github.com/goblosc/blosc2/cloud opens objects in S3 and other stores by their URL, such as
// "s3://bucket/a.b2nd". It uses OpenGetter, which reads an object without HTTP requests of this package.
//
// OpenDir opens a sparse frame, which is a directory with a file for each chunk:
//
//	src, err := remote.OpenDir(ctx, "https://example.org/temperature.b2nd/", nil)
//
// # Requests
//
// Open takes one round trip: it asks for the first and for the last 64 KiB at the same time, and keeps both in memory.
// They hold the header, the index and the trailer of most frames, and all of a small frame. If the server has no suffix
// ranges, the last bytes take a second round trip. Options.Small saves a request for objects of up to 64 KiB,
// and Options.Multipart for any object on a server that answers requests for several ranges.
//
// Later reads send one request for each range, of up to Options.MaxLen bytes. ReadRanges takes many ranges and merges
// those whose distance costs less time than a request: see Options.Gap. With Options.Multipart, one request asks for
// many distant ranges, so that no bytes between them are read. At most Options.Requests requests are in flight.
//
// A read of an array uses ReadRanges. It takes two round trips: one for the positions of the blocks in their chunks,
// and one for the blocks. It takes one round trip if the positions are known from an earlier read or from a block table
// (see CreateOptions.BlockTable of ndarray), or if the chunks are small or needed as a whole. Large reads overlap their
// round trips, and so do Copy, Save and Verify. Without Options.Multipart, a selection of many small distant blocks
// reads most of the bytes between them.
//
// The size of a gap that is read in place of a second request depends on the latency and the bandwidth. An Object
// learns both while it reads, unless the options set them or name a cache on disk.
//
// Goroutines that read the same bytes at the same time receive them once. If the context of a read ends, other reads
// that wait for the same bytes still get them.
//
// # Versions
//
// An Object reads one version of the object on the server. A strong ETag names the version, or else Last-Modified.
// Every request asks for that version, and every answer is compared with it. If the object was replaced, the next read
// that needs a request returns ErrChanged, and so do all reads after it. Until then, reads of bytes that the Object
// keeps return those of the opened version: the first and last 64 KiB, and bytes in caches. Refresh asks whether the
// object has changed, and so does Refresh of its frame or array. In a directory, each file has a version of its own:
// see Dir.
//
// With Last-Modified, a second change within the same second is not noticed, unless there is a weak ETag: another one
// counts as another version. An ETag with a space is compared, but not sent. An ETag of more than 1 KiB counts as
// missing, because a Dir keeps one for each of its files.
//
// Many servers of files look at the version only before they send an answer. If a file is edited in place at the same
// time, the answer can have bytes of two versions, which is not noticed. A file that is replaced by renaming is safe,
// and so is a file that the command blosc2 serve sends.
//
// Answers that do not hold exactly the bytes asked for are errors, and so are encoded contents. If a server ignores
// ranges, Open reads the whole object up to Options.MaxWhole bytes, and returns errors.ErrUnsupported beyond that.
//
// # Failures
//
// A request is repeated after status 408, 425, 429, 500, 502, 503 and 504, after errors of the connection, and if
// nothing arrives for Options.Stall. A body that broke off is continued, which counts as a repetition. Waits double
// from 100 ms and follow Retry-After. They end with the context of the read.
//
// If the server answers no request, a call of any size returns an error when one of its requests has used up its
// repetitions: with the default options that takes 3 minutes, or 3 seconds if the server refuses connections.
// Options.Requests limits the requests in flight. Requests that wait for their turn fail at the same time, even if they
// belong to other calls. If requests wait, the call takes one attempt more, 3 minutes and a half in all. If the server
// answers other requests, the error of a chunk file of a Dir concerns only the calls that need the file. Errors of a
// Getter are final and count as answers: each request that waits for its turn then makes its own attempt.
//
// Requests after the first go to where redirects have led. If a request fails there, the next one starts from the URL
// again, because a signed URL may have expired, or a mirror be down.
//
// # Caches
//
// Options.Cache keeps received bytes in memory. It saves requests if bytes are read again. The cache of package frame
// holds decoded blocks and also saves the time to decode them.
//
// Options.Dir keeps received bytes in a folder, in blocks of 64 KiB, and several processes may share it. An object that
// is in the folder is opened without a request, and cached bytes are read at once. At the same time one request asks
// whether the object has changed. If it has, reads return ErrChanged from then on, and the next Open starts with the
// new version. Close does not wait for the answer. If there was none yet, the next Open asks first, and uses the folder
// when the answer has arrived or the request has failed. While the server is down, a Dir waits for one such request,
// not for one of each of its files. An object is cached only if the server names its version: by a strong ETag, or by a
// Last-Modified that is more than a second old when the server answers. A chunk file is not cached if the server sends
// all of it in place of a range.
//
// # Browsers
//
// With GOOS=js, requests use the Fetch API. They have no suffix ranges and no conditions, which a browser would only
// send to another origin with its permission: opening takes two round trips, and changes are noticed from the answers
// alone. A server of another origin must send
//
//	Access-Control-Allow-Origin: *
//	Access-Control-Expose-Headers: Content-Range, ETag
//
// # Security
//
// The memory for an answer does not depend on the sizes that the server claims, except for an object that is read
// whole. Messages name the URL without password and query, and cut long texts, such as a line of an answer. Redirects
// are followed as the client of Options.Client follows them. Package net/http removes Authorization and cookies from
// requests to another host, and no other field of Options.Header. Such requests do not name the first URL in the field
// Referer.
package remote
