package view

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"github.com/goblosc/blosc2/ndarray"
)

// TestJump goes to indexes and selections.
func TestJump(t *testing.T) {
	s := start(t, numbers(t, 5, 100, 40))
	s.goTo("2, 50, 30").at(2, 50, 30)
	s.golden("jump")
	s.goTo("-1, -1, -1").at(4, 99, 39)
	s.goTo("[1, 10:20, 5:8]").at(1, 10, 5)
	if top, left, bottom, right := s.m.pos.selected(); !s.m.pos.marked || top != 10 || left != 5 || bottom != 20 || right != 8 {
		t.Errorf("%+v", s.m.pos)
	}
	s.golden("jump_selection")
	s.goTo("1:3, 7, ...").at(1, 7, 0)
	if p := s.m.pos; p.row != 0 || p.col != 2 {
		t.Errorf("rows are axis %d, columns axis %d", p.row, p.col)
	}
	s.goTo("..., ::-2").at(0, 0, 1).goTo("").at(0, 0, 1)
	for text, want := range map[string]string{
		"5": "out of range", "1, 2, 3, 4": "the array has 3", "x": "column", "[1, 2]": "want integers and slices", "0, 3:3": "selects no items",
	} {
		if s.goTo(text).at(0, 0, 1); !strings.Contains(s.m.message, want) {
			t.Errorf("%s: %q, want %q", text, s.m.message, want)
		}
	}
	s.keys(":", "1", "2", "backspace", "esc").at(0, 0, 1)
	s.keys("g", "2")
	s.send(tea.PasteMsg{Content: ", 3\x1b[2J, 1"})
	if s.golden("prompt"); *s.m.prompt != "2, 3[2J, 1" {
		t.Errorf("%q", *s.m.prompt)
	}
	s.keys("backspace", "backspace", "backspace", "backspace", "backspace", "backspace", "enter").at(2, 3, 0)
}

// TestCorners compares the ends of slices with what NumPy selects: the first and last items of an arange.
func TestCorners(t *testing.T) {
	a := numbers(t, 9).Array
	for _, text := range []string{"0", "-9", ":", "3:", ":4", "-2:", ":-3", "2:100", "-100:2", "::-1", "7:2:-1", "-1:-4:-1", "100::-3", "::3", "1:9:7"} {
		sel, err := ndarray.ParseSelection(text)
		if err != nil {
			t.Fatal(err)
		}
		items, err := ndarray.Read[int32](t.Context(), a, sel...)
		if err != nil {
			t.Fatal(err)
		}
		first, last, single, err := corners(sel, a.Shape())
		if err != nil || single[0] == strings.Contains(text, ":") {
			t.Errorf("%s: %v, %v", text, single, err)
		}
		if first[0] != int64(slices.Min(items)) || last[0] != int64(slices.Max(items)) {
			t.Errorf("%s: %d to %d, want %d", text, first[0], last[0], items)
		}
	}
}

// copies sends a key and returns what is copied.
func (s *session) copies(key string) string {
	s.t.Helper()
	_, cmd := s.m.key(tea.KeyPressMsg{Code: rune(key[0]), Text: key})
	if cmd == nil {
		return ""
	}
	msg := cmd().(copied)
	s.send(msg)
	return msg.text
}

// TestCopy copies values and selections.
func TestCopy(t *testing.T) {
	s := start(t, numbers(t, 3, 6, 5))
	if got := s.copies("Y"); got != "0, 0:6, 0:5" {
		t.Errorf("%q", got)
	}
	if got := s.copies("y"); !strings.HasPrefix(got, "0\t1\t2\t3\t4\n5\t6") || strings.Count(got, "\n") != 6 {
		t.Errorf("%q", got)
	}
	s.keys("]", "down", "right", "v", "down", "left")
	if got := s.copies("y"); got != "35\t36\n40\t41\n" || s.m.message != "copied 4 items" {
		t.Errorf("%q, %s", got, s.m.message)
	}
	if got := s.copies("Y"); got != "1, 1:3, 0:2" {
		t.Errorf("%q", got)
	}
	s.keys("t")
	if s.keys("v", "right"); s.copies("y") != "40\t45\n" || s.copies("Y") != "1, 2:4, 0:1" {
		t.Errorf("exchanged: %q, %q", s.copies("y"), s.copies("Y"))
	}
	a, err := ndarray.Full(t.Context(), "", []int64{1 << 20, 1 << 20}, int32(1), nil)
	if err != nil {
		t.Fatal(err)
	}
	s = start(t, document(a))
	if s.goTo(":, :").keys("y"); !strings.Contains(s.m.message, "at most 10000 items") {
		t.Errorf("%q", s.m.message)
	}
}

// TestHeatMap draws planes with and without colors.
func TestHeatMap(t *testing.T) {
	s := start(t, numbers(t, 2, 100, 300))
	s.keys("m", "right", "down").at(0, 5, 4)
	s.golden("heat")
	s.keys("z", "z", "s")
	s.golden("heat_near")
	s.keys("Z", "Z", "Z", "s", "]", "enter").at(1, 5, 4)
	s.golden("heat_back")
	s = start(t, numbers(t, 2, 2))
	s.m.tools.Color = true
	s.keys("m", "down", "right").at(1, 1)
	s.golden("heat_colors")
	const black, third, two = "0;0;0", "85;85;85", "170;170;170"
	line := strings.Split(s.m.screen(), "\n")[1]
	if n := strings.Count(line, "38;2;"+black+";48;2;"+black+"m▀"); n != 21 { // 42 pixels for two items
		t.Errorf("%d black cells: %q", n, line)
	}
	if !strings.Contains(line, "38;2;"+third+";48;2;"+third) || !strings.Contains(s.m.screen(), "38;2;"+two+";48;2;"+two) {
		t.Errorf("%q", s.m.screen())
	}
	s.keys("p")
	if !strings.Contains(s.m.screen(), "38;2;255;0;0") {
		t.Error("the colors do not change")
	}
	a, err := ndarray.Full(t.Context(), "", []int64{2, 2}, ndarray.Float16(0), &ndarray.CreateOptions{DType: "S2"})
	if err == nil {
		s = start(t, document(a))
		if s.keys("m"); s.m.page != gridPage || s.m.message == "" {
			t.Errorf("a heat map of text: %q", s.m.message)
		}
	}
}

// TestChunkMap shows the chunks of arrays with one and three axes, with special values.
func TestChunkMap(t *testing.T) {
	a, err := ndarray.Full(t.Context(), "", []int64{3, 10, 18}, int32(7), &ndarray.CreateOptions{Chunks: []int64{4, 4, 4}})
	if err == nil {
		err = ndarray.Fill(t.Context(), a, int32(0), ndarray.All, ndarray.Span(0, 4), ndarray.Span(4, 12))
	}
	if err == nil {
		err = ndarray.Write(t.Context(), a, []int32{1, 5, 2}, ndarray.At(0), ndarray.At(5), ndarray.Span(9, 12))
	}
	if err != nil {
		t.Fatal(err)
	}
	s := start(t, document(a))
	s.goTo("0, 5, 9").keys("c")
	s.golden("chunks")
	s.keys("right").at(0, 4, 12)
	s.keys("down", "left", "left").at(0, 8, 4)
	s.keys("enter")
	s.golden("chunks_back")
	s = start(t, numbers(t, 1000))
	s.keys("c", "down", "right").at(81 * 4)
	s.golden("chunks_1")
	doc := numbers(t, 1000)
	doc.Chunk, doc.Array = nil, nil
	s = start(t, doc)
	if s.keys("m", "y", "v", "down"); s.m.page != infoPage {
		t.Errorf("page %d", s.m.page)
	}
}

// store returns a store with two arrays and an entry that cannot be opened.
func store(t *testing.T, closed map[string]int) (*Document, *Tools) {
	tools := testTools()
	tools.Open = func(_ context.Context, path string) (*Document, error) {
		if path == "s/bad" {
			return nil, errors.New("bad\x1b[2J")
		}
		doc := numbers(t, 3, 4)
		doc.Close = func() { closed[path]++ }
		return doc, nil
	}
	doc := &Document{Path: "s", Entries: []Entry{{"/one", "array (3, 4)", "s/one"}, {"/t\x1b[2Jwo", "array", "s/two"}, {"/bad", "", "s/bad"}, {"/none", "group", ""}}}
	doc.Close = func() { closed["s"]++ }
	return doc, tools
}

// TestTree opens the leaves of a store, and goes back.
func TestTree(t *testing.T) {
	closed := map[string]int{}
	doc, tools := store(t, closed)
	s := &session{t, newModel(t.Context(), tools, doc, 80, 24)}
	s.keys("down")
	s.golden("tree")
	s.keys("enter", "down").at(1, 0)
	s.golden("tree_open")
	s.keys("m", "i", "?", "b", "b", "b")
	if s.m.page != treePage || s.m.list.at != 1 || closed["s/two"] != 1 {
		t.Errorf("page %d, line %d, closed %v", s.m.page, s.m.list.at, closed)
	}
	if s.keys("down", "enter"); s.m.page != treePage || s.m.message != `bad\x1b[2J` {
		t.Errorf("page %d, %q", s.m.page, s.m.message)
	}
	s.keys("end", "enter", "i", "c", "m", "y", "backspace", "home", "enter").at(0, 0)
	if closed["s"] != 0 || len(closed) != 1 {
		t.Errorf("closed %v", closed)
	}
}

// TestOpenTwice asks for a leaf twice before the first one is open, as a slow server lets a user do: the one that came
// first is closed.
func TestOpenTwice(t *testing.T) {
	closed := map[string]int{}
	doc, tools := store(t, closed)
	s := &session{t, newModel(t.Context(), tools, doc, 80, 24)}
	enter := tea.KeyPressMsg{Code: tea.KeyEnter}
	next, one := s.m.Update(enter)
	next, _ = next.Update(tea.KeyPressMsg{Code: tea.KeyDown})
	next, two := next.Update(enter)
	s.m = next.(model)
	s.send(one())
	if s.m.page != treePage || closed["s/one"] != 1 {
		t.Errorf("page %d, closed %v", s.m.page, closed)
	}
	s.send(two())
	if s.m.page != gridPage || closed["s/two"] != 0 {
		t.Errorf("page %d, closed %v", s.m.page, closed)
	}
}

// TestText shows metadata and help, which scroll.
func TestText(t *testing.T) {
	s := start(t, numbers(t, 9, 9))
	s.keys("i")
	s.golden("info")
	s.keys("i", "?")
	s.golden("help")
	s.keys("end")
	s.golden("help_end")
	if s.keys("home", "esc"); s.m.page != gridPage {
		t.Errorf("page %d", s.m.page)
	}
	for _, line := range strings.Split(helpText, "\n") {
		if len(line) > 80 {
			t.Errorf("%q does not fit on the screen", line)
		}
	}
}

// TestMouse moves with the mouse.
func TestMouse(t *testing.T) {
	s := start(t, numbers(t, 100, 100))
	click := func(x, y int) { s.send(tea.MouseClickMsg{X: x, Y: y, Button: tea.MouseLeft}) }
	click(9, 7)
	s.at(5, 1)
	click(0, 8)
	s.at(6, 1)
	for range 3 {
		s.send(tea.MouseWheelMsg{Button: tea.MouseWheelDown})
	}
	if s.at(9, 1); s.m.pos.top != 9 {
		t.Errorf("top %d", s.m.pos.top)
	}
	s.send(tea.MouseWheelMsg{Button: tea.MouseWheelDown, Mod: tea.ModShift})
	s.send(tea.MouseWheelMsg{Button: tea.MouseWheelUp})
	if s.at(9, 3); s.m.pos.top != 6 || s.m.pos.left != 3 {
		t.Errorf("%+v", s.m.pos)
	}
	for _, p := range []string{"m", "c", "i", "?"} {
		s.keys(p)
		for _, at := range [][2]int{{0, 0}, {3, 1}, {79, 23}, {200, 200}, {10, 3}} {
			click(at[0], at[1])
		}
		if p == "m" {
			s.at(10, 20)
		}
		if p == "c" {
			s.at(8, 40)
		}
		s.send(tea.MouseWheelMsg{Button: tea.MouseWheelDown})
		s.keys(p)
	}
}
