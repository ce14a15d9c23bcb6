package zipdir

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/goblosc/blosc2/frame/store/internal/source"
	"github.com/goblosc/blosc2/internal/errs"
)

// part is a member of a zip file of a test.
type part struct {
	name    string
	data    string
	method  uint16
	flags   uint16
	size    int    // claimed, if not 0
	header  int    // claimed offset of the local header, plus 1
	local   string // name in the local header, if it is another
	extra   int    // bytes of the extra field of the local header
	decoded int    // claimed decoded size, if not 0
}

// build returns a zip file with the parts, and the number of members that its end claims.
func build(parts []part, claimed int) []byte {
	var out, dir []byte
	le := binary.LittleEndian
	for _, p := range parts {
		at, size, local := len(out), len(p.data), p.local
		if p.size != 0 {
			size = p.size
		}
		if p.header != 0 {
			at = p.header - 1
		}
		if local == "" {
			local = p.name
		}
		decoded := size
		if p.decoded != 0 {
			decoded = p.decoded
		}
		h := make([]byte, localLen, localLen+len(local))
		le.PutUint32(h, markLocal)
		le.PutUint16(h[8:], p.method)
		le.PutUint16(h[26:], uint16(len(local)))
		le.PutUint16(h[28:], uint16(p.extra))
		out = append(append(append(append(out, h...), local...), make([]byte, p.extra)...), p.data...)
		c := make([]byte, centralLen)
		le.PutUint32(c, markCentral)
		le.PutUint16(c[8:], p.flags)
		le.PutUint16(c[10:], p.method)
		le.PutUint32(c[20:], uint32(size))
		le.PutUint32(c[24:], uint32(decoded))
		le.PutUint16(c[28:], uint16(len(p.name)))
		le.PutUint32(c[42:], uint32(at))
		dir = append(append(dir, c...), p.name...)
	}
	e := make([]byte, endLen)
	le.PutUint32(e, markEnd)
	le.PutUint16(e[10:], uint16(claimed))
	le.PutUint32(e[12:], uint32(len(dir)))
	le.PutUint32(e[16:], uint32(len(out)))
	return append(append(out, dir...), e...)
}

// readAll reads the directory of a zip file.
func readAll(r io.ReaderAt, size int64, most int) ([]Member, source.Source, error) {
	ctx, in := context.Background(), source.FromReader(r, size)
	tail, err := Tail(ctx, in)
	if err != nil {
		return nil, nil, err
	}
	return Read(ctx, in, tail, most)
}

// read returns the contents of all members by name.
func read(b []byte, most int) (map[string]string, error) {
	members, src, err := readAll(bytes.NewReader(b), int64(len(b)), most)
	if err != nil {
		return nil, err
	}
	got := map[string]string{}
	for i := range members {
		r, err := members[i].Data(context.Background(), src, int64(i%2)*100)
		if err != nil {
			return got, err
		}
		data, err := io.ReadAll(source.Reader(context.Background(), r))
		if err != nil {
			return got, err
		}
		got[members[i].Name] = string(data)
	}
	return got, nil
}

func TestRead(t *testing.T) {
	got, err := read(build([]part{{name: "a", data: "one"}, {name: "d/b.b2nd", data: "two", extra: 28}, {name: "empty"}}, 3), 10)
	if err != nil || len(got) != 3 || got["a"] != "one" || got["d/b.b2nd"] != "two" || got["empty"] != "" {
		t.Errorf("%q, %v", got, err)
	}
	if got, err := read(build(nil, 0), 0); err != nil || len(got) != 0 {
		t.Errorf("an empty file: %q, %v", got, err)
	}
}

// Files of other writers, with data descriptors, and with more members than 16 bits count.
func TestReadOthers(t *testing.T) {
	for _, n := range []int{3, 70000} {
		var out bytes.Buffer
		w := zip.NewWriter(&out)
		for i := range n {
			f, err := w.CreateHeader(&zip.FileHeader{Name: fmt.Sprintf("m/%d.b2nd", i), Method: zip.Store})
			if err == nil {
				_, err = fmt.Fprintf(f, "content %d", i)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if err := w.SetComment("a comment"); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		got, err := read(out.Bytes(), n)
		if err != nil || len(got) != n || got["m/2.b2nd"] != "content 2" {
			t.Errorf("%d members of %d, %v", len(got), n, err)
		}
		if _, err := read(out.Bytes(), n-1); !errors.Is(err, errs.ErrTooLarge) {
			t.Errorf("%d members, at most %d: %v", n, n-1, err)
		}
	}
}

func TestHostile(t *testing.T) {
	good, long := part{name: "good", data: "0123456789"}, strings.Repeat("name", 1<<13)
	for name, c := range map[string]struct {
		parts   []part
		claimed int
		want    error
	}{
		"parent":         {[]part{{name: "../x"}}, 1, errs.ErrCorrupt},
		"inner parent":   {[]part{{name: "a/../../x"}}, 1, errs.ErrCorrupt},
		"absolute":       {[]part{{name: "/x"}}, 1, errs.ErrCorrupt},
		"backslash":      {[]part{{name: `a\..\x`}}, 1, errs.ErrCorrupt},
		"no name":        {[]part{{name: ""}}, 1, errs.ErrCorrupt},
		"not UTF-8":      {[]part{{name: "a\xff"}}, 1, errs.ErrCorrupt},
		"NUL":            {[]part{{name: "a\x00b"}}, 1, errs.ErrCorrupt},
		"long name":      {[]part{{name: long}, {name: long}}, 2, errs.ErrCorrupt},
		"same name":      {[]part{good, good}, 2, errs.ErrCorrupt},
		"overlap":        {[]part{good, {name: "evil", data: "x", header: 11}}, 2, errs.ErrCorrupt},
		"same place":     {[]part{good, {name: "evil", header: 1}}, 2, errs.ErrCorrupt},
		"too long":       {[]part{{name: "a", data: "x", size: 50}}, 1, errs.ErrCorrupt},
		"into the next":  {[]part{{name: "a", data: "x", size: 20}, good}, 2, errs.ErrCorrupt},
		"beyond the end": {[]part{{name: "a", header: 1 << 20}}, 1, errs.ErrCorrupt},
		"other name":     {[]part{{name: "a", local: "b"}}, 1, errs.ErrCorrupt},
		"extra field":    {[]part{{name: "a", data: "x", extra: 3, size: 4}}, 1, errs.ErrCorrupt},
		"wrong size":     {[]part{{name: "a", data: "x", decoded: 9}}, 1, errs.ErrCorrupt},
		"compressed":     {[]part{{name: "a", data: "x", method: 8, decoded: 1 << 30}}, 1, errors.ErrUnsupported},
		"encrypted":      {[]part{{name: "a", data: "x", flags: 1}}, 1, errors.ErrUnsupported},
		"too few":        {[]part{good, {name: "b"}}, 1, errs.ErrCorrupt},
		"too many":       {[]part{good}, 2, errs.ErrCorrupt},
		"far too many":   {[]part{good}, 60000, errs.ErrCorrupt},
	} {
		if _, err := read(build(c.parts, c.claimed), 1000); !errors.Is(err, c.want) || len(err.Error()) > 500 {
			t.Errorf("%s: got %v, want %v", name, err, c.want)
		}
	}
	if _, err := read([]byte("no zip file, but long enough for its end"), 1000); !errors.Is(err, errs.ErrFormat) {
		t.Errorf("no zip file: %v", err)
	}
}

// Opening a file with a small directory needs one read, with a large one two.
func TestRequests(t *testing.T) {
	for n, want := range map[int]int{10: 1, 5000: 2} {
		parts := make([]part, n)
		for i := range parts {
			parts[i].name = fmt.Sprintf("group/leaf%06d.b2nd", i)
		}
		b := build(parts, n)
		r := &counter{r: bytes.NewReader(b)}
		members, src, err := readAll(r, int64(len(b)), n)
		if err == nil { // the last member is in memory
			_, err = members[n-1].Data(context.Background(), src, 0)
		}
		if err != nil || len(members) != n || r.reads != want {
			t.Errorf("%d members of %d with %d reads, want %d: %v", len(members), n, r.reads, want, err)
		}
	}
}

type counter struct {
	r     io.ReaderAt
	reads int
}

func (c *counter) ReadAt(p []byte, off int64) (int, error) {
	c.reads++
	return c.r.ReadAt(p, off)
}

func FuzzRead(f *testing.F) {
	for _, parts := range [][]part{{{name: "a", data: "one"}, {name: "b/c", data: "two", extra: 4}}, {{name: "a", method: 8}}, nil} {
		f.Add(build(parts, len(parts)))
	}
	files, err := filepath.Glob("../../../../testdata/stores/*.b2z")
	if err != nil || len(files) != 2 {
		f.Fatalf("%v, %v", files, err)
	}
	for _, name := range files {
		b, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		members, src, err := readAll(bytes.NewReader(b), int64(len(b)), 1000)
		if err != nil {
			return
		}
		total := int64(0)
		for i := range members {
			if members[i].Fault == nil {
				total += members[i].Size
			}
			if r, err := members[i].Data(context.Background(), src, int64(i%2)*100); err == nil {
				if data, err := io.ReadAll(source.Reader(context.Background(), r)); err != nil || int64(len(data)) != members[i].Size {
					t.Fatalf("%q: %d bytes of %d, %v", members[i].Name, len(data), members[i].Size, err)
				}
			}
		}
		if total > int64(len(b)) {
			t.Fatalf("members of %d bytes in a file of %d", total, len(b))
		}
	})
}
