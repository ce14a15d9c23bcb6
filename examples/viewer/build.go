package main

import (
	"embed"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/goblosc/blosc2/examples/viewer/internal/squeeze"
)

// web holds the page.
//
//go:embed web
var web embed.FS

// size is the size of a file after compression.
type size struct {
	name    string
	gzipped int
}

// build writes the viewer to a folder.
func build(dir string) ([]size, error) {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, err
	}
	program, err := compile()
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{"viewer.wasm.gz": program}
	root, err := goRoot()
	if err != nil {
		return nil, err
	}
	if files["wasm_exec.js"], err = os.ReadFile(filepath.Join(root, "lib", "wasm", "wasm_exec.js")); err != nil {
		return nil, err
	}
	pages, err := fs.Sub(web, "web")
	if err != nil {
		return nil, err
	}
	names, err := fs.Glob(pages, "*")
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		if files[name], err = fs.ReadFile(pages, name); err != nil {
			return nil, err
		}
	}
	var sizes []size
	for _, name := range append(names, "wasm_exec.js", "viewer.wasm.gz") {
		if err := os.WriteFile(filepath.Join(dir, name), files[name], 0o666); err != nil {
			return nil, err
		}
		n := len(files[name])
		if filepath.Ext(name) != ".gz" {
			n = len(squeeze.Gzip(files[name]))
		}
		sizes = append(sizes, size{name, n})
	}
	return sizes, nil
}

const module = "github.com/goblosc/blosc2"

// small are packages that are compiled without inlining, which makes the program smaller by 130 kB. They do little for
// each item or byte: that is the work of decoders, filters and copies. The viewer neither converts nor encodes items.
var small = []string{
	"bufio", "bytes", "context", "encoding/base64", "errors", "fmt", "internal/bisect", "internal/fmtsort", "internal/godebug", "internal/poll",
	"internal/reflectlite", "internal/runtime/atomic", "internal/strconv", "internal/sync", "io", "io/fs", "log", "math/big", "os", "path", "reflect", "sort", "strconv", "strings", "sync", "syscall",
	"syscall/js", "time", "unicode", "crypto/...", "github.com/vmihailenco/...",
	module + "/chunk", module + "/codec", module + "/frame", module + "/frame/internal/...", module + "/frame/store/...", module + "/internal/coder",
	module + "/internal/ranges", module + "/internal/sched", module + "/internal/task", module + "/meta", module + "/ndarray",
	module + "/ndarray/internal/grid", module + "/ndarray/internal/selection", module + "/examples/viewer/wasm",
	module + "/examples/viewer/internal/document", module + "/examples/viewer/internal/httprange", module + "/examples/viewer/internal/object",
	module + "/examples/viewer/internal/session", module + "/examples/viewer/internal/item", module + "/examples/viewer/internal/plane",
	module + "/ndarray/internal/convert", module + "/ndarray/internal/numbers", module + "/ndarray/internal/rechunk",
	module + "/internal/codecs", module + "/internal/engine", module + "/internal/errs", module + "/internal/paths", module + "/internal/tune",
	module + "/codec/internal/cover", module + "/codec/internal/deflate", module + "/codec/internal/lz4dict", module + "/codec/internal/lz4hc", module + "/codec/internal/ndlz", module + "/codec/internal/zstdenc",
	"runtime", "encoding/...", "hash/...", "internal/abi", "internal/runtime/maps", "iter", "maps", "slices",
}

// compile returns the compressed program of the worker.
func compile() ([]byte, error) {
	tmp, err := os.MkdirTemp("", "viewer")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(tmp)
	out := filepath.Join(tmp, "viewer.wasm")
	args := []string{"build", "-trimpath", "-ldflags=-s -w", "-o", out}
	for _, p := range small {
		args = append(args, "-gcflags="+p+"=-l")
	}
	cmd := exec.Command("go", append(args, module+"/examples/viewer/wasm")...)
	cmd.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm")
	cmd.Stderr = os.Stderr
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("go build: %w", err)
	}
	program, err := os.ReadFile(out)
	if err != nil {
		return nil, err
	}
	return squeeze.Gzip(program), nil
}

// goRoot returns the folder of the Go distribution.
func goRoot() (string, error) {
	out, err := exec.Command("go", "env", "GOROOT").Output()
	return strings.TrimSpace(string(out)), err
}
