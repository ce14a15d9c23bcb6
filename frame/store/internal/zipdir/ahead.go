package zipdir

import (
	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/frame/store/internal/source"
)

// endsLen is how many bytes at the beginning and at the end of a frame nearly always suffice to open it. They have the
// header with the metalayers, and index and trailer.
const endsLen = 4096

// Ends returns the ranges of the zip file with the local header of a member and the two ends of its bytes. They are one
// range if the member is small.
func (m *Member) Ends() []frame.Range {
	data := m.header + localLen + int64(len(m.Name))
	end := max(min(m.end-data, m.Size), 0) + data
	if end-data <= 2*endsLen {
		return []frame.Range{{Off: m.header, Len: min(end, m.end) - m.header}}
	}
	return []frame.Range{{Off: m.header, Len: data + endsLen - m.header}, {Off: end - endsLen, Len: endsLen}}
}

// Hold returns a source like src that holds the bytes b, which are at off, in memory.
func Hold(src source.Source, b []byte, off int64) source.Source {
	return (&window{src, off, b}).source()
}
