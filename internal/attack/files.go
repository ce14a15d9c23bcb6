package attack

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
)

// kind is what a file of a mutant is.
type kind string

const (
	regular kind = "file"
	link    kind = "link"
	pipe    kind = "pipe"
	device  kind = "device"
	folder  kind = "folder"
)

// file is a file of a mutant: its bytes with a hole, or something else than a regular file.
type file struct {
	name string // in the directory of a sparse frame; empty for the file of a contiguous one
	kind kind
	parts
	target string // of a link; "OUTSIDE" at its start is the folder beside
}

// write makes the file in a folder, or under the name itself if the file has none.
func (f *file) write(dir, outside string) error {
	path := filepath.Join(dir, f.name)
	switch f.kind {
	case link:
		return os.Symlink(strings.Replace(f.target, "OUTSIDE", outside, 1), path)
	case pipe:
		return makePipe(path)
	case device:
		if makeDevice(path) == nil {
			return nil
		}
		return os.Symlink("/dev/zero", path) // devices need privileges
	case folder:
		return os.Mkdir(path, 0o777)
	}
	w, err := os.Create(path)
	if err != nil {
		return err
	}
	defer w.Close()
	if _, err := w.Write(f.head); err != nil {
		return err
	}
	if f.hole > 0 {
		if err := w.Truncate(f.size()); err != nil {
			return err
		}
	}
	if _, err := w.WriteAt(f.tail, int64(len(f.head))+f.hole); err != nil {
		return err
	}
	return w.Close()
}

const indexFile = "chunks.b2frame"

// chunkFile returns the name of a chunk file.
func chunkFile(id uint64) string { return fmt.Sprintf("%08X.chunk", id) }

// sparseFiles returns the files of a sparse frame whose index file is p.
func (m *model) sparseFiles(p *parts) []file {
	list := []file{{name: indexFile, kind: regular, parts: *p}}
	for i, c := range m.pieces {
		list = append(list, file{name: chunkFile(m.ids[i]), kind: regular, parts: parts{head: c}})
	}
	return list
}

// mutateFiles changes the directory of a sparse frame, and returns the files and what it did.
func mutateFiles(rng *rand.Rand, list []file) ([]file, string) {
	k := 0
	if len(list) > 1 && rng.IntN(4) > 0 {
		k = 1 + rng.IntN(len(list)-1)
	}
	f := &list[k]
	switch n := rng.IntN(12); {
	case n < 3:
		f.kind, f.target = link, pick(rng, "OUTSIDE/secret", "OUTSIDE/chunk", "../../outside/chunk", "OUTSIDE/none", list[0].name, list[len(list)-1].name,
			f.name, ".", "/dev/zero", "/dev/full", "OUTSIDE", "./"+list[len(list)-1].name)
		return list, f.name + " is a link to " + f.target
	case n < 4:
		f.kind = pick(rng, pipe, device, folder)
		return list, f.name + " is a " + string(f.kind)
	case n < 6:
		f.hole = holeSize(rng)
		if k > 0 && rng.IntN(2) == 0 && len(f.head) >= 32 { // the chunk claims the hole
			putLE32(f.head, 12, min(1<<31-1, f.size()))
			if rng.IntN(2) == 0 {
				f.head[2] |= 2
				putLE32(f.head, 4, le32(f.head, 12)-32)
			}
		}
		return list, fmt.Sprintf("%s has a hole of %d bytes", f.name, f.hole)
	case n < 7 && k > 0:
		name := f.name
		return append(list[:k:k], list[k+1:]...), name + " is missing"
	}
	extra := file{name: pick(rng, ".b2lock", indexFile+".tmp", "chunks.b2frame.0.tmp", chunkFile(uint64(len(list)-1)), chunkFile(uint64(len(list))),
		chunkFile(0xffffffff), "0000000000.chunk", chunkFile(1<<31))}
	for _, f := range list {
		if f.name == extra.name {
			return list, "nothing"
		}
	}
	extra.kind = pick(rng, link, link, link, pipe, device, folder, regular)
	extra.target = pick(rng, "OUTSIDE/secret", "OUTSIDE/none", "../../outside/secret", list[0].name, "/dev/zero", "OUTSIDE/sub/none")
	extra.head = []byte("abc")
	return append(list, extra), fmt.Sprintf("%s is a %s to %s", extra.name, extra.kind, extra.target)
}
