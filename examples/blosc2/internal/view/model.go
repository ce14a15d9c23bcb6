package view

import (
	"context"

	tea "charm.land/bubbletea/v2"
)

// A page is a kind of screen.
type page int

const (
	gridPage page = iota
	heatPage
	chunkPage
	infoPage
	treePage
	helpPage
)

// A model is the state of the viewer. Its methods return another model and do not change the one they have.
type model struct {
	ctx           context.Context
	tools         *Tools
	doc           *Document
	width, height int // of the terminal, in cells
	page, before  page
	pos           position // in doc.Array
	chunk         position // in doc.Grid
	list          list     // of the tree page
	text          list     // of the info and help pages
	heat          heatOptions
	prompt        *string // what is typed after :, or nil
	message       string  // in the last line, until the next key
	tree          *Document
	opening       int // number of the document that was asked for last

	// What is read. A load that has another number than the last one is out of date.
	number int
	cancel context.CancelFunc
	want   any // of the load that is under way: a region or a chunkWindow; nil if there is none
	failed any // load that failed; it is not repeated before the next key
	cells  *cells
	image  *image
	chunks *chunkWindow
}

// loaded is the message of a load.
type loaded struct {
	number int
	cells  *cells
	image  *image
	chunks *chunkWindow
	err    error
}

// opened is the message of a document that was opened.
type opened struct {
	number int
	doc    *Document
	err    error
}

// copied is the message of text that was read for the clipboard.
type copied struct {
	text  string
	items int
	err   error
}

// newModel returns the state at the beginning.
func newModel(ctx context.Context, tools *Tools, doc *Document, width, height int) model {
	m := model{ctx: ctx, tools: tools, width: width, height: height}
	if doc.Entries != nil {
		m.tree = doc
	}
	return m.show(doc)
}

// show shows a document.
func (m model) show(doc *Document) model {
	m = m.stop()
	m.doc, m.cells, m.image, m.chunks, m.text, m.heat = doc, nil, nil, nil, list{}, heatOptions{}
	m.chunk = origin(len(doc.Grid))
	switch {
	case doc.Array != nil:
		m.page, m.pos = gridPage, origin(len(doc.Array.Shape()))
	case doc.Entries != nil:
		m.page = treePage
	default:
		m.page = infoPage
	}
	return m
}

// Init implements tea.Model.
func (m model) Init() tea.Cmd { return nil }

// Update implements tea.Model.
func (m model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	var cmd tea.Cmd
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = msg.Width, msg.Height
		m = m.resized()
	case tea.KeyPressMsg:
		m.failed = nil
		m, cmd = m.key(msg)
	case tea.PasteMsg:
		if m.prompt != nil {
			m = m.typed(msg.Content)
		}
	case tea.MouseClickMsg:
		if msg.Button == tea.MouseLeft {
			m = m.click(msg.X, msg.Y)
		}
	case tea.MouseWheelMsg:
		m = m.wheel(msg)
	case loaded:
		if msg.number == m.number {
			m = m.take(msg)
		}
	case opened:
		if msg.number != m.opening { // another one was asked for
			cmd = closing(msg.doc)
			break
		}
		m.message = ""
		if m = m.stop(); msg.err != nil {
			m.message = clean(msg.err.Error())
		} else {
			m = m.show(msg.doc)
		}
	case copied:
		if m.message = clean(msg.report()); msg.err == nil {
			cmd = tea.SetClipboard(msg.text)
		}
	}
	m, load := m.load()
	return m, tea.Batch(cmd, load)
}

// resized scrolls so that the cursor is on the screen.
func (m model) resized() model {
	height := max(m.height-2, 1)
	m.list = m.list.move(0, len(m.doc.Entries), height)
	if m.doc.Array == nil {
		return m
	}
	m.pos = m.pos.scrollTo(m.rows(), 1<<62)
	return m.keepColumn()
}

// take accepts what a load has read.
func (m model) take(msg loaded) model {
	want := m.want
	m = m.stop()
	switch {
	case msg.err != nil:
		m.failed = want
		m.message = clean(msg.err.Error())
	case msg.cells != nil:
		m.cells = msg.cells
		m = m.keepColumn()
	case msg.image != nil:
		m.image = msg.image
	default:
		m.chunks = msg.chunks
	}
	return m
}

// stop ends the load that is under way.
func (m model) stop() model {
	if m.cancel != nil {
		m.cancel()
	}
	m.cancel, m.want = nil, nil
	m.number++
	return m
}

// load starts to read what is on the screen, unless it is there or under way. It ends what is under way otherwise.
func (m model) load() (model, tea.Cmd) {
	var want any
	var read func(ctx context.Context) loaded
	switch {
	case m.page == gridPage && m.rows() > 0:
		g := m.gridRegion()
		if m.cells == nil || !m.cells.equal(g) {
			want, read = g, m.readCells(g)
		}
	case m.page == heatPage && m.rows() > 0:
		g := m.heatRegion()
		if m.image == nil || !m.image.equal(g) {
			want, read = g, m.readImage(g)
		}
	case m.page == chunkPage && m.rows() > 0:
		w := m.chunkRegion()
		if m.chunks == nil || !m.chunks.equal(w) {
			want, read = w, m.readChunks(w)
		}
	}
	switch {
	case want == nil || sameWant(m.failed, want):
		if m.want != nil {
			m = m.stop()
		}
		return m, nil
	case sameWant(m.want, want):
		return m, nil
	}
	m = m.stop()
	ctx, cancel := context.WithCancel(m.ctx)
	m.cancel, m.want = cancel, want
	number := m.number
	return m, func() tea.Msg {
		defer cancel()
		msg := read(ctx)
		msg.number = number
		return msg
	}
}

// sameWant reports whether two loads read the same.
func sameWant(a, b any) bool {
	switch a := a.(type) {
	case region:
		g, ok := b.(region)
		return ok && a.equal(g)
	case chunkWindow:
		w, ok := b.(chunkWindow)
		return ok && a.equal(w)
	}
	return false
}

// rows returns the number of lines for rows: all but the header, the names of the columns and the status.
func (m model) rows() int64 { return int64(max(m.height-3, 0)) }
