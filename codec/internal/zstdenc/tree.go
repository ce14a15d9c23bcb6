package zstdenc

import (
	"encoding/binary"
	"slices"
)

// candidate is a match that a block could use at some position.
type candidate struct {
	length   uint32
	distance uint32
}

// finder finds all potentially useful matches of a block, with a binary tree of positions.
//
// For each hash of 4 bytes there is a tree, whose nodes are positions with that hash. Its root is the newest position.
// Below each node are only older positions, sorted by the bytes that follow them. A new position becomes the root. The
// path down to its place in the order meets the positions that have most bytes in common with it, the nearest first. It
// divides the tree into smaller and larger positions, which become the branches of the root.
type finder struct {
	tree    []uint32 // two branches for each position: smaller, larger
	mask    uint32
	hash3   []uint32 // the newest position with a hash of 3 bytes, if minMatch is 3
	found   []candidate
	firsts  []uint32 // index of the first match of each position in found, and the end
	greedy  int      // matches of this length are taken at once, and the positions inside them are not searched
	next    int      // lower positions are in the tree, or skipped
	skipped int      // lower positions need no matches

	// For descend, in each block.
	src   []byte   // up to the end of the block
	roots []uint32 // newest position for each hash of 4 bytes
	base  uint32   // of the encoder
	shift uint     // 32 less the number of bits of these hashes
	tries int      // number of positions to compare
}

const (
	// maxTree is the largest number of positions in the tree. Matches further back are not found.
	maxTree = 1 << 22
	log3    = 16
	// maxFound bounds the memory for matches. If a block has more, its rest has none.
	maxFound = 1 << 20
)

func (f *finder) fit(n int) {
	size := 1 << 10
	for size < min(n, maxTree) {
		size *= 2
	}
	if len(f.tree) < 2*size {
		f.tree = make([]uint32, 2*size)
	}
	f.mask = uint32(size - 1)
	if f.hash3 == nil {
		f.hash3 = make([]uint32, 1<<log3)
	}
	if len(f.firsts) <= min(n, maxBlock) {
		f.firsts = make([]uint32, min(size, maxBlock)+1)
	}
}

// find collects the matches of the positions from start to end, in the order of their lengths for each position.
func (e *Encoder) find(start, end int) {
	f := &e.finder
	f.found, f.greedy = f.found[:0], int(e.params.target)
	f.src, f.roots, f.base = e.src[:end], e.tables.roots, e.base
	f.shift, f.tries = 32-uint(e.params.hashLog), 1<<e.params.searchLog
	limit := end - 8
	f.skipped, f.next = start, max(f.next, start)
	firsts := f.firsts[:end-start+1]
	last := start // end of a match
	for at := start; at < end; at++ {
		firsts[at-start] = uint32(len(f.found))
		if at%pieceSize == 0 {
			f.next = max(f.next, e.quiet.next(at, end))
		}
		if at < f.next || at > limit || len(f.found) > maxFound {
			if f.next > at+256 { // go on there, but stop at the next piece
				to := min(f.next, at-at%pieceSize+pieceSize, end)
				fill(firsts[at-start:to-start], uint32(len(f.found)))
				at = to - 1
			}
			continue
		}
		best := e.search(at)
		if best > 3 {
			last = max(last, at+best)
		} else if at > last { // no match for a long time: skip more and more positions
			f.next = max(f.next, at+min((at-last)>>9+1, int(e.params.maxStep)))
		}
		if best >= f.greedy && at >= f.skipped {
			f.skipped = max(f.skipped, at+best)
			f.next = max(f.next, at+best-32) // the positions between are also at the source of the match
		}
	}
	firsts[end-start] = uint32(len(f.found))
}

// fill sets all items of s, of which there must be one, to v.
func fill(s []uint32, v uint32) {
	s[0] = v
	for n := 1; n < len(s); n *= 2 {
		copy(s[n:], s[:n])
	}
}

// long reports whether a match of the i-th position of the block must be taken.
func (f *finder) long(i int) bool {
	last := f.firsts[i+1]
	return last > f.firsts[i] && int(f.found[last-1].length) >= f.greedy
}

// search enters a position into the tree and adds its matches, if they are needed. It returns the largest length of
// these.
func (e *Encoder) search(at int) int {
	f := &e.finder
	src := f.src
	v := load64(src, at)
	best, reach := 3, at+9
	if e.params.minMatch == 3 {
		h := hash(v, 3, log3)
		from := int(f.hash3[h]) - int(f.base)
		f.hash3[h] = f.base + uint32(at)
		if from >= 0 && at-from < 1<<18 && at >= f.skipped && (load32(src, from)^uint32(v))<<8 == 0 {
			best = 3 + matchLength(src, from+3, at+3)
			reach = max(reach, from+best)
			f.found = append(f.found, candidate{uint32(best), uint32(at - from)})
		}
	}
	root := &f.roots[hash(v, 4, e.params.hashLog)]
	current, node := f.base+uint32(at), *root
	*root = current
	lowest := f.base
	if current-f.base > f.mask {
		lowest = current - f.mask
	}
	if cap(f.found)-len(f.found) < f.tries {
		f.found = slices.Grow(f.found, f.tries)
	}
	best, reach = f.descend(at, node, lowest, best, reach)
	// In a long match all positions are like those at its source, so they need not be in the tree. If matches are
	// needed again, they are searched.
	f.next = reach - 8
	if at < f.skipped {
		f.next = min(f.next, f.skipped)
	}
	return best
}

// descendGeneric goes down the tree from a node and puts position at in its place, at the root. Nodes below lowest are
// not in the tree any more. It adds the matches of more than best bytes, if they are needed: each is longer than the
// one before. It returns the largest length and how far the sources of matches reach, at least best and reach. f.found
// must have room for f.tries matches.
//
// It is one loop, because most of the time is spent here.
func (f *finder) descendGeneric(at int, node, lowest uint32, best, reach int) (int, int) {
	mask, tree := f.mask, f.tree
	current := f.base + uint32(at)
	less, more := 2*(current&mask), 2*(current&mask)+1 // slots of the next smaller and larger position
	lessLength, moreLength := 0, 0                     // number of bytes that they have in common with at
	p := f.src[at:]
	for left := f.tries; left > 0 && node >= lowest; left-- {
		n := min(lessLength, moreLength)
		from := int(node - f.base)
		q := f.src[from:]
		q = q[:len(p)]
		for len(p)-n >= 8 {
			if binary.LittleEndian.Uint64(p[n:]) != binary.LittleEndian.Uint64(q[n:]) {
				break
			}
			n += 8
		}
		for n < len(p) && p[n] == q[n] {
			n++
		}
		if n > best {
			reach = max(reach, from+n)
			best = n
			if at >= f.skipped {
				f.found = append(f.found, candidate{uint32(n), uint32(at - from)})
			}
		}
		if n == len(p) {
			break // their order is unknown
		}
		pair := 2 * (node & mask)
		if q[n] < p[n] {
			tree[less] = node
			less, lessLength = pair+1, n
			node = tree[pair+1]
		} else {
			tree[more] = node
			more, moreLength = pair, n
			node = tree[pair]
		}
	}
	tree[less], tree[more] = 0, 0
	return best, reach
}
