// Package objects reads the arrays of Python objects of python-blosc2 (.b2b files and leaves of stores), creates them,
// and appends to them: ObjectArray, BatchArray and ListArray.
//
//	o, err := s.Objects(ctx, "/notes") // s is a *store.Store
//	var note struct{ Text string `msgpack:"text"` }
//	err = o.Item(ctx, 7, &note)
//	for v, err := range o.Items(ctx, 0, o.Len()) { ... }
//
// Items are decoded by the rules of meta.Unmarshal. Reading an item decodes the block that holds it, and no other item
// in it. An item that is a meta.Ext of type meta.ExtFrame is a whole frame, which frame.OpenBytes opens; one of type
// meta.ExtRef is a reference, see store.ReadReference.
//
// Create an array in a file:
//
//	o, err := objects.Create(ctx, "notes.b2b", objects.Batches, nil)
//	err = o.Append(ctx, note, "text", nil)
//	err = o.Close()
//
// Append to it later:
//
//	f, err := frame.Edit(ctx, "notes.b2b", nil)
//	o, err := objects.New(ctx, f)
//	err = o.Append(ctx, note, "text", nil)
//	err = o.Close()
//
// A leaf of a directory store that has a file of its own is such a file.
//
// # Format
//
//	ObjectArray   metalayer vlarray. Each chunk is one object in MessagePack
//	BatchArray    metalayer batcharray. Each chunk is a batch, and each of its blocks a MessagePack array of
//	              items_per_block objects, or an Arrow stream. The variable-length metalayer _batch_array_metadata has
//	              the number of objects of each batch
//	ListArray     one of these with the metalayer listarray. Each object is a list or nil
//
// The blocks of Arrow streams are available as bytes: see Array.Block.
package objects
