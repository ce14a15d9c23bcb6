package coder

// CopyBlock appends block k of a chunk as stored, and returns true, if the block can be part of a chunk with the layout
// l. Both chunks must have the same sizes, codec and filters, and independent blocks; the compression level may differ.
// CopyBlock does not examine the block, so a corrupt block stays corrupt.
func (w *Worker) CopyBlock(dst []byte, l *Layout, r *Reader, k int) ([]byte, bool, error) {
	if !l.accepts(&r.h) {
		return dst, false, nil
	}
	// In a corrupt chunk, blocks may share bytes. Do not copy more bytes than a block can have.
	if n := int(r.ends[k] - r.starts[k]); n > r.BlockLen(k)+4*r.h.TypeSize {
		return dst, false, nil
	}
	b, err := r.bytes(k, &w.in[0])
	return append(dst, b...), err == nil, err
}

// accepts reports whether blocks of a chunk with the header h can be copied to a chunk with this layout.
func (l *Layout) accepts(h *Header) bool {
	return !l.store && !l.p.Dict && len(l.dict) == 0 && !l.pipeline.has(Delta) &&
		h.Special() == Regular && !h.Stored() && h.nblocks > 0 &&
		h.Version == l.h.Version && h.VersionLZ == l.h.VersionLZ && h.Flags == l.h.Flags &&
		h.TypeSize == l.h.TypeSize && h.NBytes == l.h.NBytes && h.BlockSize == l.h.BlockSize && h.Filters == l.h.Filters &&
		h.Codec == l.h.Codec && h.CodecMeta == l.h.CodecMeta && h.Flags2 == l.h.Flags2 && h.Blosc2Flags == l.h.Blosc2Flags
}
