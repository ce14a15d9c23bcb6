package main

import (
	"strings"
	"testing"

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
