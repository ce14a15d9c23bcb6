package zstdenc

// quiet finds pieces of the input that are not worth a search: all bytes are about equally frequent, and hardly
// anything repeats. The optimal parse would take hundreds of nanoseconds for each byte of them. For the other searches,
// short takes a sample.
type quiet struct {
	pieces []uint8 // number of matches, or maxShort for a piece that is not quiet; the last piece also has the rest
	count  [256]uint32
	parts  [3][256]uint32
	near   [1 << nearLog]uint32 // positions by the hash of their first bytes
}

const (
	// leastQuiet is the size of the smallest input in which quiet pieces are looked for.
	leastQuiet = 4 * pieceSize
	// longEnough is the length of a match that matters, alone. It saves about as many bits as a shorter one costs.
	longEnough = 6
	// maxShort is the number of shorter matches, of at least 4 bytes, that matter in a piece. Most pieces of 1 MiB of
	// random bytes have none or one.
	maxShort = 8
	// maxQuietLog is the logarithm of the largest size of the table of positions.
	maxQuietLog = 20
	nearLog     = 12
)

// find finds the quiet pieces of src. A piece is not quiet either if other pieces repeat it, because their search needs
// its positions. tree is memory for a table of 1<<log positions plus base. Smaller entries are from earlier inputs.
func (q *quiet) find(src []byte, tree []uint32, base uint32, log uint8) {
	if len(src) < leastQuiet {
		return
	}
	some := false
	clear(q.near[:])
	for n := len(src) / pieceSize; n > 0; n-- {
		at := pieceSize * len(q.pieces)
		end := at + pieceSize
		if n == 1 {
			end = len(src)
		}
		matches := uint8(maxShort)
		if !q.repeats(src, at, end) {
			histogram(&q.count, src[at:end], &q.parts)
			if flat(&q.count, end-at) {
				matches, some = 0, true
			}
		}
		q.pieces = append(q.pieces, matches)
	}
	if !some {
		q.pieces = q.pieces[:0]
		return
	}
	log = min(log, maxQuietLog)
	table := tree[:1<<log]
	for at := 0; at+8 <= len(src); at++ {
		v := load64(src, at)
		slot := &table[hash(v, 4, log)]
		from := *slot
		*slot = base + uint32(at)
		if from < base {
			continue
		}
		p := int(from - base)
		d := load64(src, p) ^ v
		if uint32(d) != 0 {
			continue
		}
		n := uint8(1)
		if d<<(64-8*longEnough) == 0 {
			n = maxShort
		}
		q.mark(p, n)
		q.mark(at, n)
	}
}

// flat reports whether all of n bytes are equally frequent: whether the squares of the differences from the mean are
// about as large as in random bytes.
func flat(count *[256]uint32, n int) bool {
	sum, size := uint64(0), uint64(n)
	for _, c := range count {
		sum += uint64(c) * uint64(c)
	}
	// For random bytes the sum is 255*n above n*n on average, with a standard deviation of 23*n. For a piece of which a
	// Huffman code saves one byte in 128, it is about 610*n above.
	return 256*sum < size*size+384*size
}

// repeats reports whether it finds a long enough match inside src[start:end]. Most pieces that compress have one after
// few bytes, which saves the time for counting bytes and for the large table.
func (q *quiet) repeats(src []byte, start, end int) bool {
	for at := start; at+8 <= end; at++ {
		v := load64(src, at)
		slot := &q.near[hash(v, longEnough, nearLog)]
		from := int(*slot)
		*slot = uint32(at)
		if from >= start && from < at && (load64(src, from)^v)<<(64-8*longEnough) == 0 {
			return true
		}
	}
	return false
}

// mark records that a position is in n matches.
func (q *quiet) mark(at int, n uint8) {
	k := &q.pieces[min(at/pieceSize, len(q.pieces)-1)]
	*k = min(*k+n, maxShort)
}

// next returns the end of the quiet piece that begins at a position, or the position if none does.
func (q *quiet) next(at, end int) int {
	i := at / pieceSize
	if at%pieceSize != 0 || i >= len(q.pieces) || q.pieces[i] == maxShort {
		return at
	}
	if i == len(q.pieces)-1 {
		return end
	}
	return at + pieceSize
}

// all reports whether the bytes from start to end are quiet.
func (q *quiet) all(start, end int) bool {
	for start < end {
		next := q.next(start, end)
		if next == start {
			return false
		}
		start = next
	}
	return true
}

const (
	// sampleSize is the size of the sample of short.
	sampleSize = 8 << 10
	// shortCost is about the cost of a match in bits, without the bits of its offset.
	shortCost = 7
)

// short reports whether the search should find matches of 4 bytes. It looks for them in the beginning of src. They must
// be more frequent there than longer matches, and save at least one byte in 256.
//
// A match of 4 bytes saves the Huffman codes of 4 literals. They have more bits than the match in the low bytes of
// numbers, where nearly all bytes are equally frequent. Differences have few frequent bytes, and grow with such
// matches. The search takes up to four times as long, because it finds something nearly everywhere.
func (q *quiet) short(src []byte) bool {
	b := src[:min(len(src), sampleSize)]
	if len(b) < sampleSize/2 {
		return false
	}
	histogram(&q.count, b, &q.parts)
	if flat(&q.count, len(b)) {
		return false // probably random bytes, which should take little time
	}
	clear(q.near[:])
	short, long, offsets := 0, 0, 0
	for at := 0; at+8 <= len(b); {
		v := load64(b, at)
		slot := &q.near[hash(v, 4, nearLog)]
		from := int(*slot)
		*slot = uint32(at)
		if from >= at || load32(b, from) != uint32(v) {
			at++
			continue
		}
		n := matchLength(b, from, at)
		if n > 4 {
			long++
		} else {
			short++
			offsets += offsetBits(at - from)
		}
		at += n
	}
	if short <= long {
		return false
	}
	all := int64(entropy(q.count[:], uint32(len(b))))
	saved := all * 4 * int64(short) / int64(len(b))
	return saved-int64(offsets+shortCost*short)*oneBit >= all/256
}
