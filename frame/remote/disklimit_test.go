package remote

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestDiskLimit fills a cache beyond its limit, and leaves files of others alone.
func TestDiskLimit(t *testing.T) {
	data := randomBytes(3 << 20)
	s := newServer(t, data)
	dir := t.TempDir()
	for _, name := range []string{"notes.txt", "tmp-0123", "tmp-old"} {
		if err := os.WriteFile(filepath.Join(dir, name), make([]byte, 100), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	old := time.Now().Add(-2 * time.Hour)
	if err := os.Chtimes(filepath.Join(dir, "tmp-old"), old, old); err != nil {
		t.Fatal(err)
	}
	o := diskOptions(dir)
	o.DirBytes = 1 << 20
	o.MaxLen = 128 << 10
	obj := openServer(t, s, o)
	for range 2 {
		for off := int64(0); off < int64(len(data)); off += 100_000 {
			readAll(t, obj, data, []Range{{Off: off, Len: min(100_000, int64(len(data))-off)}})
		}
	}
	settle(t, obj)
	total := int64(0)
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		fi, err := e.Info()
		if err != nil {
			t.Fatal(err)
		}
		total += fi.Size()
		if e.Name() == "tmp-old" {
			t.Error("the file of a killed process is left")
		}
	}
	if total > o.DirBytes+o.DirBytes/16+blockSize || total < o.DirBytes/2 {
		t.Errorf("%d bytes, want about %d", total, o.DirBytes)
	}
	for _, name := range []string{"notes.txt", "tmp-0123"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			t.Error(err)
		}
	}
}

// TestDiskLimitMarks fills a cache beyond its limit that has an entry with a mark that the next Open must ask. The mark
// must not be removed before the entry, also if it is older.
func TestDiskLimitMarks(t *testing.T) {
	now := time.Now()
	for _, c := range []struct {
		entry, mark time.Duration // ages
		kept, left  bool          // the entry stays, and a mark without an entry
	}{
		{0, 3 * time.Hour, true, false}, {3 * time.Hour, 2 * time.Hour, false, false}, {3 * time.Hour, 0, false, true},
	} {
		o := diskOptions(t.TempDir())
		o.DirBytes = 4 * blockSize
		d, err := openDisk(o, "k")
		if err != nil {
			t.Fatal(err)
		}
		defer d.close()
		e := &opened{id: identity{version{ETag: `"1"`}, 8 * blockSize}, settled: true}
		obj := d.object(e)
		obj.putEntry(e)
		d.setUnasked()
		for suffix, age := range map[string]time.Duration{entrySuffix: c.entry, askSuffix: c.mark} {
			if err := d.root.Chtimes(d.key+suffix, now.Add(-age), now.Add(-age)); err != nil {
				t.Fatal(err)
			}
		}
		for k := range int64(8) {
			obj.put(make([]byte, blockSize), k*blockSize)
			at := now.Add(-time.Hour + time.Duration(k)*time.Minute)
			d.root.Chtimes(obj.blockName(k), at, at)
		}
		if entry, mark := d.exists(d.key+entrySuffix), d.unasked(); entry != c.kept || mark != (c.kept || c.left) {
			t.Errorf("ages %v and %v: entry %v, mark %v", c.entry, c.mark, entry, mark)
		}
	}
}
