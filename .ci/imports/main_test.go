package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const goMod = `module github.com/goblosc/blosc2

go 1.26.0

require (
	github.com/klauspost/compress v1.20.3
	github.com/pierrec/lz4/v4 v4.1.33
	github.com/vmihailenco/msgpack/v5 v5.4.1
	golang.org/x/sys v0.49.0
)

require github.com/vmihailenco/tagparser/v2 v2.0.0 // indirect
`

// tree is a repository that keeps every rule.
func tree() map[string]string {
	return map[string]string{
		"go.mod":                     goMod,
		"go.sum":                     "",
		"README.md":                  "",
		".gitignore":                 "/blosc2\n*.prof\n",
		"blosc2":                     "built",
		"cpu.prof":                   "measured",
		".ci/interop/go.mod":         "module x\n",
		".ci/interop/x.go":           source("C", "example.com/other"),
		"testdata/x.go":              source("example.com/other"),
		"codec/_gen/x.go":            source("example.com/other"),
		"codec/codec.go":             source("errors", "github.com/klauspost/compress/zstd", "github.com/pierrec/lz4/v4"),
		"codec/internal/fast/x.go":   source(own("internal/cpu"), own("internal/race")),
		"codec/codec_test.go":        source("testing", own("codec/codectest")),
		"shuffle/shuffle.go":         source(own("internal/filters")),
		"internal/filters/f.go":      source(own("internal/cpu")),
		"shuffle/shuffle_test.go":    source(own("internal/guardpage")),
		"internal/cpu/cpu.go":        source("golang.org/x/sys/cpu"),
		"internal/manifest/m.go":     source("testing"),
		"meta/meta.go":               source("github.com/vmihailenco/msgpack/v5/msgpcode"),
		"chunk/chunk.go":             source(own("codec"), own("internal/coder")),
		"internal/coder/coder.go":    source(own("codec"), own("internal/filters")),
		"frame/frame.go":             source(own("chunk"), own("meta"), own("internal/coder")),
		"frame/frame_test.go":        source(own("codec")),
		"frame/internal/sum/x.go":    source(own("internal/cpu")),
		"ndarray/ndarray.go":         source(own("frame"), own("meta"), own("chunk")),
		"ndarray/internal/box/b.go":  source("iter"),
		"ndarray/ndarray_test.go":    source(own("codec")),
		"examples/quickstart/x.go":   source("fmt", own("ndarray"), own("codec")),
		"examples/recipes/x_test.go": source(own("internal/manifest"), own("internal/attack")),
		"internal/attack/attack.go":  source(own("ndarray"), own("codec"), "golang.org/x/sys/unix"),
		"examples/heavy/go.mod":      "module heavy\n",
		"examples/heavy/x.go":        source("example.com/other", own("ndarray")),
		"examples/heavy/sub/more.go": source("example.com/other"),
	}
}

func own(pkg string) string { return module + "/" + pkg }

func source(imports ...string) string {
	return "package x\n\nimport (\n\t_ \"" + strings.Join(imports, "\"\n\t_ \"") + "\"\n)\n"
}

// faultsOf writes a repository to a folder and checks it.
func faultsOf(t *testing.T, files map[string]string) []string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		p := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(p), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	faults, err := check(dir)
	if err != nil {
		t.Fatal(err)
	}
	return faults
}

func TestGoodTree(t *testing.T) {
	if faults := faultsOf(t, tree()); len(faults) > 0 {
		t.Errorf("faults in a tree that keeps the rules:\n%s", strings.Join(faults, "\n"))
	}
}

// TestEntries fills a folder up to the largest number of entries, and adds one.
func TestEntries(t *testing.T) {
	files := tree()
	for i := 4; i < maxEntries; i++ { // codec has four entries
		files[fmt.Sprintf("codec/c%d.go", i)] = source("fmt")
	}
	if faults := faultsOf(t, files); len(faults) > 0 {
		t.Errorf("%d entries: %q", maxEntries, faults)
	}
	files["codec/c.go"] = source("fmt")
	if faults := faultsOf(t, files); len(faults) != 1 || !strings.Contains(faults[0], "codec: 61 entries") {
		t.Errorf("%d entries: %q", maxEntries+1, faults)
	}
}

// TestCrossed changes one file of the good tree at a time; each change must be found, and nothing else.
func TestCrossed(t *testing.T) {
	tests := []struct{ name, file, text, want string }{
		{"codec to shuffle", "codec/b.go", source(own("shuffle")), "codec/b.go: must not import"},
		{"shuffle to codec in a test", "shuffle/b_test.go", source(own("codec")), "shuffle/b_test.go"},
		{"meta to chunk", "meta/b.go", source(own("chunk")), "meta/b.go"},
		{"coder to frame", "internal/coder/b.go", source(own("frame")), "internal/coder/b.go"},
		{"codec to coder", "codec/b.go", source(own("internal/coder")), "codec/b.go"},
		{"chunk to frame", "chunk/b.go", source(own("frame")), "chunk/b.go"},
		{"chunk to frame in a test", "chunk/b_test.go", source(own("frame")), "chunk/b_test.go"},
		{"chunk to meta", "chunk/b.go", source(own("meta")), "chunk/b.go"},
		{"frame to shuffle", "frame/b.go", source(own("shuffle")), "frame/b.go"},
		{"frame to ndarray", "frame/b.go", source(own("ndarray")), "frame/b.go"},
		{"ndarray to shuffle", "ndarray/b.go", source(own("shuffle")), "ndarray/b.go"},
		{"ndarray to examples", "ndarray/b.go", source(own("examples/quickstart")), "ndarray/b.go"},
		{"below internal", "frame/internal/store/b.go", source(own("ndarray")), "frame/internal/store/b.go"},
		{"other platform", "shuffle/b_windows.go", source(own("chunk")), "shuffle/b_windows.go"},
		{"with a build tag", "shuffle/b.go", "//go:build purego\n\n" + source(own("chunk")), "shuffle/b.go"},
		{"the root", "codec/b.go", source(module), "codec/b.go"},
		{"klauspost in chunk", "chunk/b.go", source("github.com/klauspost/compress/zstd"), "chunk/b.go"},
		{"pierrec in a test of chunk", "chunk/b_test.go", source("github.com/pierrec/lz4/v4"), "chunk/b_test.go"},
		{"msgpack in frame", "frame/b.go", source("github.com/vmihailenco/msgpack/v5"), "frame/b.go"},
		{"cpu in codec", "codec/b.go", source("golang.org/x/sys/cpu"), "codec/b.go"},
		{"cpu in frame", "frame/b.go", source("golang.org/x/sys/cpu"), "frame/b.go"},
		{"cpu in chunk", "chunk/b.go", source("golang.org/x/sys/cpu"), "chunk/b.go"},
		{"cpu below codec", "codec/internal/fast/b.go", source("golang.org/x/sys/cpu"), "codec/internal/fast/b.go"},
		{"test support in a program", "frame/b.go", source(own("internal/manifest")), "frame/b.go"},
		{"test support in a kernel", "codec/internal/fast/b.go", source(own("internal/guardpage")), "codec/internal/fast/b.go"},
		{"internal in an example", "examples/quickstart/b.go", source(own("internal/cpu")), "examples/quickstart/b.go"},
		{"internal to a package", "internal/cpu/b.go", source(own("codec")), "internal/cpu/b.go"},
		{"an internal package without a rule", "internal/other/b.go", source(own("internal/cpu")), "internal/other/b.go"},
		{"an import of it", "codec/b.go", source(own("internal/other")), "codec/b.go"},
		{"an attack in a program", "frame/b.go", source(own("internal/attack")), "frame/b.go"},
		{"unix in frame", "frame/b.go", source("golang.org/x/sys/unix"), "frame/b.go"},
		{"a fifth library", "codec/b.go", source("example.com/other"), "codec/b.go"},
		{"a name that only begins alike", "codec/b.go", source("github.com/klauspost/compressor"), "codec/b.go"},
		{"library in an example", "examples/quickstart/b.go", source("example.com/other"), "examples/quickstart/b.go"},
		{"cgo", "shuffle/b.go", source("C"), "shuffle/b.go"},
		{"a new package", "util/b.go", source("fmt"), "util: does not belong"},
		{"a package at the top", "blosc2.go", source("fmt"), "blosc2.go: does not belong"},
		{"a module in a package", "frame/sub/go.mod", "module sub\n", "frame/sub: a module of its own"},
		{"go.mod requires more", "go.mod", goMod + "\nrequire example.com/other v1.0.0\n", "must not require example.com/other"},
		{"go.mod requires less", "go.mod", strings.Replace(goMod, "\tgolang.org/x/sys v0.49.0\n", "", 1), "must require golang.org/x/sys"},
		{"only indirectly", "go.mod", strings.Replace(goMod, "v0.49.0", "v0.49.0 // indirect", 1), "must require golang.org/x/sys directly"},
		{"go.mod replaces", "go.mod", goMod + "\nreplace golang.org/x/sys => ../sys\n", "no replace"},
		{"another module", "go.mod", strings.Replace(goMod, "goblosc", "other", 1), "the module is"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			files := tree()
			files[tt.file] = tt.text
			faults := faultsOf(t, files)
			if len(faults) != 1 || !strings.Contains(faults[0], tt.want) {
				t.Errorf("faults %q, want one with %q", faults, tt.want)
			}
		})
	}
}
