package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/goblosc/blosc2/frame/store"
	"github.com/goblosc/blosc2/frame/store/table"
	"github.com/goblosc/blosc2/internal/race"
	"github.com/goblosc/blosc2/internal/tabletest"
)

// TestTablePart prints some rows and columns of a table with 9 rows.
func TestTablePart(t *testing.T) {
	b := tabletest.New(t, `{"name": "i", "kind": "int64"}, {"name": "s", "kind": "vlstring"}`, tabletest.AllLive(9))
	tabletest.Write(b, "_cols/i", []int64{9}, []int64{0, 1, 2, 3, 4, 5, 6, 7, 8})
	b.Items("_cols/s", []any{"a", "b", "c", "d", "e", "", "g", "h", "i"})
	for _, c := range []struct{ args, want string }{
		{"-csv -rows 1:3 PATH", "i,s\n1,b\n2,c\n"},
		{"-csv -rows 7: PATH s i", "s,i\nh,7\ni,8\n"},
		{"-csv -rows=-2:-1 PATH i", "i\n7\n"},
		{"-csv -rows :-8 PATH i", "i\n0\n"},
		{"-csv -rows -20:20 PATH i", "i\n0\n1\n2\n3\n4\n5\n6\n7\n8\n"},
		{"-csv -rows 5:2 PATH i", "i\n"},
		{"-csv -rows 4:7 PATH s", "s\ne\n\"\"\ng\n"},
		{"-csv -rows 5:6 PATH s i", "s,i\n,5\n"},
		{"-json -rows 3:5 PATH", `{"rows": 2, "columns": {"i": [3, 4], "s": ["d", "e"]}}` + "\n"},
		{"-json -rows : PATH s", `{"rows": 9, "columns": {"s": ["a", "b", "c", "d", "e", "", "g", "h", "i"]}}` + "\n"},
		{"-text -rows 7: PATH s", "   s\n7  h\n8  i\n2 rows, 1 column\n"},
	} {
		args := append([]string{"table"}, strings.Fields(strings.Replace(c.args, "PATH", b.Dir, 1))...)
		if got := must(t, "", args...); got != c.want {
			t.Errorf("%s: got %q, want %q", c.args, got, c.want)
		}
	}
	fails(t, 1, `no column "x"; the table has i, s`, "", "table", b.Dir, "x")
	for arg, want := range map[string]string{
		"5": `"5" is not START:STOP`, "a:": `"a:" is not START:STOP`, "1:2:3": `"1:2:3" is not START:STOP`,
	} {
		fails(t, 2, want, "", "table", "-rows", arg, b.Dir)
	}
	fails(t, 2, `column "i" is named twice`, "", "table", b.Dir, "i", "i")
}

// TestTableWithStaleColumn prints a table without its stale column, and names the column otherwise.
func TestTableWithStaleColumn(t *testing.T) {
	const columns = `{"name": "i", "kind": "int64"}, {"name": "twice", "kind": "int64"}`
	b := tabletest.New(t, columns+`], "computed_columns": [{"name": "thrice", "expression": "o0 * 3", "col_deps": ["i"]}], "materialized_columns": [{"name": "twice", "expression": "o0 * 2", "col_deps": ["i"], "stale": true}`, tabletest.AllLive(2))
	tabletest.Write(b, "_cols/i", []int64{2}, []int64{5, 6})
	tabletest.Write(b, "_cols/twice", []int64{2}, []int64{0, 0})
	if got := must(t, "", "table", "-csv", b.Dir, "i"); got != "i\n5\n6\n" {
		t.Errorf("got %q", got)
	}
	for _, name := range []string{"twice", "thrice"} {
		fails(t, 1, name, "", "table", "-csv", b.Dir, "i", name)
	}
	for _, form := range []string{"-csv", "-json", "-text"} {
		code, out, errOut := call(t, "", "table", form, b.Dir)
		if want := "; print other columns with blosc2 table " + b.Dir + " COLUMN...\n"; code != 1 || len(out) > 0 || !strings.HasSuffix(errOut, want) {
			t.Errorf("%s: exit %d, %q, %q", form, code, out, errOut)
		}
	}
}

// equalColumns returns a table with n equal columns of a kind. write writes the one with the key.
func equalColumns(t *testing.T, n, rows int, kind, suffix string, write func(b *tabletest.Builder, key string)) *tablePart {
	t.Helper()
	list := make([]string, n)
	for i := range list {
		list[i] = fmt.Sprintf(`{"name": "c%d", "kind": %q}`, i, kind)
	}
	b := tabletest.New(t, strings.Join(list, ", "), tabletest.AllLive(rows))
	write(b, "_cols/c0")
	content := readFile(t, b.File("_cols/c0"+suffix))
	for i := range n {
		if err := os.WriteFile(b.File(fmt.Sprintf("_cols/c%d%s", i, suffix)), []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	s, err := store.Open(t.Context(), b.Dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	tab, err := table.Open(t.Context(), s, "/")
	if err != nil {
		t.Fatal(err)
	}
	return &tablePart{Table: tab, columns: tab.Columns(), stop: tab.Rows()}
}

// windowsOf returns the number of rows of each window of a table, and the largest number of bytes of text in one.
func windowsOf(t *testing.T, p *tablePart) (windows []int64, most int, _ error) {
	t.Helper()
	e := &env{ctx: t.Context()}
	columns, err := p.openAll(e)
	if err != nil {
		t.Fatal(err)
	}
	at := p.start
	err = p.eachWindow(e, columns, func(values [][]any, n int64) error {
		size := 0
		for i, c := range values {
			if int64(len(c)) != n {
				t.Errorf("%d values of column %d in a window of %d rows", len(c), i, n)
			}
			for _, v := range c {
				switch v := v.(type) {
				case []byte:
					size += len(v)
				case string:
					size += len(v)
				}
			}
		}
		windows, most, at = append(windows, n), max(most, size), at+n
		return nil
	})
	if at != p.stop && err == nil {
		t.Errorf("%d rows in windows of %d rows, want %d", at, windows, p.stop)
	}
	return windows, most, err
}

// TestManyColumns expects that the memory for rows does not grow with the number of columns.
func TestManyColumns(t *testing.T) {
	const rows, width = 1000, 4000
	p := equalColumns(t, 64, rows, "bytes", ".b2nd", func(b *tabletest.Builder, key string) {
		b.Fixed(key, fmt.Sprintf("S%d", width), []int64{rows}, bytes.Repeat([]byte{'a'}, rows*width))
	})
	for _, p.far = range []bool{false, true} {
		windows, most, err := windowsOf(t, p)
		if err != nil || most > windowBytes || len(windows) > 12 {
			t.Errorf("far %v: windows of %d rows, up to %d bytes, %v", p.far, windows, most, err)
		}
	}
}

// TestLargeRows expects that few rows are held while they are large, and again more after them. The columns before the
// one in which rows become too large are not read again, which would take three times the memory.
func TestLargeRows(t *testing.T) {
	const rows, columns = 5000, 16 // with 5 and 7 MiB for two rows of each column
	p := equalColumns(t, columns, rows, "vlstring", ".b2b", func(b *tabletest.Builder, key string) {
		texts := make([]any, rows)
		for i := range texts {
			texts[i] = fmt.Sprint(i * i)
		}
		texts[50], texts[51] = strings.Repeat("b", 5<<20), strings.Repeat("c", 7<<20)
		b.Items(key, texts[:50], texts[50:51], texts[51:52], texts[52:])
	})
	cases := 2
	if race.Enabled {
		cases = 1 // the other one takes seconds, too
	}
	for _, p.far = range []bool{false, true}[:cases] {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		windows, most, err := windowsOf(t, p)
		runtime.ReadMemStats(&after)
		if n := after.TotalAlloc - before.TotalAlloc; n > 16*columns*(5+7)<<20 && !race.Enabled {
			t.Errorf("far %v: %d bytes of memory for windows of %d rows", p.far, n, windows)
		}
		if err != nil || most != columns*7<<20 || len(windows) > 30 {
			t.Errorf("far %v: windows of %d rows, up to %d bytes, %v", p.far, windows, most, err)
		}
	}
}

// TestTooLargeRow reads a row that takes far more memory than the stored bytes of its columns. Fewer columns of it,
// with more than windowBytes, are no problem.
func TestTooLargeRow(t *testing.T) {
	const width = 8 << 20
	p := equalColumns(t, 40, 1, "bytes", ".b2nd", func(b *tabletest.Builder, key string) {
		b.Fixed(key, fmt.Sprintf("S%d", width), []int64{1}, bytes.Repeat([]byte{'a'}, width))
	})
	windows, most, err := windowsOf(t, p)
	if !errors.Is(err, table.ErrTooLarge) {
		t.Errorf("windows of %d rows, up to %d bytes, %v", windows, most, err)
	} else if want := "row 0: its values in 32 columns take "; !strings.HasPrefix(err.Error(), want) || strings.Contains(err.Error(), "OpenOptions") {
		t.Error(err)
	}
	p.columns = p.columns[:20]
	if windows, most, err := windowsOf(t, p); err != nil || most != 20*width {
		t.Errorf("windows of %d rows, up to %d bytes, %v", windows, most, err)
	}
}

// TestLongList prints a row with a list of many small numbers, which take far less memory than large ones.
func TestLongList(t *testing.T) {
	const n = 1_000_000
	b := tabletest.New(t, `{"name": "l", "kind": "object"}`, tabletest.AllLive(1))
	list := make([]any, n)
	for i := range list {
		list[i] = int8(0)
	}
	b.Items("_cols/l", []any{list})
	text := "[0" + strings.Repeat(", 0", n-1) + "]"
	for form, want := range map[string]string{
		"-csv":  "l\n\"" + text + "\"\n",
		"-json": `{"rows": 1, "columns": {"l": [` + text + "]}}\n",
	} {
		if got := must(t, "", "table", form, b.Dir); got != want {
			t.Errorf("%s: %d bytes, want %d", form, len(got), len(want))
		}
	}
	if got := valueSize(list); got > 32*n {
		t.Errorf("%d numbers are counted as %d bytes", n, got)
	}
}
