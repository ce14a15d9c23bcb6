package frame

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"slices"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/frame/internal/storage"
	"github.com/goblosc/blosc2/internal/coder"
	"github.com/goblosc/blosc2/internal/ranges"
	"github.com/goblosc/blosc2/internal/sched"
)

// contiguous is a store in one Storage.
//
// A commit never writes over bytes that the previous state references, nor over bytes that a reader of an older state
// still uses. New chunks, the index and the trailer go to free space or to the end. After a sync, one write of the
// header makes them the frame. Bytes that only the old state used become free after the commit. The format allows bytes
// that no index references: deleted chunks leave them, too. An exception is a frame of more than 2 GiB that becomes
// empty: see mayOverwrite.
type contiguous struct {
	storage.Segment
	sys     storage.System
	space   storage.FreeList // free space inside the frame
	pending storage.Pending[*snapshot]
	headLen int64  // length of the header that was written last
	scanned bool   // the dead space at the time of opening is known
	shared  bool   // chunks may share bytes: no space of chunks is reused
	doubt   bool   // not all chunk headers were read, so chunks may overlap; see mayReuse
	cut     bool   // the storage may be longer than the frame, because older states were
	name    string // of the file; empty for other storage
	temp    storage.Temp
}

func (c *contiguous) open(s *snapshot, from io.ReaderAt, e, next entry) (chunkSource, error) {
	// Chunks of a batch that is not committed are after the chunks area of the header.
	area := s.areaLen()
	if int64(e) > area-coder.MinHeaderSize {
		return chunkSource{}, corrupt("position %d in a chunks area of %d bytes", e, area)
	}
	src := chunkSource{off: int64(s.headerLen) + int64(e), size: area - int64(e)}
	if next > e {
		src.guess, src.exact = min(int64(next-e), src.size), true
	} else { // twice the average, as the rest of the area may hold all other chunks
		src.guess = min(src.size, 2*area/max(1, s.storedChunks()))
	}
	if s.chunkSize > 0 && !s.vlBlocks { // each block of variable size adds its position and size
		src.guess = min(src.guess, int64(s.chunkSize)+chunk.MaxOverhead)
	}
	if src.guess > 64<<20 {
		src.guess, src.exact = 64<<20, false
	}
	if m, ok := s.src.(*Memory); ok {
		if src.mem = m.view(src.off, src.size); src.mem == nil {
			return chunkSource{}, corrupt("the frame ends inside the chunk")
		}
		return src, nil
	}
	if s.mapped != nil {
		if src.mem = s.mapped.View(src.off, src.size); src.mem != nil {
			return src, nil
		}
	}
	src.at = from
	return src, nil
}

func (c *contiguous) evidence(ctx context.Context, s *snapshot, enough int64) (int64, error) {
	far := s.ranges()
	if far == nil {
		return coder.Evidence(storage.Bind(ctx, s.src), 0, s.frameLen, enough)
	}
	return coder.EvidenceBy(0, s.frameLen, enough, func(list []ranges.Range, enough int64) (int64, error) {
		return evidenceIn(ctx, far, list, enough)
	})
}

func (c *contiguous) size(s *snapshot) (int64, error) {
	if st, ok := s.src.(Storage); ok {
		return st.Size()
	}
	return s.frameLen, nil
}

// headerFits returns an error if the header of n bytes of an empty frame would cover chunks of a state that is in use.
func (c *contiguous) headerFits(n int64) error {
	c.release()
	head := storage.Extent{Off: c.headLen, End: n}
	for s, x := range c.pending.All() {
		if s.index.n > 0 && head.Overlaps(x) {
			return fmt.Errorf("a longer header while a state from before the chunks were deleted is in use: %w", ErrParam)
		}
	}
	return nil
}

func (c *contiguous) put(tx *transaction, data []byte) (entry, error) {
	c.scanFree(tx)
	x := c.allocate(tx, int64(len(data)))
	tx.write(x)
	if m, ok := c.Bytes.(*Memory); ok && tx.size.all > 0 {
		// The trailer follows. The estimate may be 0, but growing in small steps would copy the frame many times.
		m.reserve(x.End, x.End+max(tx.size.left(), x.End/16)+4096)
	}
	if _, err := c.WriteAt(data, x.Off); err != nil {
		return 0, err
	}
	tx.next.area = max(tx.next.area, x.End)
	return entry(x.Off - int64(tx.next.headerLen)), nil
}

func (c *contiguous) free(tx *transaction, e entry, size int64) {
	c.scanFree(tx)
	if c.shared {
		return
	}
	off := int64(e) + int64(tx.next.headerLen)
	x := storage.Extent{Off: off, End: off + size}
	if tx.unwrite(x) { // written by this very batch
		tx.unused = append(tx.unused, x)
		return
	}
	tx.freed = append(tx.freed, x)
}

func (c *contiguous) share() { c.shared = true }

// makeRoom returns a transaction that moves the trailer of an empty frame to the end, if the longer header of tx.next
// would overlap it.
func (c *contiguous) makeRoom(tx *transaction) *transaction {
	least := int64(tx.next.headerLen)
	if tx.cur == nil || tx.tailAt > 0 || least <= tx.cur.tail().Off {
		return nil
	}
	pos := max(c.end(tx), least)
	if pos > maxHeaderLen {
		return nil
	}
	return moveTail(tx.cur, pos)
}

// moveTail returns the transaction that moves the trailer of the empty state s to pos.
func moveTail(s *snapshot, pos int64) *transaction {
	return &transaction{cur: s, next: s.successor(), tailAt: pos}
}

// commit follows the order in which a commit reaches the disk. New chunks are already written, to space that no state
// in use references.
func (c *contiguous) commit(tx *transaction) error {
	old, s := tx.cur, tx.next
	c.scanFree(tx)
	c.reuse(tx)

	// Step 1: choose an offset for the tail, where no state in use has bytes. In an empty frame, the header counts as
	// reaching to the tail.
	x, over := c.placeTail(tx)
	head, err := appendHeader(s)
	if err != nil {
		return err
	}

	// Step 2: write the tail, and sync it together with the chunks. No header references it yet. If it has to overwrite
	// the old state, it is a part of the header instead: see tailPos.
	all := head
	if over {
		all = append(append(slices.Clip(head), make([]byte, int(x.Off)-len(head))...), tx.tail...)
	} else if err := c.Write(tx.tail, x.Off); err != nil {
		return err
	}
	c.space.Reserve(x)

	// Step 3: overwrite the header in one write and sync it, with a header journal if a crash could tear the write. Now
	// the stored frame has the new state.
	if err := c.commitHeader(tx, all, over); err != nil {
		return err
	}
	c.headLen = int64(len(head))
	c.space.Reserve(storage.Extent{End: c.headLen})
	s.headPrint, s.tailPrint = fingerprintOf(head), fingerprintOf(tx.tail)

	// Step 4: rename a new file to its final name.
	if c.temp.TempName != "" {
		if c.Bytes, err = c.temp.PublishFile(c.Bytes); err != nil {
			tx.unknown = err
			return err
		}
		s.setSource(c.Bytes)
	}

	// Step 5: bytes that the new state does not reference become free when the old state and earlier states that
	// reference them have no readers. No earlier state references the old tail.
	if old != nil {
		tail := old.tail()
		if over { // the new tail is in place of these bytes
			tail = tail.From(x.End)
			for i := range tx.freed {
				tx.freed[i] = tx.freed[i].From(x.End)
			}
		}
		c.pending.Add(old, tail, tx.freed, tx.written, nil)
		c.cut = true
	}
	return nil
}

// placeTail sets the sizes of tx.next and returns the extent of its tail, and whether it has to overwrite the old
// state.
func (c *contiguous) placeTail(tx *transaction) (x storage.Extent, over bool) {
	s, pos := tx.next, tx.tailAt
	if pos == 0 {
		pos, over = c.tailPos(tx, int64(len(tx.tail)))
	}
	if s.index.n == 0 {
		s.headerLen, s.area, s.cbytes = int(pos), pos, 0
	} else {
		s.cbytes = pos - int64(s.headerLen)
	}
	s.frameLen = pos + int64(len(tx.tail))
	return storage.Extent{Off: pos, End: s.frameLen}, over
}

// commitHeader is step 3 of a commit, which makes the new state the stored one. over reports whether the tail follows
// in head, and overwrites the old state.
func (c *contiguous) commitHeader(tx *transaction, head []byte, over bool) error {
	if tx.cur == nil {
		return c.Write(head, 0)
	}
	was, noHeader := appendHeader(tx.cur)
	if over {
		if was, noHeader = storage.ReadAll(c.Bytes, 0, int64(len(head))); noHeader != nil {
			return noHeader
		}
		if err := c.mayOverwrite(tx); err != nil {
			return err
		}
	}
	tx.unknown = sched.ErrPanic // until the write returns
	left, err := c.ReplaceHeader(head)
	tx.unknown = left
	switch {
	case err == nil:
		return nil
	case errors.As(err, new(storage.EarlyError)):
		tx.cur.overwritten.Store(false)
		return err
	}
	tx.unknown = err
	// The header may be written in part: write the old one again. But do not if only the sync has failed, because the
	// new header is complete, and a part of the old one would be worse.
	if noHeader == nil && !errors.As(err, new(storage.SyncError)) {
		err = errors.Join(err, c.Write(was, 0))
	}
	return err
}

// mayOverwrite returns an error if the tail of tx.next would overwrite bytes that readers use: those of the old state,
// or of an older one, which may share chunks with it. Readers that begin later with the old state will get ErrChanged,
// also if the write fails, because they may have read new bytes.
func (c *contiguous) mayOverwrite(tx *transaction) error {
	c.release()
	inUse := func() bool { return c.pending.Len() > 0 || tx.cur.index.n > 0 && tx.cur.InUse() }
	if !inUse() {
		tx.cur.overwritten.Store(true)
		if !inUse() { // a reader may have begun in between
			return nil
		}
		tx.cur.overwritten.Store(false)
	}
	return fmt.Errorf("a frame of more than 2 GiB becomes empty while its chunks are read: %w", ErrParam)
}

func (c *contiguous) rollback(tx *transaction) {
	c.reuse(tx)
	c.space.Add(tx.extents()...)
	c.cut = tx.cur != nil
}

// reclaim frees the space of states without readers. The trailer of an empty frame moves back next to its header once
// no reader uses the old chunks there.
func (c *contiguous) reclaim(now *snapshot) *transaction {
	c.release()
	if now == nil || c.pending.Len() > 0 || !c.cut || now.index.n > 0 {
		return nil
	}
	least := int64(now.successor().headerLen)
	if t := now.tail(); t.Off <= least || t.Len() > t.Off-least || !c.stored(now) {
		return nil
	}
	return moveTail(now, least)
}

// trim forgets free space at the end, and truncates the storage to the frame if only the newest state is in use.
func (c *contiguous) trim(now *snapshot) {
	c.release()
	if now == nil || !c.cut {
		return
	}
	c.space.Reserve(storage.Extent{Off: c.endInUse(now), End: math.MaxInt64})
	if c.pending.Len() > 0 {
		return
	}
	c.cut = false
	if size, err := c.Size(); err == nil && size > now.frameLen && c.stored(now) {
		c.Truncate(now.frameLen) // after an error, the longer file is valid, too
	}
}

// stored reports whether s is the stored state. Without Locking, another Frame may have committed since, and use what s
// does not use.
func (c *contiguous) stored(s *snapshot) bool { return unchanged(context.Background(), c.Bytes, s) }

// release also frees the space of the states that it forgets.
func (c *contiguous) release() {
	freed := c.pending.Release()
	for i := range freed {
		freed[i] = freed[i].From(c.headLen) // headers grow over old trailers
	}
	c.space.Add(freed...)
}

func (c *contiguous) reopen(ctx context.Context, write bool) (r reopened, err error) {
	r.same, r.segment = true, c.Segment
	if src, ok := c.Bytes.(*storage.SourceBytes); ok {
		if err := src.Refresh(ctx); err != nil {
			return r, err
		}
	}
	if err := c.followName(&r, write); err != nil {
		return r, err
	}
	r.src = r.segment.Bytes
	if r.size, err = r.segment.Size(); err != nil {
		r.close(false)
	}
	if errors.Is(err, storage.ErrNotFile) { // a directory has the name
		err = errOtherKind
	}
	return r, err
}

func (c *contiguous) hasName() (bool, error) {
	held, ok := c.Bytes.(interface{ Stat() (fs.FileInfo, error) })
	if c.name == "" || !ok {
		return true, nil
	}
	was, err := held.Stat()
	if err != nil {
		return false, err
	}
	is, err := c.sys.Stat(c.name)
	return err == nil && c.sys.Same(was, is), err
}

// followName opens the file that has the name of the frame, if it is not the file of c.
func (c *contiguous) followName(r *reopened, write bool) error {
	same, err := c.hasName()
	if err != nil || same {
		return err
	}
	r.same = false
	if r.segment.Bytes, err = storage.OpenFile(c.sys, c.name, write); err != nil {
		return err
	}
	if _, ok := c.Bytes.(*storage.Mapped); ok {
		r.segment.Bytes = storage.Map(r.segment.Bytes)
	}
	return nil
}

func (c *contiguous) adopt(r reopened, old, _ *snapshot) {
	c.pending.Forget()
	if r.same {
		c.pending.Add(old, storage.Extent{}, nil, nil, nil) // its readers keep the file open
	} else {
		c.pending.Add(old, storage.Extent{}, nil, nil, c.Bytes)
		c.Bytes = r.segment.Bytes
	}
	c.space, c.headLen, c.scanned, c.shared, c.doubt, c.cut = storage.FreeList{}, 0, false, false, false, true
}

func (c *contiguous) close() error {
	err := c.Segment.Close()
	c.pending.Close()
	if c.temp.TempName != "" {
		c.sys.Remove(c.temp.TempName) // never committed
	}
	return err
}
