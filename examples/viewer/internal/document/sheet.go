package document

import (
	"context"
	"fmt"

	"github.com/goblosc/blosc2/examples/viewer/internal/item"
	"github.com/goblosc/blosc2/frame/store/objects"
	"github.com/goblosc/blosc2/ndarray"
)

// A Sheet is rows of values as text: a table, or an array of objects, which has one column.
type Sheet struct {
	Rows    int64
	Columns []Column

	info, attributes []Property
}

// Info returns what the headers say.
func (s *Sheet) Info() []Property { return s.info }

// Attributes returns the attributes of a table as text.
func (s *Sheet) Attributes() []Property { return s.attributes }

// A Column is a column of a sheet.
type Column struct {
	Name, Kind string
	read       func(ctx context.Context, start, stop int64) ([]Cell, error)
}

// A Cell is a value.
type Cell struct {
	Text string
	Null bool
}

// A Page is some values of a column, or the reason why they cannot be shown.
type Page struct {
	Cells []Cell
	Fault string
}

const (
	maxPage  = 1 << 12 // cells of a page
	maxCell  = 1000    // bytes of the text of a cell
	maxValue = 1 << 20 // bytes of a value that is decoded
)

// Read returns the rows start to stop-1 of some columns. It reads nothing else.
func (s *Sheet) Read(ctx context.Context, start, stop int64, first, last int) ([]Page, error) {
	if start < 0 || stop < start || stop > s.Rows || first < 0 || last < first || last > len(s.Columns) || (stop-start)*int64(last-first) > maxPage {
		return nil, fmt.Errorf("no page of rows %d to %d and columns %d to %d: %w", start, stop, first, last, ndarray.ErrBounds)
	}
	pages := make([]Page, last-first)
	for i := range pages {
		cells, err := s.Columns[first+i].read(ctx, start, stop)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			pages[i].Fault = err.Error()
			continue
		}
		for k := range cells {
			cells[k].Text = item.Clip(cells[k].Text, maxCell)
		}
		pages[i].Cells = cells
	}
	return pages, nil
}

// newObjects returns the sheet of an array of objects.
func newObjects(o *objects.Array) *Sheet {
	kind := map[objects.Kind]string{objects.Objects: "object array", objects.Batches: "batch array", objects.Lists: "list array"}[o.Kind()]
	info := o.Frame().Info()
	s := &Sheet{Rows: o.Len(), info: []Property{{"Kind", kind}, {"Items", countText(o.Len())}}}
	if n := o.Batches(); n > 0 {
		s.info = append(s.info, Property{"Batches", fmt.Sprint(n)})
	}
	s.info = append(s.info, Property{"Codec", codecText(info.Params)}, Property{"Data", sizeText(info.NBytes)}, Property{"Stored", sizeText(info.CBytes)})
	s.Columns = []Column{{Name: "item", Kind: "JSON", read: func(ctx context.Context, start, stop int64) ([]Cell, error) {
		return readObjects(ctx, o, nil, start, stop, item.JSON)
	}}}
	return s
}
