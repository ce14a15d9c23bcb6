package main

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// progressOption is the option of verbs that may take long.
type progressOption struct {
	Progress bool `help:"show progress on standard error even if it is not a terminal; on a terminal it appears after a second"`
}

const (
	progressDelay = time.Second            // before progress appears
	progressEvery = 100 * time.Millisecond // between two updates on a terminal
)

// progress shows how far a verb is, with the rate and the remaining time. A nil *progress shows nothing.
type progress struct {
	done  atomic.Int64
	total atomic.Int64 // 0 if it is unknown
	stop  chan struct{}
	ended sync.Once
	shown sync.WaitGroup
	look  atomic.Pointer[func() int64] // returns the number of bytes that are done, unless nil

	inMemory atomic.Int64 // bytes of done that were read from memory, which the operating system does not count
	before   int64        // bytes or steps that were done before the total was known; set by show
}

// startProgress starts the progress of a verb that counts what: "bytes", or steps. It shows nothing for a verb whose
// standard error is no terminal, unless the option is set.
func (e *env) startProgress(o progressOption, what string, total int64) *progress {
	f, isFile := e.err.(*os.File)
	terminal := isFile && term.IsTerminal(int(f.Fd()))
	if !o.Progress && !terminal {
		return nil
	}
	p := &progress{stop: make(chan struct{})}
	p.total.Store(total)
	delay, every := progressDelay, progressEvery
	if o.Progress {
		delay = 0
	}
	if !terminal {
		every = progressDelay
	}
	p.shown.Go(func() { p.show(e.err, terminal, what, delay, every) })
	return p
}

// show prints the progress until it ends.
func (p *progress) show(w io.Writer, terminal bool, what string, delay, every time.Duration) {
	wait := time.NewTimer(max(delay, every)) // by then the total is known, if it ever is
	defer wait.Stop()
	bar := newBar(w, terminal, what)
	known := false // whether bar has a total
	for visible := false; ; visible = true {
		ended := false
		select {
		case <-p.stop:
			ended = true
		case <-wait.C:
		}
		if ended && !visible && delay > 0 {
			return
		}
		p.update()
		switch hasTotal := p.total.Load() > 0; {
		case !hasTotal || known:
		case !visible:
			known = true
		case !ended: // a bar that has counted without a total shows a wrong percentage
			if terminal {
				bar.Clear()
			}
			bar, known, p.before = newBar(w, terminal, what), true, p.done.Load()
		}
		if known {
			p.draw(bar, ended && !terminal)
		} else {
			bar.Set64(p.done.Load())
		}
		if !terminal {
			fmt.Fprintln(w)
		} else if ended {
			bar.Clear()
		}
		if ended {
			return
		}
		wait.Reset(every)
	}
}

// newBar returns a bar that counts from now on.
func newBar(w io.Writer, terminal bool, what string) *progressbar.ProgressBar {
	options := []progressbar.Option{
		progressbar.OptionSetWriter(w), progressbar.OptionSetWidth(20), progressbar.OptionSetPredictTime(true), progressbar.OptionUseANSICodes(terminal),
		progressbar.OptionSetElapsedTime(true), progressbar.OptionShowElapsedTimeOnFinish(), progressbar.OptionSpinnerType(14), progressbar.OptionSetSpinnerChangeInterval(0),
		progressbar.OptionSetTheme(progressbar.Theme{Saucer: "█", SaucerPadding: " ", BarStart: "[", BarEnd: "]"}),
	}
	if what == "bytes" {
		options = append(options, progressbar.OptionShowBytes(true), progressbar.OptionShowCount(), progressbar.OptionShowTotalBytes(true))
	} else {
		options = append(options, progressbar.OptionShowCount(), progressbar.OptionShowIts(), progressbar.OptionSetItsString(what))
	}
	bar := progressbar.NewOptions64(-1, options...)
	bar.StartWithoutRender()
	return bar
}

// update finds out how much is done.
func (p *progress) update() {
	if look := p.look.Load(); look != nil {
		p.done.Store(max(p.done.Load(), (*look)()))
	}
}

// draw prints the bar, whose total is known. It is full only the last time.
func (p *progress) draw(bar *progressbar.ProgressBar, last bool) {
	total := max(p.total.Load()-p.before, 1)
	if bar.GetMax64() != total {
		bar.ChangeMax64(total)
	}
	most := total // some bytes are read more than once
	if !last {
		most-- // a full bar ends
	}
	bar.Set64(min(p.done.Load()-p.before, most))
}

// add notes that n steps or bytes are done.
func (p *progress) add(n int64) {
	if p != nil {
		p.done.Add(n)
	}
}

// expect adds to the number of steps or bytes that there are.
func (p *progress) expect(n int64) {
	if p != nil {
		p.total.Add(n)
	}
}

// growing is a file or directory that the library writes under a temporary name.
type growing struct {
	path string
	old  []string // temporary names that exist already
}

// follow makes the size of the temporary files of path the number of bytes that are done. At the end it is about total.
func (p *progress) follow(path string, total int64) {
	if p != nil {
		old, _ := leftovers(path) // without them, the progress begins too high
		p.expect(total)
		size := (&growing{path, old}).size
		p.look.Store(&size)
	}
}

// followReads makes the number of bytes that the process has read the number of bytes that are done. A verb reads total
// bytes more; 0 = unknown. On operating systems that do not count them, it does nothing.
func (p *progress) followReads(total int64) {
	if p == nil {
		return
	}
	before, ok := readBytes()
	if !ok {
		return
	}
	p.expect(total)
	before -= p.done.Load() - p.inMemory.Load()
	look := func() int64 {
		now, _ := readBytes()
		return now - before + p.inMemory.Load()
	}
	p.look.CompareAndSwap(nil, &look) // the first one counts what follows, too
}

// finish notes that everything is done. The file has its name then.
func (p *progress) finish() {
	if p != nil {
		p.look.Store(nil)
		p.done.Store(p.total.Load())
	}
}

// size returns the number of bytes of the temporary files.
func (g *growing) size() (n int64) {
	found, _ := leftovers(g.path) // the verb reports what is wrong with the path
	for _, name := range found {
		if slices.Contains(g.old, name) {
			continue
		}
		n += storedSize(name)
	}
	return n
}

// storedSize returns the number of bytes of a file or of the files in a directory. It leaves out what it cannot read.
func storedSize(path string) (n int64) {
	filepath.WalkDir(path, func(_ string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			if fi, err := d.Info(); err == nil {
				n += fi.Size()
			}
		}
		return nil
	})
	return n
}

// remains sets the number of steps or bytes that are left.
func (p *progress) remains(n int64) {
	if p != nil {
		p.total.Store(p.done.Load() + n)
	}
}

// end removes the progress from a terminal.
func (p *progress) end() {
	if p != nil {
		p.ended.Do(func() { close(p.stop) })
		p.shown.Wait()
	}
}

// countingReader counts the bytes that are read.
type countingReader struct {
	io.Reader
	p *progress
}

// Read implements io.Reader.
func (c countingReader) Read(b []byte) (int, error) {
	n, err := c.Reader.Read(b)
	c.p.add(int64(n))
	return n, err
}

// countingWriter counts the bytes that are written.
type countingWriter struct {
	io.Writer
	p *progress
}

// Write implements io.Writer.
func (c countingWriter) Write(b []byte) (int, error) {
	n, err := c.Writer.Write(b)
	c.p.add(int64(n))
	return n, err
}

// count starts the progress of a verb that reads files, counts the bytes that are read, and returns a function that
// ends it.
func (e *env) count(o progressOption) (end func()) {
	e.track = e.startProgress(o, "bytes", 0)
	return e.track.end
}

// writer returns a writer to w that counts the bytes.
func (p *progress) writer(w io.Writer) io.Writer {
	if p == nil {
		return w
	}
	return countingWriter{w, p}
}
