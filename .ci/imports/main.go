// Command imports checks the structure of the module: imports between packages, the requirements of go.mod, the names
// at the top level, the number of entries of a folder, dependency cycles between the files of a package, exported names
// that only tests use, the rules of the interface, and whether .ci/api.txt lists the exported names. Run it from the
// top of the repository. It prints each fault and exits with status 1 if it found one.
//
// Imports run one way:
//
//	frame/store -> ndarray, frame, meta, chunk
//	ndarray -> frame, meta, chunk
//	frame   -> chunk, meta
//	chunk   -> internal/coder -> codec
//	codec, shuffle, meta -> none of these
//
// Each package also imports some packages below internal/, which import only each other. The command reads files
// regardless of their build constraints, so a rule holds on every platform and for every tag.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

const module = "github.com/goblosc/blosc2"

// layers maps a folder to the packages that it and the folders below it may import, from this module and from others.
// The longest matching folder applies.
var layers = map[string]struct{ ours, others []string }{
	"codec":   {[]string{"internal/errs", "internal/race", "internal/cpu", "internal/codecs"}, []string{"github.com/klauspost/compress", "github.com/pierrec/lz4/v4"}},
	"shuffle": {[]string{"internal/errs", "internal/filters"}, nil},
	"meta":    {[]string{"internal/errs"}, []string{"github.com/vmihailenco/msgpack/v5"}},
	"chunk":   {[]string{"internal/errs", "codec", "internal/coder", "internal/task", "internal/tune"}, nil},
	"frame": {[]string{"internal/errs", "internal/paths", "codec", "chunk", "meta", "internal/coder", "internal/engine", "internal/ndcopy", "internal/sched", "internal/task", "internal/tune",
		"internal/ranges", "internal/race", "internal/cpu", "frame/internal/storage", "frame/internal/blockcache", "frame/internal/blocktable", "frame/internal/crc32c"}, nil},
	"frame/internal/simulated":  {[]string{"frame/internal/storage"}, nil},
	"frame/remote":              {[]string{"internal/errs", "internal/ranges", "internal/task"}, nil},
	"frame/internal/storage":    {[]string{"internal/errs", "internal/paths", "internal/coder", "internal/ranges", "frame/internal/crc32c"}, []string{"golang.org/x/sys/unix", "golang.org/x/sys/windows"}},
	"frame/internal/blockcache": {},
	"frame/internal/blocktable": {[]string{"codec", "meta", "internal/coder", "internal/ranges"}, nil},
	"frame/internal/crc32c":     {[]string{"internal/race", "internal/cpu"}, nil},
	"frame/store":               {[]string{"internal/errs", "internal/paths", "ndarray", "frame", "chunk", "meta", "internal/coder", "internal/engine", "internal/task", "internal/double", "frame/internal/storage"}, nil},
	"ndarray": {[]string{"internal/errs", "internal/paths", "frame", "meta", "chunk", "codec", "internal/coder", "internal/engine", "internal/ndcopy", "internal/sched",
		"internal/filters", "internal/task", "internal/race", "internal/cpu", "internal/double"}, nil},

	"ndarray/internal/fartest": {[]string{"frame"}, nil},

	"internal/engine":      {[]string{"chunk", "codec", "meta", "internal/coder", "internal/ndcopy"}, nil},
	"internal/ndcopy":      {[]string{"internal/coder", "internal/filters", "internal/race", "internal/cpu"}, nil},
	"internal/sched":       {[]string{"internal/task"}, nil},
	"internal/coder":       {[]string{"internal/errs", "codec", "internal/codecs", "internal/filters", "internal/ranges", "internal/sched", "internal/task"}, nil},
	"internal/task":        {},
	"internal/tune":        {[]string{"internal/errs", "codec", "internal/coder"}, nil},
	"internal/errs":        {[]string{"internal/paths"}, nil},
	"internal/paths":       {},
	"internal/cpu":         {nil, []string{"golang.org/x/sys/cpu"}},
	"internal/race":        {},
	"internal/double":      {},
	"internal/ranges":      {},
	"internal/cpu/cputest": {[]string{"internal/cpu"}, nil},
	"internal/codecs":      {},
	"internal/filters":     {[]string{"internal/errs", "internal/race", "internal/cpu"}, nil},
	"internal/attack":      {[]string{"ndarray", "frame", "chunk", "codec", "meta"}, []string{"golang.org/x/sys/unix"}},
	"internal/golden":      {},
	"examples/large":       {nil, []string{"golang.org/x/sys/unix"}},
	"internal/guardpage":   {},
	"internal/link":        {},
	"internal/link/arrays": {[]string{"ndarray", "codec"}, nil},
	"internal/manifest":    {},
	"internal/mutation":    {[]string{"internal/race"}, nil},
	"internal/tabletest":   {[]string{"ndarray", "frame", "meta"}, nil},
	"internal/trap":        {},
}

// testSupport lists packages that any test, and only a test, may import.
var testSupport = []string{
	"internal/attack", "internal/golden", "internal/guardpage", "internal/link", "internal/link/arrays", "internal/manifest", "internal/mutation", "internal/tabletest", "internal/trap",
	"internal/race", "internal/cpu", "internal/cpu/cputest", "frame/internal/simulated", "ndarray/internal/fartest",
}

// besides holds the packages that the tests and examples of a package may import besides those that it may import: they
// are used together.
var besides = map[string][]string{
	"frame/remote": {"chunk", "codec", "frame", "ndarray"}, "frame/store": {"frame/remote"},
	"internal/attack":          {"frame/store", "frame/store/objects", "frame/store/table"},
	"ndarray/internal/fartest": {"ndarray"},
}

// required lists all direct requirements of go.mod.
var required = []string{
	"github.com/klauspost/compress",
	"github.com/pierrec/lz4/v4",
	"github.com/vmihailenco/msgpack/v5",
	"golang.org/x/sys",
}

// topLevel lists the files and folders allowed at the top of the repository.
var topLevel = []string{
	"b2arrow", "chunk", "cloud", "codec", "docs", "examples", "frame", "internal", "meta", "ndarray", "shuffle", "testdata",
	"go.mod", "go.sum", "README.md", "LICENSE", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", ".gitignore", ".ci", ".git", ".github",
}

// modules lists the folders that are modules of their own, besides those in examples: bridges to other libraries.
var modules = []string{"b2arrow", "cloud"}

// maxEntries is the largest number of files and folders in a folder of the module.
const maxEntries = 60

// moreEntries maps the folders that have more entries than maxEntries to their number. Lower these numbers as folders
// shrink.
var moreEntries = map[string]int{"internal/filters": 64}

func main() {
	update := flag.Bool("update", false, "write "+apiFile+" again")
	flag.Parse()
	faults, err := check(".")
	if err == nil && len(faults) == 0 {
		faults, err = checkCode(".", *update)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "imports:", err)
		os.Exit(1)
	}
	for _, f := range faults {
		fmt.Println(f)
	}
	if len(faults) > 0 {
		os.Exit(1)
	}
}

// checkCode returns the faults that can only be found in type-checked code.
func checkCode(dir string, update bool) ([]string, error) {
	pkgs, err := load(dir)
	if err != nil {
		return nil, err
	}
	unused, err := checkUnused(dir, pkgs)
	if err != nil {
		return nil, err
	}
	api, err := checkAPI(dir, pkgs, update)
	return slices.Concat(checkCycles(pkgs), checkRules(pkgs), unused, api), err
}

// check returns the faults of the repository in dir, in a fixed order.
func check(dir string) ([]string, error) {
	faults, err := checkTop(dir)
	if err != nil {
		return nil, err
	}
	more, err := checkMod(dir)
	if err != nil {
		return nil, err
	}
	faults = append(faults, more...)
	fsys := os.DirFS(dir)
	err = fs.WalkDir(fsys, ".", func(p string, d fs.DirEntry, err error) error {
		if err != nil || p == "." {
			return err
		}
		name := d.Name()
		if d.IsDir() {
			if name[0] == '.' || name[0] == '_' || name == "testdata" {
				return fs.SkipDir
			}
			if _, err := fs.Stat(fsys, p+"/go.mod"); err == nil {
				if path.Dir(p) != "examples" && !slices.Contains(modules, p) {
					faults = append(faults, p+": a module of its own may only stand in examples/NAME, or be one of modules")
				}
				return fs.SkipDir
			}
			more, err := checkEntries(fsys, p)
			faults = append(faults, more...)
			return err
		}
		if path.Ext(name) == ".go" {
			more, err := checkFile(dir, p)
			faults = append(faults, more...)
			return err
		}
		return nil
	})
	return faults, err
}

// checkEntries returns a fault for a folder that has more entries than maxEntries or moreEntries allows.
func checkEntries(fsys fs.FS, p string) ([]string, error) {
	entries, err := fs.ReadDir(fsys, p)
	if most := max(maxEntries, moreEntries[p]); len(entries) > most {
		return []string{fmt.Sprintf("%s: %d entries, at most %d may be there; use an existing file, or move code to a package below", p, len(entries), most)}, nil
	}
	return nil, err
}

// checkFile returns the imports of one file that break a rule. Tests may also import indirect dependencies.
func checkFile(dir, p string) ([]string, error) {
	file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(dir, p), nil, parser.ImportsOnly)
	if err != nil {
		return nil, err
	}
	var faults []string
	for _, spec := range file.Imports {
		imp, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return nil, err
		}
		if !allowed(p, imp) {
			faults = append(faults, fmt.Sprintf("%s: must not import %q", p, imp))
		}
	}
	return faults, nil
}

// allowed reports whether the file p, a path relative to the top, may import a package.
func allowed(p, imp string) bool {
	isTest := strings.HasSuffix(p, "_test.go")
	from := layerOf(path.Dir(p))
	if under(imp, module) {
		to := layerOf(strings.TrimPrefix(strings.TrimPrefix(imp, module), "/"))
		if isTest && slices.Contains(testSupport, to) {
			return true
		}
		if under(p, "examples") {
			return to == "" || !under(to, "internal")
		}
		if from == "" || to == "" {
			return false
		}
		if isTest && slices.Contains(besides[from], to) {
			return true
		}
		ours := layers[from].ours
		if isTest {
			ours = closure(from)
		}
		return to == from || slices.Contains(ours, to)
	}
	if first, _, _ := strings.Cut(imp, "/"); !strings.Contains(first, ".") {
		return imp != "C" // the standard library, never cgo
	}
	return slices.ContainsFunc(layers[from].others, func(lib string) bool { return under(imp, lib) })
}

// layerOf returns the key of layers that applies to a folder, or "" if there is none.
func layerOf(folder string) string {
	for folder != "." && folder != "" {
		if _, ok := layers[folder]; ok {
			return folder
		}
		folder = path.Dir(folder)
	}
	return ""
}

// closure returns every package of this module that a package may import, directly or indirectly.
func closure(from string) []string {
	var all []string
	for _, to := range layers[from].ours {
		all = append(append(all, to), closure(to)...)
	}
	return all
}

// under reports whether an import path is a package or is below it.
func under(imp, pkg string) bool {
	return imp == pkg || strings.HasPrefix(imp, pkg+"/")
}

// checkMod compares go.mod with the four libraries.
func checkMod(dir string) ([]string, error) {
	text, err := exec.Command("go", "mod", "edit", "-json", filepath.Join(dir, "go.mod")).Output()
	if err != nil {
		return nil, fmt.Errorf("go mod edit: %w", err)
	}
	var mod struct {
		Module  struct{ Path string }
		Require []struct {
			Path     string
			Indirect bool
		}
		Replace, Exclude, Tool []any
	}
	if err := json.Unmarshal(text, &mod); err != nil {
		return nil, fmt.Errorf("go.mod: %w", err)
	}
	var faults, direct []string
	if mod.Module.Path != module {
		faults = append(faults, "go.mod: the module is "+module)
	}
	if len(mod.Replace)+len(mod.Exclude)+len(mod.Tool) > 0 {
		faults = append(faults, "go.mod: no replace, exclude or tool")
	}
	for _, r := range mod.Require {
		if r.Indirect {
			continue
		}
		direct = append(direct, r.Path)
		if !slices.Contains(required, r.Path) {
			faults = append(faults, "go.mod: must not require "+r.Path)
		}
	}
	for _, r := range required {
		if !slices.Contains(direct, r) {
			faults = append(faults, "go.mod: must require "+r+" directly")
		}
	}
	return faults, nil
}

// checkTop returns a fault for each name that is not allowed at the top level, except names in .gitignore.
func checkTop(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	ignore, err := os.ReadFile(filepath.Join(dir, ".gitignore"))
	if err != nil && !os.IsNotExist(err) {
		return nil, err
	}
	var faults []string
	for _, e := range entries {
		name := e.Name()
		ignored := func(pattern string) bool {
			ok, err := path.Match(strings.TrimPrefix(pattern, "/"), name)
			return ok && err == nil
		}
		if !slices.Contains(topLevel, name) && !slices.ContainsFunc(strings.Fields(string(ignore)), ignored) {
			faults = append(faults, name+": does not belong at the top level")
		}
	}
	return faults, nil
}
