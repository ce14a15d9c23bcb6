package ndarray

import "iter"

// A WorkItem names a box of an array, for another process or machine. Packages gob and json can send it. Open the array
// by its name there, and read the box:
//
//	a, err := ndarray.Open(ctx, item.Name, nil)
//	data, err := ndarray.Read[float32](ctx, a, item.Selection()...)
//
// To write the same box of another array with that partition, pass the selection to Regions.
type WorkItem struct {
	Name   string // of the array
	Box           // in JSON, its fields are those of the item
	NBytes int64  // size of the items of the box in bytes, as they are stored but not compressed
}

// WorkItems ranges over boxes of the array, such as those of ByChunk and ByTile. Name is the name that the array was
// opened with: use one that other processes can open, such as an absolute path. It is empty for an array without one.
// Each item has its own memory.
func (a *Array) WorkItems(boxes Boxes) iter.Seq[WorkItem] {
	return func(yield func(WorkItem) bool) {
		for b := range boxes.All() {
			if !yield(WorkItem{a.f.Path(), b.clone(), b.Size() * int64(a.itemSize)}) {
				return
			}
		}
	}
}
