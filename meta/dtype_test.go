package meta

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"
)

// dtypeRow is a line of testdata/dtypes.tsv: a text and NumPy's dtype for it.
type dtypeRow struct{ text, stored, layout string }

func dtypeRows(t testing.TB, name string) []dtypeRow {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var rows []dtypeRow
	scan := bufio.NewScanner(f)
	scan.Buffer(nil, 1<<20)
	for scan.Scan() {
		if strings.HasPrefix(scan.Text(), "#") {
			continue
		}
		var row [3]string
		cells := strings.Split(scan.Text(), "\t")
		for i := range row {
			if err := json.Unmarshal([]byte(cells[i]), &row[i]); err != nil {
				t.Fatalf("%s: %v", scan.Text(), err)
			}
		}
		rows = append(rows, dtypeRow{row[0], row[1], row[2]})
	}
	if err := scan.Err(); err != nil {
		t.Fatal(err)
	}
	return rows
}

// layout describes a dtype, like the script that wrote dtypes.tsv describes NumPy's.
func layout(d DType) string {
	switch {
	case d.Elem != nil:
		return strings.ReplaceAll(fmt.Sprint(d.Shape), " ", ",") + layout(*d.Elem)
	case d.Fields == nil:
		return strings.ReplaceAll(d.String(), "|O8", "|O")
	}
	var parts []string
	for _, f := range d.Fields {
		title := ""
		if f.Title != "" {
			title = jsonASCII(f.Title)
		}
		parts = append(parts, fmt.Sprintf("%s%s@%d=%s", jsonASCII(f.Name), title, f.Offset, layout(f.Type)))
	}
	return fmt.Sprintf("{%s}%d", strings.Join(parts, " "), d.Size)
}

// jsonASCII quotes like Python's json.dumps.
func jsonASCII(s string) string {
	b := []byte{'"'}
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b = append(b, '\\', byte(r))
		case r == '\n':
			b = append(b, `\n`...)
		case r == '\r':
			b = append(b, `\r`...)
		case r == '\t':
			b = append(b, `\t`...)
		case r >= 0x10000:
			r -= 0x10000
			b = fmt.Appendf(b, `\u%04x\u%04x`, 0xd800+r>>10, 0xdc00+r&0x3ff)
		case r < ' ' || r > '~':
			b = fmt.Appendf(b, `\u%04x`, r)
		default:
			b = append(b, byte(r))
		}
	}
	return string(append(b, '"'))
}

func TestDTypesAgainstNumPy(t *testing.T) {
	name := "testdata/dtypes.tsv"
	if n := os.Getenv("BLOSC2_DTYPES"); n != "" {
		name = n // a larger table made with testdata/gen_dtypes.py
	}
	refused, lossy := 0, 0
	rows := dtypeRows(t, name)
	for _, row := range rows {
		d, err := ParseDType(row.text)
		if row.stored == "ERR" {
			refused++
			if err == nil {
				t.Errorf("%s: got %s, want an error as in NumPy", row.text, d)
			} else if !errors.Is(err, ErrType) {
				t.Errorf("%s: %v", row.text, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", row.text, err)
			continue
		}
		if got := layout(d); got != row.layout {
			t.Errorf("%s: layout\n%s\nwant\n%s", row.text, got, row.layout)
			continue
		}
		s := d.String()
		if row.stored == "LOSSY" {
			lossy++
		} else if s != row.stored {
			t.Errorf("%s: stored as\n%s\nwant\n%s", row.text, s, row.stored)
		}
		if again, err := ParseDType(s); err != nil || !reflect.DeepEqual(again, d) {
			t.Errorf("%s: read back\n%+v (%v)\nwant\n%+v", s, again, err, d)
		}
	}
	if len(rows) < 500 || refused < 20 || lossy < 3 {
		t.Errorf("%d rows, %d rejected, %d that NumPy does not read back", len(rows), refused, lossy)
	}
}

// The test reads the dtypes of real headers: their size is the item size of the frame, and python-blosc2 would store
// the same text again.
func TestGoldenDTypes(t *testing.T) {
	for _, g := range goldens(t) {
		if g.Array == nil {
			continue
		}
		d, err := ParseDType(g.Array.DType)
		if err != nil || d.Size != g.TypeSize {
			t.Errorf("%s: %q: %+v, %v, want %d bytes", g.Name, g.Array.DType, d, err, g.TypeSize)
		}
		if draft := strings.Contains(g.Name, "draft6"); !draft && d.String() != g.Array.DType {
			t.Errorf("%s: %q written as %q", g.Name, g.Array.DType, d)
		}
	}
}

// TestDTypeInBits reads a dtype with its size in bits, which NumPy does not have.
func TestDTypeInBits(t *testing.T) {
	if _, err := ParseDType("u16"); !errors.Is(err, ErrType) || !strings.Contains(err.Error(), `"u16" is not one of NumPy, such as <f4 for floats of 4 bytes`) {
		t.Error(err)
	}
}
