package frame

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// lock keeps the processes that use a frame from disturbing each other. It is C-Blosc2's protocol: a file beside a
// contiguous frame, NAME.b2lock, or in the directory of a sparse one, .b2lock,
//
//	bytes 0-7    not used, or not there; where the system locks ranges of bytes, byte 0 is what is locked
//	bytes 8-15   how often the lock was taken for editing, in the byte order of the machine; 0 when not there
//
// which has a lock of the system, shared by those who read and of one alone who edits. The editor adds one to the
// counter before it writes anything. Another counter than the one seen last says that the frame may have changed.
//
// All goroutines of one handle have one lock. While a batch has it for editing, they go on reading the states from
// before. To change a shared lock into that of an editor, or back, it is given up for a moment, in which another
// process may edit what a goroutine is reading: intact notices that.
//
// Nobody waits inside the operating system for the lock, which could not be interrupted: take tries again and again.
type lock struct {
	path string
	file *os.File

	mu      sync.Mutex // never held while waiting
	seq     uint64     // the counter as f.snap has it
	epoch   uint64     // of the states that other processes have not written over
	readers int
	held    bool // the lock of the operating system; readers may have lost it to an editor of another process
	waiting bool // an editor waits for it; new readers let it go first
	writer  bool
}

// take calls try until it returns true or an error, or ctx is done, with pauses between.
func (l *lock) take(ctx context.Context, try func() (bool, error)) error {
	const first, longest = 100 * time.Microsecond, 10 * time.Millisecond
	for pause := first; ; pause = min(pause+pause/4, longest) {
		if err := ctx.Err(); err != nil {
			return err
		}
		if ok, err := try(); ok || err != nil {
			return err
		}
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
		}
	}
}

// lockName returns the name of the lock file of a frame.
func lockName(name string, sparse bool) string {
	if sparse {
		return filepath.Join(name, ".b2lock")
	}
	return name + ".b2lock"
}

// checkLocking fails where Options.Locking asks for what this system does not have.
func (o *Options) checkLocking() error {
	if o != nil && o.Locking && !canLock {
		return fmt.Errorf("frame: this system has no locks of files: %w", errors.ErrUnsupported)
	}
	return nil
}

// openLock opens the lock file of a frame, and creates it if it does not exist. r is the directory of a sparse frame, else
// nil. With edit the counter can be written.
func openLock(sys system, name string, r root, edit bool) (*lock, error) {
	l := &lock{path: lockName(name, r != nil)}
	in, file := directory(sys), l.path
	if r != nil {
		in, file = r, filepath.Base(l.path)
	}
	f, err := openLockFile(in, file, edit)
	if err != nil {
		return nil, l.error(err)
	}
	var ok bool
	if l.file, ok = f.(*os.File); !ok {
		f.Close()
		return nil, l.error(errors.ErrUnsupported)
	}
	if n, err := countNames(l.file); edit && (n > 1 || err != nil) {
		f.Close()
		return nil, l.error(cmp.Or(err, fmt.Errorf("the file has %d names, so writing to it would change another file; if no process uses the frame, remove it", n)))
	}
	return l, nil
}

// openLockFile opens a regular file, but not through a symbolic link, or creates it. It does not open before lstat has
// seen a regular file, and returns no other file than that: opening a device may have effects.
func openLockFile(in directory, name string, edit bool) (systemFile, error) {
	flag := os.O_RDONLY | noFollow
	if edit {
		flag = os.O_RDWR | noFollow
	}
	const tries = 10 // other processes may create, remove or exchange it meanwhile
	for range tries {
		was, err := in.lstat(name)
		if errors.Is(err, fs.ErrNotExist) {
			f, err := in.open(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666)
			if errors.Is(err, fs.ErrExist) {
				continue
			}
			return f, err
		}
		if err != nil {
			return nil, err
		}
		if !was.Mode().IsRegular() {
			return nil, errNotFile
		}
		f, err := in.open(name, flag, 0)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		is, err := f.Stat()
		if err == nil && os.SameFile(was, is) {
			return f, nil
		}
		f.Close()
	}
	return nil, fmt.Errorf("another file at each of %d tries: %w", tries, ErrChanged)
}

// error says what an error belongs to.
func (l *lock) error(err error) error { return fmt.Errorf("frame: lock %s: %w", l.path, err) }

// count reads the counter.
func (l *lock) count() (uint64, error) {
	var b [8]byte
	n, err := l.file.ReadAt(b[:], 8)
	switch {
	case n == len(b):
		return binary.NativeEndian.Uint64(b[:]), nil
	case errors.Is(err, io.EOF):
		return 0, nil
	}
	return 0, l.error(err)
}

// begin takes the lock for opening the frame, which may write when it is opened for editing; end gives it back.
func (l *lock) begin(edit bool) error {
	if l == nil {
		return nil
	}
	err := l.take(context.Background(), func() (bool, error) { return tryLockFile(l.file, edit) })
	if err != nil {
		return l.error(err)
	}
	l.seq, err = l.count()
	return err
}

func (l *lock) end() {
	if l != nil {
		unlockFile(l.file)
	}
}

// close gives up the lock and whatever it holds.
func (l *lock) close() {
	if l != nil {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.file.Close()
	}
}

// share takes the lock for reading, and follows what other processes have done. Without locking it does nothing.
func (f *Frame) share(ctx context.Context) error {
	l := f.lock
	if l == nil {
		return nil
	}
	return l.take(ctx, func() (bool, error) {
		l.mu.Lock()
		defer l.mu.Unlock()
		if f.isClosed() {
			return false, f.errClosed()
		}
		if !l.held {
			if ok, err := f.shareNew(l); !ok || err != nil {
				return false, err
			}
		}
		l.readers++
		return true, nil
	})
}

// shareNew tries to take the lock of the operating system for reading.
func (f *Frame) shareNew(l *lock) (bool, error) {
	if l.waiting {
		return false, nil
	}
	if ok, err := tryLockFile(l.file, false); err != nil {
		return false, f.lockError(err)
	} else if !ok {
		return false, nil
	}
	l.held = true
	seq, err := l.count()
	if err == nil && seq != l.seq {
		err = f.follow(l, seq, false)
	}
	if err != nil && l.readers == 0 {
		l.release()
	}
	return true, err
}

// release gives the lock of the operating system up.
func (l *lock) release() {
	l.held = false
	unlockFile(l.file)
}

// unshare ends what share began.
func (f *Frame) unshare() {
	l := f.lock
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.readers--; l.readers == 0 && !l.writer {
		l.release()
	}
}

// lockError is an error of the lock, or ErrClosed when it comes from that.
func (f *Frame) lockError(err error) error {
	if errors.Is(err, os.ErrClosed) || f.isClosed() {
		return f.errClosed()
	}
	return f.lock.error(err)
}

// follow makes the state that is stored when the counter is seq that of the frame. The system's lock is held.
func (f *Frame) follow(l *lock, seq uint64, edit bool) error {
	now := f.snap.Load()
	if now == nil {
		return f.errClosed()
	}
	s, err := f.store.refresh(f, now, edit)
	if err != nil {
		return err
	}
	l.seq = seq
	if s != now {
		l.epoch++
		s.epoch = l.epoch
		f.snap.CompareAndSwap(now, s) // it stays nil when the frame was closed
	}
	return nil
}

// lockEdit takes the lock for editing, and follows what other processes have done.
func (f *Frame) lockEdit(ctx context.Context) error {
	l := f.lock
	if l == nil {
		return nil
	}
	err := l.take(ctx, func() (bool, error) {
		l.mu.Lock()
		defer l.mu.Unlock()
		if f.isClosed() {
			return false, f.errClosed()
		}
		ok, err := tryLockFile(l.file, true)
		// Where it fails, a shared lock is gone, too. Were it taken again before the next try, two processes that read
		// and edit would keep each other from editing.
		l.held, l.writer, l.waiting = ok, ok, !ok && err == nil // unlockEdit follows
		return ok, err
	})
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.waiting = false; err != nil {
		l.shareAgain()
		if ctx.Err() != nil {
			return err
		}
		return f.lockError(err)
	}
	seq, err := l.count()
	if err != nil {
		return err
	}
	if _, err := l.file.WriteAt(binary.NativeEndian.AppendUint64(nil, seq+1), 8); err != nil {
		return l.error(err)
	}
	if seq == l.seq {
		l.seq++
		return nil
	}
	if f.snap.Load() == nil { // a new frame
		l.seq = seq + 1
		return nil
	}
	return f.follow(l, seq+1, true)
}

// unlockEdit ends what lockEdit began, also when that failed.
func (f *Frame) unlockEdit() {
	l := f.lock
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.writer {
		return
	}
	l.writer = false
	if l.shareAgain(); !l.held {
		unlockFile(l.file)
	}
}

// shareAgain tries to take the lock for those who are reading, after an editor of this handle has had it.
func (l *lock) shareAgain() {
	l.held = false
	if l.readers > 0 {
		ok, err := tryLockFile(l.file, false)
		l.held = ok && err == nil
	}
}

// intact fails when another process may have written over the state s while it was read.
func (f *Frame) intact(s *snapshot) error {
	l := f.lock
	if l == nil {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	seq, err := l.count()
	if err != nil {
		return f.lockError(err)
	}
	if seq != l.seq || s.epoch != l.epoch {
		return f.wrap("chunks", -1, ErrChanged)
	}
	return nil
}
