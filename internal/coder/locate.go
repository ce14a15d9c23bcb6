package coder

import "github.com/goblosc/blosc2/internal/codecs"

// Locate finds the blocks of a chunk of at most size bytes that begins with head, for callers that read their bytes
// before they open the chunk. It returns the number of bytes at the beginning of the chunk that OpenAt reads in any
// case: the parts before the streams, or all bytes if blocks cannot be decoded alone. If head is too short for the
// block positions, or the chunk is all that OpenAt reads, no block is located. Afterwards r only serves BlockRange
// and has a Header. Errors are those of Open.
func (r *Reader) Locate(head []byte, size int64) (first int, err error) {
	r.Release()
	h, err := ParseHeader(head, size)
	if err != nil {
		return 0, err
	}
	r.Header = h
	streams := h.Overhead + 4*h.NumBlocks
	switch {
	case h.VLBlocks || h.Special != Regular || h.NumBlocks == 0:
		return h.CBytes, nil
	case h.Stored:
		return h.Overhead, nil
	case streams > len(head):
		return streams, nil
	}
	if err := r.readStarts(head); err != nil {
		r.Release()
		return 0, err
	}
	if h.HasDict {
		return min(streams+4+codecs.MaxDict, h.CBytes), nil
	}
	return streams, nil
}

// Located reports whether Locate has found the blocks.
func (r *Reader) Located() bool {
	return len(r.starts) > 0 || r.Special == Regular && r.Stored && r.NumBlocks > 0
}

// BlockRange returns the stored bytes of block k: [from, to) of the chunk. Other blocks may share some of them.
func (r *Reader) BlockRange(k int) (from, to int) {
	if r.Stored {
		from = r.Overhead + k*r.BlockSize
		return from, from + r.BlockLen(k)
	}
	return int(r.starts[k]), int(r.ends[k])
}

// NeedsFirst reports whether decoding any block takes the bytes of block 0.
func (r *Reader) NeedsFirst() bool { return r.Filters.has(Delta) && !r.VLBlocks && !r.Stored }
