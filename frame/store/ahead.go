package store

import (
	"context"
	"errors"

	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/frame/store/internal/source"
	"github.com/goblosc/blosc2/frame/store/internal/zipdir"
	"github.com/goblosc/blosc2/internal/errs"
)

// Bytes that are read ahead at once: at first, so that a walk that ends soon costs little, and at most.
const (
	firstAhead = 1 << 20
	mostAhead  = 8 << 20
)

// ahead opens the members of a zip file that is far away, one after the other. With one read of many ranges, it reads
// what opening the frames of the next members needs. Only one goroutine may use it.
type ahead struct {
	*zipFile
	ranges  source.RangeReader
	members []*zipdir.Member         // in the order in which they are opened
	at      map[string]int           // positions in members
	loaded  int                      // members before this position are not loaded again
	held    map[string]source.Source // loaded and not yet opened
	down    error                    // of a member that was not loaded; reads of the others would fail, too
	budget  int64                    // bytes of the next read
}

// newAhead returns an ahead without members, or nil if the files of box are not read ahead.
func newAhead(box container) *ahead {
	z, ok := box.(*zipFile)
	if !ok {
		return nil
	}
	r, ok := z.src.(source.RangeReader)
	if !ok {
		return nil
	}
	return &ahead{zipFile: z, ranges: r, at: map[string]int{}, budget: firstAhead}
}

// add adds a file that open will open after those before.
func (a *ahead) add(name string) {
	if m := a.zipFile.members[name]; m != nil {
		a.at[name] = len(a.members)
		a.members = append(a.members, m)
	}
}

// probeAhead returns what opens the files whose names do not show whether they are leaves.
func probeAhead(box container, files []file) opener {
	a := newAhead(box)
	if a == nil {
		return box
	}
	for _, f := range files {
		if f.fault == nil && needsProbe(f.name) {
			a.add(f.name)
		}
	}
	return a
}

// readAhead returns what opens the files of the leaves below a group for a walk.
func (s *Store) readAhead(group string) opener {
	a := newAhead(s.files.box)
	if a == nil {
		return s.files.box
	}
	add := func(l *leaf) {
		if l.fault == nil {
			a.add(l.file)
		}
	}
	table := ""
	for n := range s.below(group) {
		switch {
		case table != "" && isInside(n.key, table) || s.isGroupMeta(n.key):
		case n.leaf != nil:
			add(n.leaf)
		case s.looksLikeTable(n.key):
			table = n.key
			add(s.index.get(join(table, tableMeta)))
			add(s.index.get(join(table, tableRows)))
		}
	}
	return a
}

func (a *ahead) open(ctx context.Context, name string) (*openFile, error) {
	i, ok := a.at[name]
	if ok && i >= a.loaded {
		a.load(ctx, i)
	}
	if src := a.held[name]; src != nil {
		delete(a.held, name)
		data, err := a.members[i].Data(ctx, src, 0)
		return &openFile{src: data}, err
	}
	if ok && a.down != nil {
		return nil, a.down
	}
	file, err := a.zipFile.open(ctx, name)
	if errors.Is(err, errs.ErrNoAnswer) {
		a.down = err
	}
	return file, err
}

// load reads ahead for the members from position i up. It does not report an error: the error may be temporary, or
// concern only some of the members. Members with missing bytes are read one by one when they are opened.
func (a *ahead) load(ctx context.Context, i int) {
	var want []frame.Range
	var of []int // the member of each range
	bytes := int64(0)
	for ; i < len(a.members) && (bytes == 0 || bytes < a.budget); i++ {
		for _, r := range a.members[i].Ends() {
			want, of = append(want, r), append(of, i)
			bytes += r.Len
		}
	}
	a.loaded, a.budget = i, min(4*a.budget, mostAhead)
	parts, missing := make([][]byte, len(want)), make([]int64, len(want))
	for k, r := range want {
		parts[k], missing[k] = make([]byte, r.Len), r.Len
	}
	a.ranges.ReadRanges(ctx, want, func(k int, at int64, b []byte) error {
		missing[k] -= int64(copy(parts[k][at:], b))
		return nil
	})
	a.held, a.down = map[string]source.Source{}, nil
	for k, r := range want {
		if missing[k] != 0 {
			continue
		}
		name := a.members[of[k]].Name
		src := a.held[name]
		if src == nil {
			src = a.src
		}
		a.held[name] = zipdir.Hold(src, parts[k], r.Off)
	}
}
