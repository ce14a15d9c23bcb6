// Package store reads and writes the stores of python-blosc2: many arrays and super-chunks under keys such as
// "/img/level0", in one file or directory. Leaves are opened in place, without unpacking.
//
// # Tasks
//
// Open a store and read a part of an array:
//
//	s, err := store.Open(ctx, "tree.b2z", nil)
//	defer s.Close()
//	a, err := s.Array(ctx, "/img/level0")
//	top, err := ndarray.Read[uint16](ctx, a, ndarray.Span(0, 3))
//
// Open a .b2z or .b2e file on a server, with package remote:
//
//	src, err := remote.Open(ctx, "https://example.org/tree.b2z", nil)
//	defer src.Close()
//	s, err := store.OpenSource(ctx, src, nil)
//
// List what is in it, with the kind, the shape and the dtype of each leaf:
//
//	for e, err := range s.Walk(ctx, "/") {
//		fmt.Println(e.Key, e.Kind, e.Shape, e.DType, err)
//	}
//
// Read the attributes of a group:
//
//	var unit string
//	err := s.Attr(ctx, "/img", "unit", &unit)
//
// Use it as a file system. Each leaf is a file with its frame:
//
//	err := fs.WalkDir(s, ".", func(name string, d fs.DirEntry, err error) error { ... })
//
// Create a store, add an array, and pack it into one file that python-blosc2 reads:
//
//	s, err := store.Create(ctx, "results.b2d", nil)
//	err = s.Put(ctx, "/run1/x", a.Frame()) // a is an *ndarray.Array
//	err = s.SetAttr(ctx, "/run1", "date", "2026-11-23")
//	err = s.Pack(ctx, "results.b2z", nil)
//
// Each edit takes effect completely or not at all, even after a crash. Edit opens a store for more edits. A .b2z file
// cannot be edited.
//
// The arrays that a Store opens are for reading only. To change items, put a changed copy under the same key, or edit
// the file of the leaf in a directory:
//
//	a, err := ndarray.Edit(ctx, "results.b2d/run1/x.b2nd", nil)
//
// After that, Store.Array opens the changed array.
//
// Package objects has the arrays of Python objects, which Store.Objects opens, and package table the tables. A tensor
// that was saved to a file of its own is opened with OpenTensor.
//
// References to data elsewhere (remote arrays, lazy expressions, caches of other arrays) have the kind KindReference,
// and an Entry that shows what they refer to. This package does not follow them; package lazy evaluates expressions. A
// cache of another array is opened with Array: reads return errors.ErrUnsupported where a chunk is missing.
//
// # Format
//
//	NAME.b2e    embed store: one frame whose decoded bytes hold the frames of all leaves, one after the other. The
//	            variable-length metalayer estore_metadata maps each key to an offset and a length
//	NAME.b2d    directory store: embed.b2e with small leaves, and a file for each other leaf. The key is the path
//	            without the extension: img/level0.b2nd is /img/level0. A file of its own hides a leaf in embed.b2e
//	NAME.b2z    zip store: the files of a directory store as members of a zip file, without compression
//
// The metalayer b2embed, b2dict or b2tree of the embed store names the class in python-blosc2. In a tree store, the
// leaf __vlmeta__ of a group holds the attributes of the group.
//
// # Untrusted input
//
// A store is checked when it is opened. These are errors: members of a zip file that overlap, that have names with ".."
// or absolute names, or that have sizes outside the file; two files with the same key; keys in the embed store that
// python-blosc2 does not accept; leaves outside the embed store; more leaves than OpenOptions.MaxLeaves; files of a
// directory store that are more than 100 directories deep. Compressed members of a zip file and links in a directory
// cannot be opened. Of leaves that share bytes of the embed store, as many as possible can be opened. The others cannot
// until the store is opened again without the conflict. Files of a directory are opened through one os.Root. Pickles
// are never loaded.
//
// # Keys
//
// "/" is the whole store. "a/b", "/a/b", "/a//b" and "/a/b/" are the same key. Elements "." and ".." have no meaning:
// Put returns ErrParam for them, and other calls find no such key. Put also returns ErrParam for a key with a colon, a
// backslash, a NUL, a line break or a tab.
//
// Keys that differ only in case are different keys. A directory cannot hold both if its file system ignores case. Then
// Put returns an error that wraps fs.ErrExist, and changes nothing.
package store
