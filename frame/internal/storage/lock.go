package storage

import (
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/goblosc/blosc2/internal/paths"
)

// Lock keeps the processes that use a frame from disturbing each other. It is C-Blosc2's protocol: a file beside a
// contiguous frame, NAME.b2lock, or in the directory of a sparse one, .b2lock,
//
//	bytes 0-7    not used, or missing; if the operating system locks ranges of bytes, byte 0 is locked
//	bytes 8-15   number of times the lock was taken for editing, in the byte order of the machine; 0 if missing
//
// on which processes take a lock of the operating system: a shared one for reading, an exclusive one for editing. An
// editor increments the counter before it writes anything. If the counter has changed, the frame may have changed.
//
// All goroutines of one handle have one Lock. While a batch holds it for editing, they continue to read earlier states.
// Changing a shared lock into an exclusive one, or back, releases it for a moment, in which another process may edit
// bytes that a goroutine is reading. Intact detects that.
//
// No goroutine waits for the lock inside the operating system, where a context could not interrupt it: take tries
// repeatedly.
//
// The lock file may be removed while it is open, or a frame may have two, because a symbolic link to it has another
// one. So an editor checks that its file still has the name, and compares the stored state, too.
//
// A nil *Lock is the lock of a frame without locking. Its methods do nothing. On systems without locks, every *Lock is
// nil. The methods test the constant CanLock too, so that programs for these systems do not contain their code.
type Lock struct {
	path string
	sys  System
	root Root // of a sparse frame
	user User
	edit bool // the counter can be written
	File LockFile

	mu      sync.Mutex // never held while waiting
	seq     uint64     // the counter of the current state
	epoch   uint64     // of the states that other processes have not overwritten
	readers int
	locked  bool // the lock of the operating system; readers may have lost it to an editor of another process
	waiting bool // an editor waits for it, and new readers wait for the editor
	writer  bool
}

// LockFile is an opened file that the operating system can lock.
type LockFile interface {
	File
	// TryLock takes the lock of the operating system, in place of the lock that the file has. If others hold it, it
	// returns false, and the file has no lock.
	TryLock(exclusive bool) (bool, error)
	Unlock() error
	Names() (uint64, error) // the number of names: 1, and 1 more for each other hard link
}

type osLockFile struct{ *os.File }

func (f osLockFile) TryLock(exclusive bool) (bool, error) { return tryLock(f.File, exclusive) }
func (f osLockFile) Unlock() error                        { return unlock(f.File) }
func (f osLockFile) Names() (uint64, error)               { return countNames(f.File) }

// User is the frame that a Lock belongs to.
type User interface {
	// Closed returns an error if the frame is closed.
	Closed() error
	// Follow makes the stored state the current one, and reports whether it differs from the previous one. A new state
	// has this epoch. edit reports whether the lock is held for editing, and counted whether another process has taken
	// it for editing since.
	Follow(edit, counted bool, epoch uint64) (changed bool, err error)
	// Stored reports whether the current state is the stored one, and known to be durable. It returns an error if
	// another file or directory has the name of the frame, as edits would be lost.
	Stored() (current bool, err error)
}

// take calls try until it returns true or an error, or ctx is done, with pauses between. If it had to wait, the error
// of ctx is wrapped with the name of the lock file.
func (l *Lock) take(ctx context.Context, try func() (bool, error)) error {
	const first, longest = 100 * time.Microsecond, 10 * time.Millisecond
	for pause := first; ; pause = min(pause+pause/4, longest) {
		if err := ctx.Err(); err != nil && pause == first {
			return err
		} else if err != nil {
			return fmt.Errorf("frame: waiting for %s: %w", l.path, err)
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

// LockName returns the name of the lock file of a frame.
func LockName(name string, sparse bool) string {
	if sparse {
		return paths.Join(name, ".b2lock")
	}
	return name + ".b2lock"
}

// OpenLock opens the lock file of frame u, and creates it if it does not exist. r is the directory of a sparse frame,
// or nil. With edit, the counter can be written.
func OpenLock(sys System, name string, r Root, u User, edit bool) (*Lock, error) {
	l := &Lock{path: LockName(name, r != nil), sys: sys, root: r, user: u, edit: edit}
	var err error
	if l.File, err = l.open(); err != nil {
		return nil, l.error(err)
	}
	return l, nil
}

// error adds the name of the lock file to an error.
func (l *Lock) error(err error) error { return fmt.Errorf("frame: lock %s: %w", l.path, err) }

// count reads the counter.
func (l *Lock) count() (uint64, error) {
	seq, err := countOf(l.File)
	if err != nil {
		err = l.error(err)
	}
	return seq, err
}

// Begin takes the lock for opening the frame. Opening for editing may write. End releases it.
func (l *Lock) Begin(ctx context.Context, edit bool) error {
	if l == nil || !CanLock {
		return nil
	}
	err := l.take(ctx, func() (bool, error) { return l.tryNamed(edit) })
	if err != nil {
		return err
	}
	l.seq, err = l.count()
	return err
}

// End undoes Begin.
func (l *Lock) End() {
	if l != nil {
		l.File.Unlock()
	}
}

// Close releases the lock of the operating system, if it is held, and closes the file.
func (l *Lock) Close() {
	if l != nil {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.File.Close()
	}
}

// Held reports whether this handle has the lock of the operating system.
func (l *Lock) Held() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.locked
}

// InUse reports whether the lock is held, waited for, or has readers, which may have lost it to another process.
func (l *Lock) InUse() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.readers != 0 || l.locked || l.writer || l.waiting
}

// Is reports whether the lock file of a contiguous frame with that name is that of l.
func (l *Lock) Is(sys System, name string) bool {
	if l == nil || !CanLock {
		return false
	}
	fi, err := sys.Stat(LockName(name, false))
	if err != nil {
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	is, err := l.File.Stat()
	return err == nil && sys.Same(fi, is)
}

// Share takes the lock for reading, and follows the edits of other processes.
func (l *Lock) Share(ctx context.Context) error {
	if l == nil || !CanLock {
		return nil
	}
	return l.take(ctx, func() (bool, error) {
		l.mu.Lock()
		defer l.mu.Unlock()
		if err := l.user.Closed(); err != nil {
			return false, err
		}
		if !l.locked {
			if ok, err := l.shareNew(); !ok || err != nil {
				return false, err
			}
		}
		l.readers++
		return true, nil
	})
}

// shareNew tries to take the lock of the operating system for reading.
func (l *Lock) shareNew() (bool, error) {
	if l.waiting {
		return false, nil
	}
	if ok, err := l.File.TryLock(false); err != nil {
		return false, l.errorOf(err)
	} else if !ok {
		return false, nil
	}
	l.locked = true
	seq, err := l.count()
	if err == nil && seq != l.seq {
		// Its editor may have changed to another lock file.
		if ok, err := l.tryNamed(false); !ok || err != nil {
			l.locked = false
			return false, err
		}
		if seq, err = l.count(); err == nil {
			err = l.follow(seq, false, true)
		}
	}
	if err != nil && l.readers == 0 {
		l.release()
	}
	return true, err
}

// release releases the lock of the operating system.
func (l *Lock) release() {
	l.locked = false
	l.File.Unlock()
}

// Unshare undoes Share.
func (l *Lock) Unshare() {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.readers--; l.readers == 0 && !l.writer {
		l.release()
	}
}

// Refresh follows all changes, also of programs that do not count them because they do not use the lock. No editor of
// this handle may be active.
func (l *Lock) Refresh(ctx context.Context) error {
	if err := l.Share(ctx); err != nil {
		return err
	}
	defer l.Unshare()
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.follow(l.seq, false, false)
}

// Do calls do while no goroutine follows another process.
func (l *Lock) Do(do func()) {
	if l != nil && CanLock {
		l.mu.Lock()
		defer l.mu.Unlock()
	}
	do()
}

// errorOf returns an error of the lock, or the error of a closed frame, whose lock file is closed, too. It returns nil
// for nil.
func (l *Lock) errorOf(err error) error {
	if err == nil {
		return nil
	}
	if closed := l.user.Closed(); closed != nil {
		return closed
	}
	return l.error(err)
}

// follow makes the stored state, whose counter is seq, the current one. The lock of the operating system is held.
func (l *Lock) follow(seq uint64, edit, counted bool) error {
	changed, err := l.user.Follow(edit, counted, l.epoch+1)
	if err != nil {
		return err
	}
	l.seq = seq
	if changed {
		l.epoch++
	}
	return nil
}

// Edit takes the lock for editing, and follows the edits of other processes. The caller must call EndEdit, also after
// an error.
func (l *Lock) Edit(ctx context.Context) error {
	if l == nil || !CanLock {
		return nil
	}
	err := l.take(ctx, func() (bool, error) {
		l.mu.Lock()
		defer l.mu.Unlock()
		if err := l.user.Closed(); err != nil {
			return false, err
		}
		ok, err := l.tryNamed(true)
		// If it fails, a shared lock is lost, too. Do not take that again before the next try: two processes that read
		// and edit would keep each other from editing.
		l.locked, l.writer, l.waiting = ok, ok, !ok && err == nil
		return ok, err
	})
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.waiting = false; err != nil {
		l.shareAgain()
		return err
	}
	seq, err := l.count()
	counted, current := seq != l.seq, false
	if err == nil && !counted {
		current, err = l.user.Stored() // who uses another lock file has not changed the counter
	}
	if err != nil {
		return err
	}
	if _, err := l.File.WriteAt(binary.NativeEndian.AppendUint64(nil, seq+1), 8); err != nil {
		return l.error(err)
	}
	if current {
		l.seq++
		return nil
	}
	return l.follow(seq+1, true, counted)
}

// EndEdit undoes Edit, even if that failed.
func (l *Lock) EndEdit() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.writer {
		return
	}
	l.writer = false
	if l.shareAgain(); !l.locked {
		l.File.Unlock()
	}
}

// shareAgain tries to take the lock for the readers of this handle, after an editor of this handle has released it.
func (l *Lock) shareAgain() {
	l.locked = false
	if l.readers > 0 {
		ok, err := l.File.TryLock(false)
		l.locked = ok && err == nil
	}
}

// Intact reports whether no other process can have overwritten the state of an epoch while it was read.
func (l *Lock) Intact(epoch uint64) (bool, error) {
	if l == nil || !CanLock {
		return true, nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	seq, err := l.count()
	if err != nil {
		return false, l.errorOf(err)
	}
	return seq == l.seq && epoch == l.epoch, nil
}
