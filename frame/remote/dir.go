package remote

import (
	"cmp"
	"container/list"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/goblosc/blosc2/internal/errs"
	"github.com/goblosc/blosc2/internal/ranges"
	"github.com/goblosc/blosc2/internal/task"
)

// A Dir is an open sparse frame on a server: an object for its index, chunks.b2frame, and one for each chunk, such as
// 0000001A.chunk. It is a frame.Source. A Dir is safe for concurrent use. Goroutines that read the same bytes at the
// same time receive them once.
//
// Reads return bytes of the version of the index that OpenDir found, and of each chunk in the version in which it was
// first read. If one of them was replaced, the next read that needs a request for it returns ErrChanged, and so do all
// reads of chunks after it. A chunk that was replaced before its first read is noticed only if it does not fit the
// index or its checksum: see Refresh.
type Dir struct {
	index  *Object
	o      Options // of the chunks
	client func(name string) *client

	mu    sync.Mutex
	err   error // of all reads from now on: closed or changed
	whole int64 // estimate of the bytes of a chunk sent in place of a range: see noteWhole; 0 = chunks are not sent so
	files map[int64]*dirFile
	idle  list.List // of *dirFile that have an Object and no users; the front was used last
}

// The offsets of the objects of a Dir. The file of a chunk has less than 2 GiB.
const (
	fileBits  = 31
	maxFile   = 1<<(63-fileBits) - 2
	mostIdle  = 1024 // objects of chunks that are not in use
	indexName = "chunks.b2frame"
)

// OpenDir opens the sparse frame in the directory at a URL, such as https://example.org/a.b2nd/. A query of the URL is
// sent with each request. OpenDir opens the index as Open opens an object. Later, a chunk that is read as a whole takes
// one request. The first read of a part of any other chunk takes one request, too. Options.Small applies to the index.
// OpenDir returns ErrParam if Options.Multipart is set. All other options, such as Requests and Cache, are for the
// directory as a whole.
//
// The context is not used after OpenDir has returned. Errors are those of Open.
func OpenDir(ctx context.Context, url string, o *Options) (*Dir, error) {
	opts, err := o.completeDir()
	if err != nil {
		return nil, err
	}
	opts.fit(thisPlatform)
	base, err := newClient(url, &opts)
	if err != nil {
		return nil, err
	}
	return openDir(ctx, opts, func(name string) *client {
		u := inDir(base.url, name)
		return &client{url: u, name: public(u), key: u.String(), http: base.http, own: base.own && name == indexName}
	})
}

// inDir returns the URL of a file in the directory at u.
func inDir(u *url.URL, name string) *url.URL {
	file := *u
	file.Path = strings.TrimSuffix(file.Path, "/") + "/" + name
	if file.RawPath != "" {
		file.RawPath = strings.TrimSuffix(file.RawPath, "/") + "/" + name
	}
	return &file
}

// OpenDirGetter opens the sparse frame whose objects get reads, as OpenGetter opens an object: get returns the Getter
// of the object with a name in the directory, such as "chunks.b2frame" or "00000000.chunk". The Dir closes those that
// are an io.Closer, and OpenDirGetter does if it returns an error. name is the name of the directory in messages. See
// OpenDir and OpenGetter for the options.
func OpenDirGetter(ctx context.Context, name string, get func(object string) Getter, o *Options) (*Dir, error) {
	if o != nil && (o.Client != nil || o.Header != nil || o.MaxWhole != 0) {
		return nil, fmt.Errorf("options Client, Header and MaxWhole need a URL: %w", ErrParam)
	}
	opts, err := o.completeDir()
	if err != nil {
		return nil, err
	}
	return openDir(ctx, opts, func(object string) *client {
		full := strings.TrimSuffix(name, "/") + "/" + object
		return &client{name: full, key: full, getter: get(object)}
	})
}

// completeDir is complete for a directory.
func (o *Options) completeDir() (Options, error) {
	if o != nil && o.Multipart {
		return Options{}, fmt.Errorf("option Multipart is for a single object: %w", ErrParam)
	}
	return o.complete()
}

// openDir opens the index of a directory.
func openDir(ctx context.Context, opts Options, newClient func(name string) *client) (*Dir, error) {
	index := newClient(indexName)
	key := cmp.Or(opts.Key, strings.TrimSuffix(index.key, indexName))
	opts.Key = ""
	if opts.Dir != "" {
		opts.Key = key + indexName
	}
	closer, _ := index.getter.(io.Closer)
	obj, err := openClient(ctx, index, opts)
	if err != nil {
		if closer != nil {
			closer.Close()
		}
		return nil, err
	}
	obj.closer = closer
	if obj.Size() >= 1<<fileBits {
		obj.Close()
		return nil, &Error{URL: index.name, Err: unsupported("an index of %d bytes, want less than 2 GiB", obj.Size())}
	}
	d := &Dir{index: obj, o: opts, files: map[int64]*dirFile{}}
	if obj.whole {
		d.whole = -max(opts.MaxWhole, 0) // until a chunk is known
	}
	// A chunk in the cache on disk belongs to a version of the index: with a new index, the chunks may be new, too.
	key = fmt.Sprintf("%s\x00%q %q %d\x00", key, obj.id.ETag, obj.id.Modified, obj.id.Size)
	bodies := &turns{}
	d.client = func(name string) *client {
		c := newClient(name)
		c.slots, c.costs, c.turns, c.key = index.slots, index.costs, bodies, key+name
		return c
	}
	return d, nil
}

// Size returns the size of the index in bytes.
func (d *Dir) Size() int64 { return d.index.Size() }

// Version returns the version of the index: see [Object.Version].
func (d *Dir) Version() string { return d.index.Version() }

// String returns the URL of the directory without the password and the query.
func (d *Dir) String() string { return strings.TrimSuffix(d.index.String(), indexName) }

// Gap returns the size in bytes of the largest gap between two ranges that ReadRanges reads with one request: see
// [Object.Gap].
func (d *Dir) Gap() int64 { return d.index.Gap() }

// RoundTripBytes returns how many bytes arrive in the time of a round trip: see [Object.RoundTripBytes].
func (d *Dir) RoundTripBytes() int64 { return d.index.RoundTripBytes() }

// Refresh asks the server whether the index is still the version that was opened: see [Object.Refresh].
func (d *Dir) Refresh(ctx context.Context) error {
	err := d.failed(task.Context(ctx))
	if err == nil {
		err = d.index.Refresh(ctx)
		d.noteChanged(err)
	}
	return err
}

// ChunkOffset returns the offset of chunk file n, or -1 if there is none with that number. The index is at offset 0.
func (d *Dir) ChunkOffset(n int64) int64 {
	if n < 0 || n > maxFile {
		return -1
	}
	return (n + 1) << fileBits
}

// Close cancels all reads, which return fs.ErrClosed, and waits until no goroutine works for the Dir any more. A second
// Close does nothing.
func (d *Dir) Close() error {
	d.mu.Lock()
	was := d.err
	d.err = errs.ErrClosed
	var open []*Object
	for _, f := range d.files {
		if f.obj != nil {
			open = append(open, f.obj)
		}
	}
	d.mu.Unlock()
	if errors.Is(was, errs.ErrClosed) {
		return nil
	}
	var err error
	for _, obj := range open {
		err = cmp.Or(err, obj.Close())
	}
	return cmp.Or(err, d.index.Close())
}

// failed returns the error of all reads, or nil.
func (d *Dir) failed(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := d.index.failed(ctx); err != nil { // a check in the background has found a new index
		d.noteChanged(err)
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.err
}

// noteChanged makes all later reads return err if it wraps ErrChanged.
func (d *Dir) noteChanged(err error) {
	if !errors.Is(err, ErrChanged) {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.err == nil {
		d.err = err
	}
}

// ReadAtContext reads len(p) bytes at off. At the end of a file it reads fewer and returns io.EOF. See
// [Object.ReadAtContext].
func (d *Dir) ReadAtContext(ctx context.Context, p []byte, off int64) (int, error) {
	if off>>fileBits == 0 {
		return d.index.ReadAtContext(ctx, p, off)
	}
	n := 0
	err := d.ReadRanges(ctx, []Range{{Off: off, Len: int64(len(p))}}, func(_ int, at int64, b []byte) error {
		n += copy(p[at:], b)
		return nil
	})
	if err == nil && n < len(p) {
		err = io.EOF
	}
	return n, err
}

// ReadRanges reads ranges of the files: see [Object.ReadRanges]. Of a range that ends after its chunk file, it delivers
// the bytes that are in the file. It returns ErrBounds if a range is not in one file. If the server sends whole files
// in place of ranges, Options.MaxBytes counts them. A request for a file that does not fit is sent again later.
func (d *Dir) ReadRanges(ctx context.Context, want []Range, got func(i int, at int64, b []byte) error) error {
	ctx = task.Context(ctx)
	if err := d.failed(ctx); err != nil {
		return err
	}
	groups, err := d.groups(want)
	switch {
	case err != nil:
		return err
	case len(groups) == 1:
		return d.read(ctx, groups[0], got)
	}
	s := dirStream{d: d, waiting: groups, arrived: make(chan delivery)}
	s.ctx, s.cancel = context.WithCancel(ctx)
	defer s.end()
	for len(s.waiting) > 0 || s.running > 0 {
		if s.start() {
			continue
		}
		if err := s.next(got); err != nil {
			return err
		}
	}
	return nil
}

// fileRanges is the wanted ranges of one file.
type fileRanges struct {
	file   int64 // number of the chunk file, or -1 for the index
	ranges []Range
	of     []int // number of each range in the call
	bytes  int64 // that are fetched for them, which count while the file is read
	least  int64 // that are known to be fetched
	// admit counts bytes of the whole file. It is nil if no other file is read at the same time. See client.admit.
	admit func(bytes int64, all bool) error
}

// errPutOff is returned if the whole file does not fit Options.MaxBytes now.
var errPutOff = errors.New("the server sends whole files, and option MaxBytes has no room for another one now")

// planned returns how many bytes are fetched for the ranges of a file, with the gaps between them.
func (d *Dir) planned(g *fileRanges) (bytes int64) {
	m := d.index.cost()
	for _, f := range ranges.Plan(g.ranges, &m) {
		bytes += f.Len
	}
	return bytes
}

// wholeBytes returns how many bytes a file may have that the server sends in place of a range, or 0.
func (d *Dir) wholeBytes() int64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	return max(d.whole, -d.whole)
}

// noteWhole notes whether the server has sent a whole chunk in place of a range, and its bytes. The estimate for other
// chunks is the size of the largest one, because bytes of a chunk that turns out not to fit are received again. If the
// server sends sizes before the bytes, the estimate is the last size.
func (d *Dir) noteWhole(whole, sized bool, bytes int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case !whole:
		d.whole = 0
	case sized:
		d.whole = bytes
	default:
		d.whole = max(d.whole, bytes)
	}
}

// groups returns the ranges of each file, in the order in which the files are first wanted.
func (d *Dir) groups(want []Range) ([]*fileRanges, error) {
	var groups []*fileRanges
	of := map[int64]*fileRanges{}
	for i, r := range want {
		file := r.Off>>fileBits - 1
		r.Off &= 1<<fileBits - 1
		if file < -1 || r.Len < 0 || r.Len > 1<<fileBits-r.Off {
			return nil, fmt.Errorf("%s: %d bytes at offset %d: %w", d, r.Len, want[i].Off, ErrBounds)
		}
		g := of[file]
		if g == nil {
			g = &fileRanges{file: file}
			of[file] = g
			groups = append(groups, g)
		}
		g.ranges, g.of = append(g.ranges, r), append(g.of, i)
	}
	return groups, nil
}

// read reads the ranges of one file.
func (d *Dir) read(ctx context.Context, g *fileRanges, got func(i int, at int64, b []byte) error) error {
	obj, list, of := d.index, g.ranges, g.of
	if g.file >= 0 {
		f, err := d.use(ctx, g)
		if err != nil {
			return err
		}
		defer d.unuse(f)
		obj, list, of = f.obj, nil, nil
		for i, r := range g.ranges {
			if r.Len = min(r.Len, obj.Size()-r.Off); r.Len > 0 {
				list, of = append(list, r), append(of, g.of[i])
			}
		}
	}
	err := obj.ReadRanges(ctx, list, func(i int, at int64, b []byte) error { return got(of[i], at, b) })
	d.noteChanged(err)
	return err
}

// dirStream is a call of ReadRanges for several files.
type dirStream struct {
	d       *Dir
	ctx     context.Context
	cancel  context.CancelFunc
	arrived chan delivery
	waiting []*fileRanges // of files that are not being read
	running int

	mu    sync.Mutex
	bytes int64 // of the files that are being read
}

// delivery is bytes of a range, or the end of reading a file.
type delivery struct {
	i    int
	at   int64
	b    []byte
	end  *fileRanges
	err  error
	exit *task.Exit
}

// start starts to read the first waiting file. It returns false if there is none, or no room for it.
func (s *dirStream) start() bool {
	if len(s.waiting) == 0 || s.running >= 4*s.d.o.Requests {
		return false
	}
	g := s.waiting[0]
	if g.least == 0 {
		g.least = s.d.planned(g)
	}
	need := max(g.least, s.d.wholeBytes())
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.running > 0 && need > s.d.o.MaxBytes-s.bytes {
		return false
	}
	s.waiting = s.waiting[1:]
	s.running++
	s.bytes += need
	g.bytes, g.admit = need, func(n int64, all bool) error { return s.admit(g, n, all) }
	go func() {
		last := delivery{end: g}
		task.Run(func() {
			last.err = s.d.read(s.ctx, g, func(i int, at int64, b []byte) error {
				s.arrived <- delivery{i: i, at: at, b: b}
				return s.ctx.Err()
			})
		}, func(x *task.Exit) { last.exit = x })
		s.arrived <- last
	}()
	return true
}

// admit counts n bytes for a file that is being read, if the server sends all of it, or the estimate if n is not all.
// It returns errPutOff if they do not fit, and other files are being read.
func (s *dirStream) admit(g *fileRanges, n int64, all bool) error {
	if n > 0 {
		s.d.noteWhole(true, all, n)
	}
	g.least = max(g.least, n)
	if n = g.least; !all {
		n = max(n, s.d.wholeBytes())
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	more := n - g.bytes
	if more > 0 && s.bytes > g.bytes && more > s.d.o.MaxBytes-s.bytes {
		return errPutOff
	}
	s.bytes += more
	g.bytes = n
	return nil
}

// next waits for bytes and delivers them.
func (s *dirStream) next(got func(i int, at int64, b []byte) error) error {
	a := <-s.arrived
	if a.end == nil {
		return got(a.i, a.at, a.b)
	}
	s.running--
	s.mu.Lock()
	s.bytes -= a.end.bytes
	s.mu.Unlock()
	a.exit.Continue()
	if errors.Is(a.err, errPutOff) {
		s.waiting = slices.Insert(s.waiting, 0, a.end)
		return nil
	}
	return a.err
}

// end cancels the reads that are running and waits for them.
func (s *dirStream) end() {
	s.cancel()
	for s.running > 0 {
		if a := <-s.arrived; a.end != nil {
			s.running--
		}
	}
}
