package remote

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// The folder of a disk cache holds three kinds of files. Those of the first two are written under another name and
// renamed:
//
//	KEY.obj         the version, the size and both ends of an object, and whether the server sends only all of it; KEY
//	                is a hash of the URL. Of a chunk of a sparse frame, it has no ends
//	VERSION-BLOCK   64 KiB of an object, or less at its end; VERSION is a hash of the URL, the version and the size
//	KEY.ask         empty; Close came before the answer whether the object has changed: the next Open asks first
//
// So blocks of different versions are never in the same file. Each file of the first two kinds ends with a checksum of
// its name and its content: a crash of the system may leave files of zeros. All errors of the folder mean that a file
// is not cached.
const (
	blockSize   = 64 << 10
	entrySuffix = ".obj"
	askSuffix   = ".ask"
	tempPrefix  = "tmp-"
	sumLen      = 4
)

// diskCache is the folder of a cache, for one object.
type diskCache struct {
	*diskFolder
	key    string
	shared bool // the folder belongs to another diskCache
}

// diskFolder is the folder of a cache.
type diskFolder struct {
	root *os.Root
	most int64 // bytes

	mu      sync.Mutex
	written int64 // bytes since the limit was checked
	checked bool  // the limit has been checked
}

// diskObject is a version of an object in a diskCache.
type diskObject struct {
	*diskCache
	version string
	size    int64
	ends    []part
}

// openDisk opens a folder, and creates it if it is missing.
func openDisk(o *Options, key string) (*diskCache, error) {
	if err := os.MkdirAll(o.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("option Dir: %w", err)
	}
	root, err := os.OpenRoot(o.Dir)
	if err != nil {
		return nil, fmt.Errorf("option Dir: %w", err)
	}
	return &diskCache{diskFolder: &diskFolder{root: root, most: o.DirBytes}, key: hash(key)}, nil
}

// forKey returns the cache of another object in the same folder, which d must outlive.
func (d *diskCache) forKey(key string) *diskCache {
	return &diskCache{diskFolder: d.diskFolder, key: hash(key), shared: true}
}

// hash returns a name for a file.
func hash(parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return hex.EncodeToString(sum[:16])
}

// close closes the folder, unless it belongs to another diskCache.
func (d *diskCache) close() {
	if !d.shared {
		d.root.Close()
	}
}

// object returns the blocks of the version that was opened.
func (d *diskCache) object(e *opened) *diskObject {
	return &diskObject{d, hash(d.key, e.id.ETag, e.id.Modified, fmt.Sprint(e.id.Size)), e.id.Size, e.parts}
}

// read returns the content of a file, or nil. It removes a damaged file, because put skips blocks that exist.
func (d *diskCache) read(name string, most int64) []byte {
	f, err := d.root.Open(name)
	if err != nil {
		return nil
	}
	defer f.Close()
	fi, err := f.Stat()
	if err != nil || !fi.Mode().IsRegular() {
		return nil
	}
	n, intact := fi.Size()-sumLen, false
	var b []byte
	if n >= 0 && n <= most {
		b = make([]byte, n+sumLen)
		if _, err := f.ReadAt(b, 0); err != nil {
			return nil
		}
		intact = checksum(name, b[:n]) == binary.LittleEndian.Uint32(b[n:])
	}
	if !intact {
		f.Close()
		d.root.Remove(name)
		return nil
	}
	if now := time.Now(); now.Sub(fi.ModTime()) > time.Minute { // the files that were used last stay longest
		d.root.Chtimes(name, now, now)
	}
	return b[:n]
}

// checksum returns the checksum of a file.
func checksum(name string, b []byte) uint32 {
	t := crc32.MakeTable(crc32.Castagnoli)
	return crc32.Update(crc32.Checksum([]byte(name), t), t, b)
}

// write writes a file. Another process may write the same one.
func (d *diskCache) write(name string, b []byte) {
	temp := fmt.Sprintf("%s%016x", tempPrefix, rand.Uint64())
	f, err := d.root.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return
	}
	_, err = f.Write(binary.LittleEndian.AppendUint32(slices.Clip(b), checksum(name, b)))
	err = errors.Join(err, f.Close())
	if err == nil {
		err = d.root.Rename(temp, name)
	}
	if err != nil {
		d.root.Remove(temp)
		return
	}
	d.limit(int64(len(b)))
}

// entryFile is the content of a file KEY.obj.
type entryFile struct {
	ETag     []byte     `json:"etag,omitempty"` // may have bytes that are no UTF-8, which JSON changes in a string
	Modified string     `json:"modified,omitempty"`
	Size     int64      `json:"size"`
	Whole    bool       `json:"whole,omitempty"` // the server ignores ranges
	Ends     []entryEnd `json:"ends"`
}

// entryEnd is an end of an object.
type entryEnd struct {
	Off  int64  `json:"off"`
	Data []byte `json:"data"`
}

// entry returns what an earlier Open has read of the object, or nil.
func (d *diskCache) entry() *opened {
	name := d.key + entrySuffix
	b := d.read(name, 4*keep+4096)
	var e entryFile
	if b == nil || json.Unmarshal(b, &e) != nil {
		return nil
	}
	o := &opened{id: identity{version{string(e.ETag), e.Modified}, e.Size}, settled: true}
	if !o.id.named() || e.Size < 0 || e.Size >= maxSize || len(e.Ends) > 2 {
		return nil
	}
	end := int64(0)
	for _, p := range e.Ends {
		if p.Off < end || p.Off > e.Size-int64(len(p.Data)) {
			return nil
		}
		o.parts = append(o.parts, part{id: o.id, off: p.Off, data: p.Data, whole: e.Whole})
		end = p.Off + int64(len(p.Data))
	}
	return o
}

// load adds the blocks between the ends of an object of a server that ignores ranges, because no request can read them.
// It returns false if some are missing, or the object has more than most bytes.
func (d *diskObject) load(o *opened, most int64) bool {
	if o.id.Size > most {
		return false
	}
	whole := part{id: o.id, data: make([]byte, o.id.Size), whole: true}
	at := int64(0)
	for _, p := range append(o.parts, part{off: o.id.Size}) {
		if at < p.off && len(d.get(whole.data[at:p.off], at)) > 0 {
			return false
		}
		copy(whole.data[p.off:], p.data)
		at = p.end()
	}
	o.parts = []part{whole}
	return true
}

// putEntry stores what Open has read of the object. An object of a server that ignores ranges is of use only if all of
// it is stored: putEntry does not store one that would take more than half of the folder from the others.
func (d *diskObject) putEntry(o *opened) {
	e := entryFile{ETag: []byte(o.id.ETag), Modified: o.id.Modified, Size: o.id.Size}
	for _, p := range o.parts {
		if e.Whole = e.Whole || p.whole; e.Whole && d.size > d.most/2 {
			d.root.Remove(d.key + entrySuffix) // of another version
			return
		}
		if len(p.data) <= keep {
			e.Ends = append(e.Ends, entryEnd{p.off, p.data})
			continue
		}
		tail := max(keep, len(p.data)-keep) // it is the whole object
		e.Ends = append(e.Ends, entryEnd{0, p.data[:keep]}, entryEnd{int64(tail), p.data[tail:]})
		if tail > keep {
			blocks := *d
			blocks.ends = nil // p has their bytes, too
			blocks.put(p.data[keep:], keep)
		}
	}
	if b, err := json.Marshal(e); err == nil {
		d.write(d.key+entrySuffix, b)
		d.setAsked()
	}
}

// unasked reports whether the last use of the entry ended before the server answered whether the object has changed.
func (d *diskCache) unasked() bool { return d.exists(d.key + askSuffix) }

// setUnasked makes the next Open ask first. If that is impossible, it removes the entry.
func (d *diskCache) setUnasked() {
	f, err := d.root.OpenFile(d.key+askSuffix, os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		d.root.Remove(d.key + entrySuffix)
		return
	}
	f.Close()
}

// setAsked ends the effect of setUnasked.
func (d *diskCache) setAsked() { d.root.Remove(d.key + askSuffix) }

// dropEntry removes the entry of a version that the server no longer has.
func (d *diskObject) dropEntry() {
	name := d.key + entrySuffix
	if e := d.entry(); e != nil && d.object(e).version == d.version {
		d.root.Remove(name)
	}
}

// align returns the whole blocks of ascending ranges.
func (d *diskObject) align(want []Range, size int64) []Range {
	aligned := make([]Range, len(want))
	for i, r := range want {
		off := r.Off / blockSize * blockSize
		end := min((r.End()+blockSize-1)/blockSize*blockSize, size)
		aligned[i] = Range{Off: off, Len: end - off}
	}
	return aligned
}

// blockName returns the name of the file of a block.
func (d *diskObject) blockName(k int64) string { return fmt.Sprintf("%s-%x", d.version, k) }

// get fills buf, which is for the bytes at off, with cached bytes. It returns the ranges of all other bytes.
func (d *diskObject) get(buf []byte, off int64) (missing []Range) {
	end := off + int64(len(buf))
	for k := off / blockSize; k*blockSize < end; k++ {
		lo, hi := max(k*blockSize, off), min((k+1)*blockSize, end)
		b := d.read(d.blockName(k), blockSize)
		if int64(len(b)) == min(blockSize, d.size-k*blockSize) {
			copy(buf[lo-off:hi-off], b[lo-k*blockSize:])
		} else {
			missing = append(missing, Range{Off: lo, Len: hi - lo})
		}
	}
	return missing
}

// put stores the blocks of which buf, the bytes at off, and the ends of the object have all bytes.
func (d *diskObject) put(buf []byte, off int64) {
	end := off + int64(len(buf))
	for k := off / blockSize; k*blockSize < end; k++ {
		lo, hi := k*blockSize, min((k+1)*blockSize, d.size)
		block := make([]byte, hi-lo)
		have := overlay(block, lo, buf, off)
		for _, p := range d.ends {
			have += overlay(block, lo, p.data, p.off)
		}
		if name := d.blockName(k); have == len(block) && !d.exists(name) {
			d.write(name, block)
		}
	}
}

// overlay copies the bytes that dst, at byte at of an object, and src, at byte off, have in common.
func overlay(dst []byte, at int64, src []byte, off int64) int {
	lo, hi := max(at, off), min(at+int64(len(dst)), off+int64(len(src)))
	if lo >= hi {
		return 0
	}
	return copy(dst[lo-at:hi-at], src[lo-off:])
}

// exists reports whether there is a file.
func (d *diskCache) exists(name string) bool {
	_, err := d.root.Lstat(name)
	return err == nil
}

// limit notes that n bytes were written, and removes the files that were not used for longest if there are too many.
// KEY.ask stays as long as KEY.obj. limit looks at the folder after the first write and whenever a sixteenth of the
// limit was written.
func (d *diskCache) limit(n int64) {
	d.mu.Lock()
	d.written += n
	due := !d.checked || d.written > d.most/16
	if due {
		d.checked, d.written = true, 0
	}
	d.mu.Unlock()
	if !due {
		return
	}
	folder, err := d.root.Open(".")
	if err != nil {
		return
	}
	defer folder.Close()
	entries, _ := folder.ReadDir(-1)
	var files []fs.FileInfo
	total := int64(0)
	for _, e := range entries {
		fi, err := e.Info()
		switch {
		case err != nil || !fi.Mode().IsRegular():
		case strings.HasPrefix(fi.Name(), tempPrefix):
			if time.Since(fi.ModTime()) > time.Hour {
				d.root.Remove(fi.Name()) // of a process that was killed
			}
		case isCacheFile(fi.Name()):
			files = append(files, fi)
			total += fi.Size()
		}
	}
	if total <= d.most {
		return
	}
	slices.SortFunc(files, func(a, b fs.FileInfo) int { return a.ModTime().Compare(b.ModTime()) })
	for _, fi := range files {
		if total <= d.most-d.most/8 {
			break
		}
		if key, ok := strings.CutSuffix(fi.Name(), askSuffix); ok && d.exists(key+entrySuffix) {
			continue // the next Open would use the entry without asking
		}
		d.root.Remove(fi.Name())
		total -= fi.Size()
	}
}

// isCacheFile reports whether a name is that of a file of the cache.
func isCacheFile(name string) bool {
	head, rest, ok := strings.Cut(name, "-")
	if !ok {
		ext := filepath.Ext(name)
		head, rest, ok = strings.TrimSuffix(name, ext), "0", ext == entrySuffix || ext == askSuffix
	}
	const digits = "0123456789abcdef"
	return ok && len(head) == 32 && rest != "" && strings.Trim(head, digits) == "" && strings.Trim(rest, digits) == ""
}
