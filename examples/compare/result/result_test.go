package result

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// sample is a report with cells of some groups.
var sample = &Report{Command: "-levels=5", CPU: "A <CPU>", CPUs: 2, Go: "go1", C: "3", Rows: []Row{
	{Group: "kernels", Name: "shuffle/4/256K", Ratio: 5.999},
	{Group: "decode-fast", Name: "lz4/none/5/random/1t", Ratio: 0.3},
	{Group: "decode-fast", Name: "lz4hc/none/5/random/1t", Ratio: 1.2},
	{Group: "encode-deep", Name: "zstd/none/5/random/1t", Ratio: 1.004, GoSize: 1001, CSize: 1000},
	{Group: "read-1", Name: "volume/item", Ratio: 2},
	{Group: "read-2", Name: "volume/item", Ratio: 8},
}}

func TestSummarize(t *testing.T) {
	r := &Report{Rows: []Row{
		{Group: "a", Name: "x", Ratio: 2, GoSize: 3, CSize: 2}, {Group: "b", Name: "y", Ratio: 1},
		{Group: "a", Name: "z", Ratio: 0.5, GoSize: 1, CSize: 1},
	}}
	r.Summarize()
	if len(r.Groups) != 2 || r.Groups[0] != (Group{"a", 2, 1, 0.5, "z", 1.5}) || r.Groups[1] != (Group{"b", 1, 1, 1, "y", 0}) {
		t.Errorf("%+v", r.Groups)
	}
}

func TestTables(t *testing.T) {
	want := `| what | cells | mean | least | largest size |
| --- | --- | --- | --- | --- |
| filters | 1 | 5.99 | 5.99 |  |
| decode LZ4, LZ4HC | 2 | 0.60 | 0.30 |  |
| encode Zstd | 1 | 1.00 | 1.00 | 1.01 |
| read from arrays, 1 thread | 1 | 2.00 | 2.00 |  |
| read from arrays, 2 threads | 1 | 8.00 | 8.00 |  |
`
	if got := string(sample.Table()); got != want {
		t.Errorf("table\n%s\nwant\n%s", got, want)
	}
	want = `| | cells | mean | least |
| --- | --- | --- | --- |
| filters | 1 | 5.99 | 5.99 |
| decode chunks | 2 | 0.60 | 0.30 |
| encode chunks | 1 | 1.00 | 1.00 |
| read boxes, planes and items of arrays | 2 | 4.00 | 2.00 |
`
	if got := string(sample.Short()); got != want {
		t.Errorf("table\n%s\nwant\n%s", got, want)
	}
}

// TestSVG checks that the chart is valid XML and has a dot for each cell, inside the axes.
func TestSVG(t *testing.T) {
	svg := sample.SVG()
	dots := 0
	for d := xml.NewDecoder(bytes.NewReader(svg)); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		if e, ok := token.(xml.StartElement); ok && e.Name.Local == "circle" {
			dots++
		}
	}
	if dots != len(sample.Rows) {
		t.Errorf("%d dots, want %d", dots, len(sample.Rows))
	}
	for _, want := range []string{"A &lt;CPU&gt;", ">1/4<", ">8<", `cx="790.0"`} { // 8 is at the end of the axis
		if !strings.Contains(string(svg), want) {
			t.Errorf("no %s in\n%s", want, svg)
		}
	}
}

func TestJSON(t *testing.T) {
	text, err := sample.JSON()
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "r.json")
	if err := os.WriteFile(name, text, 0o666); err != nil {
		t.Fatal(err)
	}
	got, err := Read(name)
	if err != nil || !reflect.DeepEqual(got, sample) {
		t.Errorf("%+v, %v", got, err)
	}
}

// TestDocs checks that the chart and the tables of the documentation are those of docs/speed.json.
func TestDocs(t *testing.T) {
	top := filepath.Join("..", "..", "..")
	r, err := Read(filepath.Join(top, resultsFile))
	if err != nil {
		t.Fatal(err)
	}
	files, err := r.docs(top)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range files {
		got, err := os.ReadFile(filepath.Join(top, name))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s does not show the results in %s; update it with go run . -from ../../%s -docs ../..", name, resultsFile, resultsFile)
		}
	}
	if _, err := replace([]byte("text"), nil); err == nil {
		t.Error("no error for a text without the marks")
	}
}
