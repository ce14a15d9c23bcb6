// Package manifest reads the manifests of the test data: a list of the files that python-blosc2, C-Blosc2 or C-Blosc
// wrote and of what they decode to.
package manifest

import (
	"encoding/json"
	"os"
	"path/filepath"
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

// Read returns the cases of a folder of testdata, such as "legacy". Tests run in the folder of their package, so Read
// looks for testdata in the folders above.
func Read(t testing.TB, folder string) []Case {
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
	var m struct{ Cases []Case }
	if err := json.Unmarshal(b, &m); err != nil {
		t.Fatal(err)
	}
	if len(m.Cases) == 0 {
		t.Fatalf("no cases in the manifest of %s", folder)
	}
	for i, c := range m.Cases {
		m.Cases[i].Path = filepath.Join(dir, c.File)
	}
	return m.Cases
}
