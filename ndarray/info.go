package ndarray

import (
	"context"
	"fmt"
	"io"
	"strings"
)

// NBytes returns the size of all items in bytes, without padding.
func (a *Array) NBytes() int64 { return a.Size() * int64(a.itemSize) }

// CBytes returns the size of the compressed chunks in bytes. Dead bytes of earlier edits count until Compact.
func (a *Array) CBytes() int64 { return a.f.Info().CBytes }

// Verify decodes the whole array and compares it with its checksums, if it has some. It calls report for each fault and
// goes on if report returns nil; otherwise Verify returns that error. With a nil report it returns the first fault.
// See [frame.Frame.Verify].
func (a *Array) Verify(ctx context.Context, report func(error) error) error {
	if report == nil {
		report = func(err error) error { return err }
	}
	return a.f.Verify(ctx, report)
}

// Save writes the array to w as a contiguous frame without dead bytes, and returns the number of bytes written. Reading
// these bytes with OpenBytes or from a file returns the same array. Edits during the call do not change the result. The
// error is an error of reading, of w or of ctx.
func (a *Array) Save(ctx context.Context, w io.Writer) (int64, error) { return a.f.Save(ctx, w) }

// Compact rewrites the file without the dead bytes of earlier edits. See [frame.Frame.Compact] for what happens to
// other readers, and for the errors.
func (a *Array) Compact(ctx context.Context) error { return a.f.Compact(ctx) }

// String describes the array in one line, for fmt.Println: shape, dtype, partition, codec and compression ratio.
func (a *Array) String() string {
	info := a.f.Info()
	if info.TypeSize == 0 { // the zero Info
		return fmt.Sprintf("%v %s, closed", a.Shape(), a.dtype)
	}
	p := info.Params
	var b strings.Builder
	fmt.Fprintf(&b, "%v %s, chunks %v, blocks %v, %s level %d", a.Shape(), a.dtype, a.Chunks(), a.Blocks(), p.Codec, p.Level)
	n := a.NBytes()
	fmt.Fprintf(&b, ", %d bytes", n)
	if c := info.CBytes; c > 0 {
		fmt.Fprintf(&b, " stored in %d, ratio %.1f", c, float64(n)/float64(c))
	}
	return b.String()
}

// String describes the view in one line, for fmt.Println: shape, dtype and the array that it shows.
func (v *View) String() string {
	return fmt.Sprintf("%v %s, view of %v", v.Shape(), v.DType(), v.a)
}
