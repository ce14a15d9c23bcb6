// Package simulated holds a file system in memory for tests: it records each change of its disk, builds what the disk
// may hold after a power failure, and lets single calls fail.
package simulated

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
)

// Node is a file or a directory of an Image.
type Node struct {
	Data []byte
	Dir  map[string]int // the numbers of the nodes by name; nil for files
}

// Image is what a disk holds, by node number. Node 0 is the root.
type Image map[int]*Node

// Clone returns a copy of m.
func (m Image) Clone() Image {
	c := Image{}
	for id, n := range m {
		c[id] = &Node{slices.Clone(n.Data), maps.Clone(n.Dir)}
	}
	return c
}

// node returns a node, which it makes if changes before it were lost.
func (m Image) node(id int, isDir bool) *Node {
	n := m[id]
	if n == nil {
		n = &Node{}
		m[id] = n
	}
	if isDir && n.Dir == nil {
		n.Dir = map[string]int{}
	}
	return n
}

// Change is a change of an image, or a sync of a node.
type Change struct {
	Kind     string // "write", "truncate", "create", "rename", "exchange", "remove", "sync"
	ID       int    // of the node
	isDir    bool
	off      int64
	data     []byte
	dir      int // the directory of name
	name     string
	from     int // of a rename or an exchange
	fromName string
	other    int // the node that gets fromName
}

// Apply makes the change in m. If torn, it writes only some of the sectors of a write.
func (c Change) Apply(m Image, torn bool, rng *rand.Rand) {
	switch c.Kind {
	case "write":
		n := m.node(c.ID, false)
		n.Data = write(n.Data, c.data, c.off, torn, rng)
	case "truncate":
		n := m.node(c.ID, false)
		n.Data = n.Data[:min(int64(len(n.Data)), c.off)]
	case "create":
		m.node(c.ID, c.isDir)
		m.node(c.dir, true).Dir[c.name] = c.ID
	case "rename":
		m.node(c.ID, c.isDir)
		if d := m.node(c.from, true).Dir; d[c.fromName] == c.ID {
			delete(d, c.fromName)
		}
		m.node(c.dir, true).Dir[c.name] = c.ID
	case "exchange":
		m.node(c.ID, false)
		m.node(c.other, false)
		m.node(c.from, true).Dir[c.fromName] = c.other
		m.node(c.dir, true).Dir[c.name] = c.ID
	case "remove":
		if d := m.node(c.dir, true).Dir; d[c.name] == c.ID {
			delete(d, c.name)
		}
	}
}

// write returns b with p at off. If torn, it writes each sector of 512 bytes or not.
func write(b, p []byte, off int64, torn bool, rng *rand.Rand) []byte {
	for len(p) > 0 {
		n := min(len(p), 512-int(off%512))
		if !torn || rng.IntN(2) == 0 {
			if end := int(off) + n; end > len(b) {
				b = append(b, make([]byte, end-len(b))...)
			}
			copy(b[off:], p[:n])
		}
		p, off = p[n:], off+int64(n)
	}
	return b
}

// Syncs reports whether a sync of the node id makes the change durable.
func (c Change) Syncs(id int) bool {
	switch c.Kind {
	case "write", "truncate":
		return id == c.ID
	case "rename", "exchange":
		return id == c.dir // a journal has both names or none
	case "create", "remove":
		return id == c.dir
	}
	return false
}

// Crashes calls check with images that a disk may hold after a power failure at or after change start, and with a
// description of the failure, until check returns an error. Changes that were not synced are lost, torn or made, in any
// combination. Crashes returns the number of images.
func Crashes(rng *rand.Rand, before Image, log []Change, start int, check func(m Image) error) (tried int, err error) {
	for n := start; n <= len(log); n++ {
		lasting := make([]bool, n)
		for i := range n {
			for _, c := range log[i+1 : n] {
				lasting[i] = lasting[i] || c.Kind == "sync" && log[i].Syncs(c.ID)
			}
		}
		for try := range 6 {
			m := before.Clone()
			for i, c := range log[:n] {
				if !lasting[i] && (try == 1 || try > 2 && rng.IntN(2) == 0) {
					continue // lost
				}
				c.Apply(m, !lasting[i] && (try == 2 && i == n-1 || try > 3 && rng.IntN(2) == 0), rng)
			}
			tried++
			if err := check(m); err != nil {
				return tried, fmt.Errorf("after %d of %d changes, try %d: %w", n, len(log), try, err)
			}
		}
	}
	return tried, nil
}

// Synced removes the changes from a log that are durable and follow no change that is not, and makes them in before.
func Synced(before Image, log []Change) []Change {
	last := map[int]int{} // the last sync of each node
	for i, c := range log {
		if c.Kind == "sync" {
			last[c.ID] = i
		}
	}
	for i, c := range log {
		lasting := c.Kind == "sync"
		for id, at := range last {
			lasting = lasting || at > i && c.Syncs(id)
		}
		if !lasting {
			return slices.Clone(log[i:])
		}
		c.Apply(before, false, nil)
	}
	return nil
}
