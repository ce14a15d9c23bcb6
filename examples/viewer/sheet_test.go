package main

import (
	"bytes"
	"encoding/binary"
	"encoding/csv"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/goblosc/blosc2/frame/store"
	"github.com/goblosc/blosc2/frame/store/objects"
	"github.com/goblosc/blosc2/internal/tabletest"
	"github.com/goblosc/blosc2/ndarray"
)

// rows waits for a page other than the first n ones, and returns its cells row by row, the heading first.
func (p *page) rows(n int) [][]string {
	p.t.Helper()
	p.wait(fmt.Sprintf("%s.dataset.pages > %d", element("rows"), n))
	var list [][]string
	p.eval("[...document.querySelectorAll('#rows tr')].map((r) => [...r.cells].map((c) => c.firstChild?.nodeValue ?? ''))", &list)
	return list
}

// pages returns the number of pages that were drawn.
func (p *page) pages() int {
	p.t.Helper()
	n := 0
	p.eval("Number("+element("rows")+".dataset.pages ?? 0)", &n)
	return n
}

// turn presses a key and returns the page after it.
func (p *page) turn(key string) [][]string {
	p.t.Helper()
	n := p.pages()
	p.press(key)
	return p.rows(n)
}

// printed returns what a verb of the command prints of a file.
func (s *site) printed(t *testing.T, verb, name string, b []byte, flags ...string) []byte {
	t.Helper()
	file := filepath.Join(s.dir, name)
	if err := os.WriteFile(file, b, 0o666); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(s.command(t), slices.Concat([]string{verb}, flags, []string{file})...).Output()
	if err != nil {
		t.Fatalf("blosc2 %s %s: %v", verb, name, err)
	}
	return out
}

// checkTable compares the rows of a table with what the command prints.
func checkTable(t *testing.T, s *site, name string, b []byte, got [][]string) {
	t.Helper()
	out := s.printed(t, "table", name, b, "-csv")
	if len(got[0]) == 2 { // a null alone is an empty line, which the reader would skip
		for bytes.Contains(out, []byte("\n\n")) {
			out = bytes.ReplaceAll(out, []byte("\n\n"), []byte("\n\"\"\n"))
		}
	}
	want, err := csv.NewReader(bytes.NewReader(out)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != len(want) || len(got[0]) != len(want[0])+1 {
		t.Fatalf("%s: %d rows of %d columns, want %d of %d", name, len(got), len(got[0])-1, len(want), len(want[0]))
	}
	for i, row := range want {
		if i > 0 && got[i][0] != fmt.Sprint(i-1) {
			t.Errorf("%s: row %d has the number %s", name, i-1, got[i][0])
		}
		for k, text := range row {
			cell := strings.ReplaceAll(got[i][k+1], "\r\n", "\n")
			if cell != text && (cell != "null" || text != "") {
				t.Errorf("%s: row %d, column %s is %q, want %q", name, i-1, want[0][k], cell, text)
			}
		}
	}
}

// testTables compares the tables of the test data with what the command prints.
func testTables(t *testing.T, s *site, c *chrome) {
	list, err := filepath.Glob("../../testdata/tables/*.b2*")
	if err != nil || len(list) < 50 {
		t.Fatal(list, err)
	}
	p := c.newPage(t, 1400, 900, nil)
	p.open(s.url)
	for _, file := range list {
		name := strings.TrimSuffix(filepath.Base(file), filepath.Ext(file)) + ".b2z"
		if strings.HasSuffix(file, ".b2d") {
			file = pack(t, file, filepath.Join(s.dir, "packed-"+name))
		}
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		n := p.pages()
		p.drop(name, b)
		got := p.rows(n)
		p.eval(element("rows")+".focus()", nil)
		for p.text(element("rows-next")+".ariaDisabled") != "true" {
			got = append(got, p.turn("PageDown")[1:]...)
		}
		checkTable(t, s, name, b, got)
		if n := p.text("document.querySelectorAll('#rows .fault').length"); n != "0" {
			t.Errorf("%s: %s cells with faults: %s", name, n, p.content("rows-text"))
		}
		if strings.HasPrefix(name, "wide1") || strings.Contains(name, "timestamp") {
			p.shot("rows-" + name + ".png")
		}
	}
}

// pack writes a store to a file, and returns its name.
func pack(t *testing.T, dir, name string) string {
	t.Helper()
	st, err := store.Open(t.Context(), dir, nil)
	if err == nil {
		err = errors.Join(st.Pack(t.Context(), name, nil), st.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	return name
}

// testObjects compares arrays of objects with what the command prints.
func testObjects(t *testing.T, s *site, c *chrome) {
	p := c.newPage(t, 1200, 800, nil)
	p.open(s.url)
	for _, name := range []string{"objects.b2b", "batches.b2b"} {
		b := fixture(t, "stores/"+name)
		n := p.pages()
		p.drop(name, b)
		var got []string
		for _, row := range p.rows(n)[1:] {
			got = append(got, row[1])
		}
		lines := strings.Split(strings.TrimSpace(string(s.printed(t, "objects", name, b))), "\n")
		for i, l := range lines {
			if name == "batches.b2b" { // a line for each batch
				lines[i] = strings.TrimSuffix(strings.TrimPrefix(l, "["), "]")
			}
		}
		if got, want := strings.Join(got, ", "), strings.Join(lines, ", "); got != want {
			t.Errorf("%s:\n%s\nwant\n%s", name, got, want)
		}
		p.shot("rows-" + name + ".png")
	}
	// Long items are shortened, and text is no HTML.
	o, err := objects.Create(t.Context(), filepath.Join(s.dir, "long.b2b"), objects.Objects, nil)
	if err == nil {
		err = errors.Join(o.Append(t.Context(), strings.Repeat("x", 5000), "<img src=x>", make([]int, 101)), o.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(filepath.Join(s.dir, "long.b2b"))
	if err != nil {
		t.Fatal(err)
	}
	n := p.pages()
	p.drop("long.b2b", b)
	got := p.rows(n)
	want := []string{`"` + strings.Repeat("x", 999) + "…", `"<img src=x>"`, "[" + strings.Repeat("0, ", 100) + "…]"}
	for i, text := range want {
		if got[i+1][1] != text {
			t.Errorf("item %d is %q, want %q", i, got[i+1][1], text)
		}
	}
}

// testSwitch changes between an array and an array of objects of a store, with keys.
func testSwitch(t *testing.T, s *site, c *chrome) {
	ctx := t.Context()
	a, err := ndarray.Create(ctx, "", []int64{20, 30}, noise(600), nil)
	if err != nil {
		t.Fatal(err)
	}
	o, err := objects.Create(ctx, "", objects.Objects, nil)
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(s.dir, "mixed.b2d")
	st, err := store.Create(ctx, dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(o.Append(ctx, "one", nil), st.Put(ctx, "/a", a.Frame()), st.Put(ctx, "/list", o.Frame()), st.Close()); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(pack(t, dir, filepath.Join(s.dir, "mixed.b2z")))
	if err != nil {
		t.Fatal(err)
	}
	p := c.newPage(t, 1200, 800, nil)
	p.open(s.url)
	p.drop("mixed.b2z", b)
	p.drawn()
	p.wait(element("tree") + ".childElementCount === 2")
	p.eval("document.querySelector('#tree [tabindex=\"0\"]').focus()", nil)
	for range 3 {
		n := p.pages()
		p.press("ArrowDown", "Enter")
		if got := p.rows(n); len(got) != 3 || got[1][1] != `"one"` || got[2][1] != "null" {
			t.Errorf("%v", got)
		}
		if got := p.text(element("stage") + ".hidden + ' ' + " + element("sheet") + ".hidden"); got != "true false" {
			t.Errorf("stage and sheet hidden: %s", got)
		}
		p.next(func() { p.press("ArrowUp", "Enter") })
		if got := p.text(element("stage") + ".hidden + ' ' + " + element("sheet") + ".hidden"); got != "false true" {
			t.Errorf("stage and sheet hidden: %s", got)
		}
	}
	if got := p.text(element("error") + ".hidden"); got != "true" {
		t.Errorf("error %s", p.content("error"))
	}
}

// testSheet turns the pages of a table on a server: only the columns and chunks of the page are read.
func testSheet(t *testing.T, s *site, c *chrome) {
	const rows, cols = 200_000, 20
	var columns []string
	for k := range cols {
		columns = append(columns, fmt.Sprintf(`{"name": "c%d", "kind": "float32"}`, k))
	}
	tab := tabletest.New(t, strings.Join(columns, ","), tabletest.AllLive(rows))
	data := noise(rows + cols)
	for k := range cols {
		a, err := ndarray.Create(t.Context(), tab.File(fmt.Sprintf("_cols/c%d.b2nd", k)), []int64{rows}, data[k:k+rows],
			&ndarray.CreateOptions{Chunks: []int64{20_000}, Blocks: []int64{5000}})
		if err != nil {
			t.Fatal(err)
		}
		a.Close()
	}
	b, err := os.ReadFile(pack(t, tab.Dir, filepath.Join(s.dir, "large.b2z")))
	if err != nil {
		t.Fatal(err)
	}
	url := s.put(t, "large.b2z", b)
	p := c.newPage(t, 1200, 800, nil)
	s.far.counts()
	p.open(s.url + "#url=" + url)
	check := func(got [][]string, first, col, n, wide int) {
		t.Helper()
		if len(got) != n+1 || len(got[0]) != wide+1 || got[1][0] != fmt.Sprint(first) || got[0][1] != fmt.Sprintf("c%d", col) {
			t.Fatalf("%d rows of %d from %s, column %s; want %d of %d from %d, column c%d", len(got)-1, len(got[0])-1, got[1][0], got[0][1], n, wide, first, col)
		}
		for i := range n {
			for k := range wide {
				if want := strconv.FormatFloat(float64(data[first+i+col+k]), 'g', -1, 32); got[i+1][k+1] != want {
					t.Fatalf("row %d, column %d is %s, want %s", first+i, col+k, got[i+1][k+1], want)
				}
			}
		}
	}
	check(p.rows(0), 0, 0, 40, 16)
	requests, read := s.far.counts()
	t.Logf("first page: %d requests, %d of %d bytes", requests, read, len(b))
	if read > int64(len(b))/3 {
		t.Errorf("the first page took %d of %d bytes", read, len(b))
	}
	p.eval("document.activeElement.blur()", nil)
	for i := 0; p.text("document.activeElement.id") != "rows"; i++ {
		if i == 40 {
			t.Fatal("the tab key does not reach the rows")
		}
		p.press("Tab")
	}
	check(p.turn("PageDown"), 40, 0, 40, 16)
	check(p.turn("End"), rows-40, 0, 40, 16)
	check(p.turn("ArrowRight"), rows-40, 16, 40, 4)
	p.wait("location.hash.includes('at=" + fmt.Sprint(rows-40) + ",16')")
	hash := p.text("location.hash")
	check(p.turn("PageUp"), rows-80, 16, 40, 4)
	check(p.turn("ArrowLeft"), rows-80, 0, 40, 16)
	check(p.turn("Home"), 0, 0, 40, 16)
	n := p.pages()
	p.choose("rows-go", "1234")
	check(p.rows(n), 1234, 0, 40, 16)
	n = p.pages()
	p.eval(element("rows-next")+".click()", nil)
	check(p.rows(n), 1274, 0, 40, 16)
	for query, want := range map[string]string{"#rows thead th[scope=col]": "17", "#rows tbody th[scope=row]": "40", "#rows-text[aria-live]": "1"} {
		if got := p.text("document.querySelectorAll('" + query + "').length"); got != want {
			t.Errorf("%s of %s, want %s", got, query, want)
		}
	}
	if got := p.content("rows-text"); got != "Rows 1\u202f274 to 1\u202f313 of 200\u202f000, columns 0 to 15 of 20." {
		t.Errorf("%q", got)
	}
	p.shot("rows-large.png")
	q := c.newPage(t, 1200, 800, nil)
	q.open(s.url + hash)
	check(q.rows(0), rows-40, 16, 40, 4)
}

// testChunks counts the requests of the chunk map of an array on a server with a latency of 50 ms.
func testChunks(t *testing.T, s *site, c *chrome) {
	// Items of 16 bytes have no picture, which would read the chunks.
	shape := []int64{2, 512, 512}
	data := make([]byte, 0, 2*512*512*16)
	for _, x := range noise(cap(data) / 4) {
		data = binary.LittleEndian.AppendUint32(data, math.Float32bits(x))
	}
	a, err := ndarray.CreateBytes(t.Context(), "", shape, "|S16", data, &ndarray.CreateOptions{Chunks: []int64{1, 32, 32}})
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if _, err := a.Save(t.Context(), &out); err != nil {
		t.Fatal(err)
	}
	url := s.put(t, "chunks.b2nd", out.Bytes())
	s.far.latency = 50 * time.Millisecond
	defer func() { s.far.latency = 0 }()
	p := c.newPage(t, 1200, 900, nil)
	p.open(s.url + "#at=1,0,0&url=" + url)
	p.wait(element("table") + ".querySelector('td.here')")
	s.far.counts()
	start := time.Now()
	p.eval(element("chunk-panel")+".open = true", nil)
	p.wait(element("chunks") + ".querySelectorAll('title').length == 256")
	requests, read := s.far.counts()
	t.Logf("the map of 256 chunks after %v: %d requests, %d bytes", time.Since(start).Round(time.Millisecond), requests, read)
	if requests > 6 {
		t.Errorf("%d requests for the chunk map, want at most 6", requests)
	}
	info, err := a.Frame().ChunkInfo(t.Context(), 256+17)
	if err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf("chunk %d: ", 256+17)
	got := p.text(element("chunks") + ".querySelectorAll('title')[17].textContent")
	if !strings.HasPrefix(got, want) || !strings.Contains(got, ", "+info.Codec.String()) && !info.Stored {
		t.Errorf("%q, want %q and %v", got, want, info.Codec)
	}
	p.shot("chunks.png")
}
