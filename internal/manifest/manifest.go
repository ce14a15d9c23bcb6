// Package manifest reads the manifests of the test data: a list of the files that python-blosc2, C-Blosc2 or C-Blosc
// wrote and of what they decode to.
package manifest

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// Case is an entry of a manifest. Fields that an entry does not have are zero.
type Case struct {
	Path string `json:"-"` // of the file, or of the directory of a sparse frame

	File   string // name in its folder
	Kind   string // "b2nd", "frame", "chunk", ...
	NBytes int64  // size of the content
	SHA256 string // of the content, in hexadecimal

	// Frames and chunks.
	NChunks     int
	TypeSize    int
	ChunkSize   int
	ChunkSHA256 []string   `json:"chunk_sha256"`
	ChunkSizes  []int      `json:"chunk_sizes"`
	BlockSizes  [][]int    `json:"block_sizes"` // of chunks with variable-length blocks
	BlockSHA256 [][]string `json:"block_sha256"`
	VLMeta      map[string]any
	Meta        map[string]any

	// Arrays.
	Shape          []int64
	Chunks, Blocks []int32
	DType          *string // nil if the array has none
	ItemSize       int
	Slices         []Slice
	Params         map[string]string `json:"cparams"`

	ReferenceOpens *bool `json:"reference_opens"` // false if C-Blosc2 cannot open it as an array
}

// Slice is a slice of an array and the hash of its items.
type Slice struct {
	Start, Stop, Step []int64
	Shape             []int64
	SHA256            string
}

// Table is a table of a manifest with all its values.
type Table struct {
	Path string `json:"-"` // of the file or directory

	File     string
	Rows     int64
	Nullable bool
	Columns  map[string]Column
}

// Column is a column of a Table. Numbers are of type json.Number.
type Column struct {
	Kind   string
	Values []any
	Null   []int // rows that are null
}

// Read returns the cases of a folder of testdata, such as "legacy".
func Read(t testing.TB, folder string) []Case {
	t.Helper()
	var m struct{ Cases []Case }
	dir := decode(t, folder, &m)
	if len(m.Cases) == 0 {
		t.Fatalf("no cases in the manifest of %s", folder)
	}
	for i, c := range m.Cases {
		m.Cases[i].Path = filepath.Join(dir, c.File)
	}
	return m.Cases
}

// Tables returns the tables of python-blosc2.
func Tables(t testing.TB) []Table {
	t.Helper()
	var m struct{ Cases []Table }
	dir := decode(t, "tables", &m)
	if len(m.Cases) != 52 {
		t.Fatalf("%d tables, want 52", len(m.Cases))
	}
	for i, c := range m.Cases {
		m.Cases[i].Path = filepath.Join(dir, c.File)
	}
	return m.Cases
}

// decode decodes the manifest of a folder of testdata, and returns the path of the folder. Tests run in the folder of
// their package, so it looks for testdata in the folders above.
func decode(t testing.TB, folder string, v any) string {
	t.Helper()
	dir := filepath.Join("testdata", folder)
	b, err := os.ReadFile(filepath.Join(dir, "manifest.json"))
	for up := 0; os.IsNotExist(err) && up < 5; up++ {
		dir = filepath.Join("..", dir)
		b, err = os.ReadFile(filepath.Join(dir, "manifest.json"))
	}
	if err != nil {
		t.Fatal(err)
	}
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	if err := d.Decode(v); err != nil {
		t.Fatal(err)
	}
	return dir
}

// Frames returns the frames of all folders of testdata.
func Frames(t testing.TB) []Case {
	t.Helper()
	return slices.DeleteFunc(append(Read(t, "python-blosc2"), Read(t, "legacy")...), func(c Case) bool { return c.Kind == "chunk" })
}

// Contiguous returns the names and the bytes of the contiguous frames up to a size in bytes.
func Contiguous(t testing.TB, most int64) (names []string, frames [][]byte) {
	t.Helper()
	for _, c := range Frames(t) {
		fi, err := os.Stat(c.Path)
		if err != nil {
			t.Fatal(err)
		}
		if fi.IsDir() || fi.Size() > most {
			continue
		}
		b, err := os.ReadFile(c.Path)
		if err != nil {
			t.Fatal(err)
		}
		names, frames = append(names, c.File), append(frames, b)
	}
	return names, frames
}
