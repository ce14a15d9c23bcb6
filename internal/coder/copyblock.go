package coder

// CopyBlock appends block k of a chunk as it is stored, and true, if it can be part of a chunk with the layout l:
// one of the same sizes, codec and filters, if its blocks are independent of each other. The level and the codec's
// speed do not matter. It does not look into the block: what is corrupt stays so.
func (w *Worker) CopyBlock(dst []byte, l *Layout, r *Reader, k int) ([]byte, bool, error) {
	if !l.carries(&r.h) {
		return dst, false, nil
	}
	// Blocks may share bytes: more than a block can have must not be written for each.
	if n := int(r.ends[k] - r.starts[k]); n > r.BlockLen(k)+4*r.h.TypeSize {
		return dst, false, nil
	}
	b, err := r.bytes(k, &w.in[0])
	return append(dst, b...), err == nil, err
}

// carries tells whether blocks of a chunk can stand in one with this layout.
func (l *Layout) carries(h *Header) bool {
	return !l.store && !l.p.Dict && len(l.dict) == 0 && !l.pipeline.has(Delta) &&
		h.Special() == Regular && !h.Stored() && h.nblocks > 0 &&
		h.Version == l.h.Version && h.VersionLZ == l.h.VersionLZ && h.Flags == l.h.Flags &&
		h.TypeSize == l.h.TypeSize && h.NBytes == l.h.NBytes && h.BlockSize == l.h.BlockSize && h.Filters == l.h.Filters &&
		h.Codec == l.h.Codec && h.CodecMeta == l.h.CodecMeta && h.Flags2 == l.h.Flags2 && h.Blosc2Flags == l.h.Blosc2Flags
}
