// Package serve answers HTTP requests for the files of a folder: bytes, listings, and selections of Blosc2 arrays.
//
//	s, err := serve.New("data", serve.Config{})
//	defer s.Close()
//	err = s.Serve(ctx, listener)
//
// # Names
//
// A path names a file or folder below the served one, or a leaf of a store: dir/tree.b2z/img/level0. All files are
// opened through one os.Root, which follows links inside the folder and none that leads out of it. Elements that begin
// with a dot do not exist for clients. At the top, the names metrics, api/info, api/fetch and
// api/chunk are taken, and viewer if there is one.
//
// A sparse frame is a directory with many files, which package frame opens by its name. The server does that only if no
// element of its path is a link, and checks afterwards that the name still is that of the directory in the os.Root.
//
// # Limits
//
// A request waits for a free place, and gets status 503 with Retry-After if there is none soon. Answers that are made
// in memory, such as selections, have a limit of bytes, of which there is also one for all requests at a time. Opening
// and reading have a limit of time, and each piece of an answer has one to be taken by the client. While other requests
// are refused memory, a client that takes an answer in memory at less than Limits.Rate is disconnected when it has
// taken the next MiB. An eighth of the memory, or what there is besides the largest answer if that is less, is for
// answers of at most that part divided by the number of requests: slow clients of large answers do not stop small ones.
// The size of a selection is that of its items, in every form. While it is read, its index arrays take 16 more bytes
// for each item that they list after broadcasting. An attribute that takes more than a small answer while it is decoded
// counts as a large one. A sparse frame that is fetched has no ranges, each of which would make all of it again: the
// header Range is ignored. See Limits. Arrays that are kept open have at most 256 MiB of indexes, at 8 bytes for each
// chunk.
//
// # Changed files
//
// Open arrays are kept for the next requests. Each request compares size, time and inode of the file, and opens it
// again if one of them has changed. ETags are made of the same three. The bytes of a file are sent in pieces, and the
// answer breaks off if one of the three has changed after a piece is read. Other answers are made in memory. If one of
// the three has changed by then, or if the file cannot be read while it is edited, the server opens it again, several
// times, and at last answers with status 503 and Retry-After. So a selection that takes longer than the pauses between
// commits gets no other answer. An edit is not noticed if it keeps the size and comes within the resolution of the
// file's time. A file that is replaced by renaming has another inode.
package serve
