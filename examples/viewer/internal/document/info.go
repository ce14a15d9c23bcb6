package document

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/examples/viewer/internal/item"
)

// A Property is a line of the metadata.
type Property struct{ Name, Value string }

// Info returns what the headers of an array say.
func (a *Array) Info() []Property {
	info := a.Frame().Info()
	p := info.Params
	var filters []string
	for _, f := range p.Filters {
		if f != chunk.NoFilter {
			filters = append(filters, f.String())
		}
	}
	if len(filters) == 0 {
		filters = []string{"none"}
	}
	n := a.NBytes()
	list := []Property{
		{"Shape", shapeText(a.Shape())},
		{"Dtype", a.DType().String()},
		{"Chunks", shapeText(a.Chunks())},
		{"Blocks", shapeText(a.Blocks())},
		{"Number of chunks", countText(int64(info.NumChunks))},
		{"Codec", codecText(p)},
		{"Filters", strings.Join(filters, ", ")},
		{"Data", sizeText(n)},
		{"Stored", sizeText(a.CBytes())},
	}
	if c := a.CBytes(); c > 0 {
		list = append(list, Property{"Ratio", strconv.FormatFloat(float64(n)/float64(c), 'g', 4, 64)})
	}
	if info.Checksums {
		list = append(list, Property{"Checksums", "yes"})
	}
	return list
}

// codecText returns a codec with its level.
func codecText(p chunk.Params) string { return fmt.Sprintf("%s, level %d", p.Codec, p.Level) }

// Attributes returns the attributes of an array as text.
func (a *Array) Attributes() []Property {
	var list []Property
	for _, name := range a.Attrs() {
		list = append(list, attribute(name, func(v any) error { return a.Attr(name, v) }))
	}
	return list
}

// attribute returns an attribute as text, which get decodes.
func attribute(name string, get func(v any) error) Property {
	var v any
	text := ""
	if err := get(&v); err != nil {
		text = "(" + err.Error() + ")"
	} else if s, ok := v.(string); ok {
		text = s
	} else {
		text = item.JSON(v)
	}
	return Property{item.Clip(name, 200), item.Clip(text, 4000)}
}

// countText returns a count with narrow spaces between thousands, where lines do not break, as the page shows counts.
func countText(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "\u202f" + s[i:]
	}
	return s
}

// sizeText returns a number of bytes, such as "1.5 MiB".
func sizeText(n int64) string {
	if n < 1024 {
		return countText(n) + " bytes"
	}
	e := min(int(math.Log2(float64(n))/10), 6)
	return strconv.FormatFloat(float64(n)/math.Pow(1024, float64(e)), 'f', 1, 64) + " " + "KMGTPE"[e-1:e] + "iB"
}
