package document

import (
	"encoding/hex"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/meta"
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
		{"Number of chunks", strconv.Itoa(info.NumChunks)},
		{"Codec", fmt.Sprintf("%s, level %d", p.Codec, p.Level)},
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

// Attributes returns the attributes of an array as text.
func (a *Array) Attributes() []Property {
	var list []Property
	for _, name := range a.Attrs() {
		var v any
		text := ""
		if err := a.Attr(name, &v); err != nil {
			text = "(" + err.Error() + ")"
		} else {
			text = valueText(v, 0)
		}
		list = append(list, Property{clip(name, 200), clip(text, 4000)})
	}
	return list
}

// valueText returns an attribute as text, like JSON.
func valueText(v any, depth int) string {
	if depth > 8 {
		return "…"
	}
	switch v := v.(type) {
	case nil:
		return "null"
	case string:
		if depth == 0 {
			return v
		}
		return strconv.Quote(v)
	case []byte:
		return "0x" + hex.EncodeToString(v[:min(len(v), 64)])
	case []any:
		parts := make([]string, min(len(v), 100))
		for i := range parts {
			parts[i] = valueText(v[i], depth+1)
		}
		if len(parts) < len(v) {
			parts = append(parts, "…")
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case meta.Tuple:
		return valueText([]any(v), depth)
	case meta.Map:
		parts := make([]string, min(len(v), 100))
		for i := range parts {
			parts[i] = valueText(v[i].Key, depth+1) + ": " + valueText(v[i].Value, depth+1)
		}
		if len(parts) < len(v) {
			parts = append(parts, "…")
		}
		return "{" + strings.Join(parts, ", ") + "}"
	case meta.Ext:
		return fmt.Sprintf("extension %d of %d bytes", v.Type, len(v.Data))
	}
	return fmt.Sprint(v)
}

// clip shortens a text.
func clip(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}

// sizeText returns a number of bytes, such as "1.5 MiB (1,572,864 bytes)".
func sizeText(n int64) string {
	if n < 1024 {
		return strconv.FormatInt(n, 10) + " bytes"
	}
	e := min(int(math.Log2(float64(n))/10), 6)
	return strconv.FormatFloat(float64(n)/math.Pow(1024, float64(e)), 'f', 1, 64) + " " + "KMGTPE"[e-1:e] + "iB"
}
