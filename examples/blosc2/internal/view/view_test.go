package view

import (
	"context"
	"flag"
	"fmt"
	"image/color"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/meta"
	"github.com/goblosc/blosc2/ndarray"
)

var update = flag.Bool("update", false, "write the files of testdata")

// testTools are simple tools for arrays of int32 and of text.
func testTools() *Tools {
	text := func(d meta.DType, b []byte) string {
		if d.Kind == 'S' {
			return strings.TrimRight(string(b), "\x00")
		}
		return fmt.Sprint(number(d, b))
	}
	return &Tools{
		Item: text, Number: number, IsReal: func(d meta.DType) bool { return d.Kind == 'i' },
		Aligned: func(d meta.DType, b []byte) []string {
			var texts []string
			for item := range slices.Chunk(b, d.Size) {
				texts = append(texts, text(d, item))
			}
			return texts
		},
		Palettes: []Palette{{"gray", gray}, {"red", func(float64) color.NRGBA { return color.NRGBA{255, 0, 0, 255} }}},
	}
}

func number(_ meta.DType, b []byte) float64 {
	return float64(int32(uint32(b[0]) | uint32(b[1])<<8 | uint32(b[2])<<16 | uint32(b[3])<<24))
}

func gray(x float64) color.NRGBA {
	v := uint8(math.Round(255 * x))
	return color.NRGBA{v, v, v, 255}
}

// numbers returns an array of a shape with items 0, 1 and so on.
func numbers(t *testing.T, shape ...int64) *Document {
	t.Helper()
	n := int64(1)
	for _, length := range shape {
		n *= length
	}
	data := make([]int32, n)
	for i := range data {
		data[i] = int32(i)
	}
	a, err := ndarray.Create(t.Context(), "", shape, data, &ndarray.CreateOptions{Chunks: slices.Repeat([]int64{4}, len(shape))})
	if err != nil {
		t.Fatal(err)
	}
	return document(a)
}

// document returns an array as a document.
func document(a *ndarray.Array) *Document {
	doc := &Document{Path: "dir/a.b2nd", Array: a, Info: [][2]string{{"kind", "array"}, {"note", strings.Repeat("long ", 40)}}, Chunks: a.Chunks(), Close: func() { a.Close() }}
	for axis, n := range a.Shape() {
		doc.Grid = append(doc.Grid, (n+doc.Chunks[axis]-1)/doc.Chunks[axis])
	}
	doc.Chunk = func(ctx context.Context, n int) (frame.ChunkInfo, error) { return a.Frame().ChunkInfo(ctx, n) }
	return doc
}

// A session is a model that gets messages, and runs the commands it returns.
type session struct {
	t *testing.T
	m model
}

// start returns a session in a terminal of 80x24, which has read the first screen.
func start(t *testing.T, doc *Document) *session {
	t.Helper()
	s := &session{t, newModel(t.Context(), testTools(), doc, 80, 24)}
	s.send(tea.WindowSizeMsg{Width: 80, Height: 24})
	return s
}

// send sends a message, and those of the commands that follow.
func (s *session) send(msg tea.Msg) {
	s.t.Helper()
	for range 50 {
		next, cmd := s.m.Update(msg)
		s.m = next.(model)
		if cmd == nil {
			return
		}
		if msg = cmd(); msg == nil {
			return
		}
		switch msg.(type) {
		case loaded, opened, copied:
		default:
			return
		}
	}
	s.t.Fatal("the commands do not end")
}

// named are the keys whose names have more than one letter.
var named = map[string]tea.KeyPressMsg{
	"up": {Code: tea.KeyUp}, "down": {Code: tea.KeyDown}, "left": {Code: tea.KeyLeft}, "right": {Code: tea.KeyRight},
	"pgup": {Code: tea.KeyPgUp}, "pgdown": {Code: tea.KeyPgDown}, "home": {Code: tea.KeyHome}, "end": {Code: tea.KeyEnd},
	"tab": {Code: tea.KeyTab}, "shift+tab": {Code: tea.KeyTab, Mod: tea.ModShift}, "enter": {Code: tea.KeyEnter}, "esc": {Code: tea.KeyEscape},
	"backspace": {Code: tea.KeyBackspace}, "space": {Code: ' ', Text: " "},
}

// keys sends keys by name.
func (s *session) keys(names ...string) *session {
	s.t.Helper()
	for _, name := range names {
		msg, ok := named[name]
		if !ok {
			msg = tea.KeyPressMsg{Code: []rune(name)[0], Text: name}
		}
		s.send(msg)
	}
	return s
}

// goTo types a selection after a colon.
func (s *session) goTo(text string) *session {
	s.t.Helper()
	return s.keys(":").keys(strings.Split(text, "")...).keys("enter")
}

// golden compares the screen with a file of testdata.
func (s *session) golden(name string) {
	s.t.Helper()
	screen := s.m.screen()
	lines := strings.Split(ansi.Strip(screen), "\n")
	if len(lines) != s.m.height {
		s.t.Errorf("%s: %d lines", name, len(lines))
	}
	for i, line := range lines {
		if w := ansi.StringWidth(line); w > s.m.width {
			s.t.Errorf("%s: line %d has %d cells: %q", name, i, w, line)
		}
		lines[i] = strings.TrimRight(line, " ")
	}
	got := strings.Join(lines, "\n") + "\n"
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o666); err != nil {
			s.t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		s.t.Fatal(err)
	}
	if got != string(want) {
		s.t.Errorf("%s: got\n%swant\n%s", name, got, want)
	}
}

// at checks the cursor.
func (s *session) at(want ...int64) *session {
	s.t.Helper()
	if !slices.Equal(s.m.pos.at, want) {
		s.t.Errorf("the cursor is at %d, want %d", s.m.pos.at, want)
	}
	return s
}

// TestGrid moves through an array of three axes.
func TestGrid(t *testing.T) {
	s := start(t, numbers(t, 5, 100, 40))
	s.golden("grid")
	s.keys("down", "right", "right").at(0, 1, 2)
	s.keys("]", "]").at(2, 1, 2).keys("[").at(1, 1, 2)
	s.keys("pgdown").at(1, 22, 2).keys("pgdown").at(1, 43, 2)
	s.golden("grid_page")
	s.keys("end").at(1, 43, 39)
	s.golden("grid_end")
	s.keys("home", "}").at(1, 99, 0).keys("down").at(1, 99, 0).keys("{", "up").at(1, 0, 0)
	s.keys("pgup").at(1, 0, 0).keys(">").at(1, 0, 15).keys("<").at(1, 0, 0)
	s.golden("grid_other")
}

// TestAxes puts each pair of axes on the screen, and exchanges them.
func TestAxes(t *testing.T) {
	s := start(t, numbers(t, 3, 4, 5))
	var pairs [][2]int
	for range 4 {
		pairs = append(pairs, [2]int{s.m.pos.row, s.m.pos.col})
		s.keys("tab")
	}
	if want := [][2]int{{1, 2}, {0, 1}, {0, 2}, {1, 2}}; !slices.Equal(pairs, want) {
		t.Errorf("pairs %v, want %v", pairs, want)
	}
	s.keys("shift+tab", "t")
	if p := s.m.pos; p.row != 2 || p.col != 1 || p.other != 0 {
		t.Errorf("%+v", p)
	}
	s.keys("]", "down", "right").at(1, 1, 1)
	s.golden("axes_exchanged")
}

// TestFewAxes shows arrays with no and one axis, without items, and with long text.
func TestFewAxes(t *testing.T) {
	s := start(t, numbers(t))
	s.keys("down", "right", "tab", "t", "]", "c", "c", "m", "m")
	s.golden("axes_0")
	s = start(t, numbers(t, 50))
	s.keys("down", "pgdown").at(22)
	s.golden("axes_1")
	s.keys("tab", "right").at(23)
	s.golden("axes_1_across")
	start(t, numbers(t, 3, 0)).keys("down", "m", "c", "y", "tab").golden("empty")
	a, err := ndarray.CreateBytes(t.Context(), "", []int64{2, 3}, "S100", slices.Concat(fill("x", 100), fill("a\x1b[31mb\u202e\xff\n", 100), fill("y", 400)), nil)
	if err != nil {
		t.Fatal(err)
	}
	s = start(t, document(a))
	s.keys("right")
	s.golden("text")
	if strings.Contains(s.m.screen(), "\x1b[31m") {
		t.Error("an item controls the terminal")
	}
}

// fill returns text padded with zeros.
func fill(text string, n int) []byte { return append([]byte(text), make([]byte, n-len(text))...) }

// TestResize shows the same place in terminals of all sizes: the cursor stays on the screen.
func TestResize(t *testing.T) {
	s := start(t, numbers(t, 50, 50, 50))
	s.keys("end", "}")
	for _, size := range [][2]int{{80, 24}, {200, 60}, {40, 10}, {10, 4}, {3, 2}, {0, 0}, {80, 5}, {21, 100}} {
		for _, page := range []string{"", "m", "c", "i", "?"} {
			if page != "" {
				s.keys(page)
			}
			s.send(tea.WindowSizeMsg{Width: size[0], Height: size[1]})
			for i, line := range strings.Split(s.m.screen(), "\n") {
				if w := ansi.StringWidth(line); w > size[0] || i >= max(size[1], 1) {
					t.Errorf("%v page %q: line %d has %d cells", size, page, i, w)
				}
			}
			if page == "" && size[1] >= 4 && size[0] >= 10 && s.m.valueAtCursor() == "" {
				t.Errorf("%v: the cursor is not on the screen", size)
			}
			if page == "" && size[1] >= 4 && size[0] >= 20 && !strings.Contains(s.m.screen(), "\x1b[7m") {
				t.Errorf("%v: no cursor", size)
			}
			if page != "" {
				s.keys(page)
			}
		}
	}
}

// TestOnlyTheScreenIsRead counts the items that are read of an array of 1 TB, whose reads end when the user moves on.
func TestOnlyTheScreenIsRead(t *testing.T) {
	a, err := ndarray.Full(t.Context(), "", []int64{500_000, 500_000}, int32(7), nil)
	if err != nil {
		t.Fatal(err)
	}
	doc := document(a)
	r := &counter{Reader: a}
	doc.Array = r
	s := start(t, doc)
	if s.keys("pgdown", "end", "}").at(499_999, 499_999); r.bytes > 4*21*30*4 {
		t.Errorf("4 screens took %d bytes", r.bytes)
	}
	s.golden("huge")
	s.m.pos = origin(2)
	next, first := s.m.load()
	s.m = next
	next2, second := s.m.Update(tea.KeyPressMsg{Code: tea.KeyPgDown})
	s.m = next2.(model)
	if first == nil || second == nil {
		t.Fatal("no loads")
	}
	if msg := first().(loaded); msg.err == nil {
		t.Error("the first load was not canceled")
	} else if next, _ := s.m.Update(msg); next.(model).message != "" {
		t.Error("a load out of date is shown")
	}
}

// counter counts the bytes that are read, and refuses a canceled context.
type counter struct {
	ndarray.Reader
	bytes int
}

func (c *counter) ReadBytes(ctx context.Context, dst []byte, sel ...ndarray.Index) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	c.bytes += len(dst)
	return c.Reader.ReadBytes(ctx, dst, sel...)
}

// failing returns an error for each read.
type failing struct {
	ndarray.Reader
	reads int
}

func (f *failing) ReadBytes(context.Context, []byte, ...ndarray.Index) error {
	f.reads++
	return fmt.Errorf("damaged\x1b[2J")
}

// TestReadFails shows an error once, and tries again with the next key.
func TestReadFails(t *testing.T) {
	doc := numbers(t, 30, 30)
	f := &failing{Reader: doc.Array}
	doc.Array = f
	s := start(t, doc)
	if s.m.message != `damaged\x1b[2J` || f.reads != 1 {
		t.Errorf("%q after %d reads", s.m.message, f.reads)
	}
	if s.keys("down"); f.reads != 2 {
		t.Errorf("%d reads", f.reads)
	}
}

// TestSlowReads presses keys while reads take long. Only the last one is shown, with the cursor on the screen.
func TestSlowReads(t *testing.T) {
	s := start(t, numbers(t, 50, 200))
	var last tea.Cmd
	for i := range 60 {
		next, cmd := s.m.Update(named[[]string{"right", "down", "right"}[i%3]])
		if s.m = next.(model); cmd != nil {
			last = cmd
		}
	}
	s.at(20, 40)
	s.send(last())
	if s.m.valueAtCursor() != "4040" || !strings.Contains(s.m.screen(), "\x1b[7m4040\x1b[m") {
		t.Errorf("%s", s.m.screen())
	}
}

// TestLargeItems reads a few of the items on the screen if they are large: always the one at the cursor.
func TestLargeItems(t *testing.T) {
	a, err := ndarray.Zeros(t.Context(), "", []int64{40, 3}, "S3000000", nil)
	if err != nil {
		t.Fatal(err)
	}
	r := &counter{Reader: a}
	doc := document(a)
	doc.Array = r
	s := start(t, doc)
	for range 30 {
		s.keys("down")
		if c := s.m.current(); c == nil || !c.has(s.m.pos.at[0], 0) || len(c.data) > maxGridBytes {
			t.Fatalf("%v: the item at the cursor was not read", s.m.pos.at)
		}
	}
	s.keys("right", "right").at(30, 2)
	if c := s.m.current(); !c.has(30, 2) {
		t.Error("the item at the cursor was not read")
	}
}
