package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// notYet lists patterns, as for path.Match, of folders and files whose prose is not checked yet. Remove a pattern after
// rewriting the prose.
var notYet = []string{}

// ignored lists phrases that a file may contain, as "file: phrase".
var ignored = []string{}

// columns is the largest width of a line with a comment. A tab counts as four columns.
const columns = 120

// phrase is a pattern that prose must not match, and what to write instead.
type phrase struct {
	re   *regexp.Regexp
	want string
}

// phrases are patterns with few false alarms. They ignore case.
var phrases = compile([][2]string{
	{`\bbehind\b`, "after, past the end"},
	{`\bstands?\b`, "represents, is stored, is"},
	{`\bstood\b`, "was stored, was"},
	{`\b(tells?|told) (whether|that|how|where|if|which|what|of)\b`, "reports whether, returns"},
	{`\bsays? (whether|that|how|where|if|which|what|so)\b`, "reports whether, specifies"},
	{`\banew\b`, "again"},
	{`\bbut for\b`, "except for"},
	{`\bnothing but\b`, "only"},
	{`\bshall\b`, "must, should"},
	{`\bin the mean\b`, "on average"},
	{`\bmeanwhile\b`, "during the call"},
	{`\bfor ever\b`, "forever"},
	{`\bin vain\b`, "without effect"},
	{`\bwhole numbers\b`, "integers"},
	{`\btruth values?\b`, "boolean"},
	{`\btime differences?\b`, "timedelta"},
	{`\bvlmetalayers?\b`, "variable-length metalayer"},
	{`\bprocessors?\b`, "CPU"},
	{`\b(un)?sound\b`, "intact, valid; damaged, invalid"},
	{`\b(we|ours?)\b`, "this package, the caller"},
	{`\b(nobody|somebody|anybody)\b`, "no caller, no reader"},
	{`\b(those|for) who\b`, "for callers that"},
	{`\bof such\b`, "of these, and the noun"},
	{`\bfrom ([a-z]|[a-z]*[0-9]+|one|which|that|byte|pos|start|position) on\b`, "from N up, starting at"},
	{`\bcut off\b`, "truncated"},
	{`\bhow often\b`, "the number of times"},
	{`\b(is|are|be) an? (?-i:Err[A-Z])`, "returns ErrX if"},
	{`\b(stored|stays?|kept|copied|left) as (it is|they are)\b`, "unchanged, uncompressed"},
	{`\bwhat (is|was|are) (there|stored|left|written)\b`, "the noun"},
	{`\bpays?\b`, "is faster"},
	{`\bgives? back\b`, "releases, returns"},
	{`\bgreatest\b`, "largest"},
	{`\bexists already\b`, "already exists"},
	{`\b(crew|wreck|patience)\b`, "helper pool, damaged frame, budget"},
	{`\bmend(s|ed)?\b`, "repair"},
	{`\b(behav|col|neighb|hon|fav|lab|harb)i?our`, "American spelling: -or"},
	{`\b(un)?(initial|normal|optim|recogn|organ|serial|synchron|minim|maxim|special|general|parallel|vector|summar|util|random|standard|token|real)is(e|ed|es|ing|ation)\b`, "American spelling: -ize"},
	{`\b(analys(e|ed|es|ing)|centres?|licence|cancell(ed|ing)|grey|artefacts?|whilst|judgement|catalogues?)\b`, "American spelling"},
})

func compile(table [][2]string) []phrase {
	var list []phrase
	for _, row := range table {
		list = append(list, phrase{regexp.MustCompile(`(?i)` + row[0]), row[1]})
	}
	return list
}

// errorCall matches the names of functions whose string arguments are messages.
var errorCall = regexp.MustCompile(`(?i)(err|corrupt|fatal|fail|skip|panic|log)`)

// checkProse returns the faults of the prose below a folder: comments of Go and assembly files, messages in Go files,
// and Markdown files. It leaves out the folders and files that match a pattern of skip.
func checkProse(dir string, skip, ignore []string) ([]string, error) {
	var found []string
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, p)
		if err != nil {
			return err
		}
		name = filepath.ToSlash(name)
		switch base := path.Base(name); {
		case slices.ContainsFunc(skip, func(pattern string) bool { ok, _ := path.Match(pattern, name); return ok }):
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		case d.IsDir():
			if base != "." && base != ".ci" && (base[0] == '.' || base[0] == '_') {
				return fs.SkipDir
			}
			return nil
		}
		texts, err := textsOf(p, name)
		for _, t := range texts {
			found = append(found, t.check(name, ignore)...)
		}
		return err
	})
	return found, err
}

// textsOf returns the prose of a file, and doc comments that do not start with their name.
func textsOf(p, name string) ([]text, error) {
	ext := path.Ext(name)
	inTestdata := slices.Contains(strings.Split(name, "/"), "testdata")
	if ext != ".md" && (inTestdata || ext != ".go" && ext != ".s" && ext != ".h") {
		return nil, nil
	}
	source, err := os.ReadFile(p)
	if err != nil {
		return nil, err
	}
	lines := strings.Split(string(source), "\n")
	switch ext {
	case ".go":
		return goTexts(p, source, lines)
	case ".md":
		return markdownTexts(lines), nil
	}
	return assemblyTexts(lines), nil
}

// text is a passage of prose in consecutive lines.
type text struct {
	line    int // number of the first line
	lines   []string
	source  []string // the lines of the file, if their width is limited
	problem string   // a fault that was found before
}

var (
	code      = regexp.MustCompile("`[^`]*`")
	directive = regexp.MustCompile(`^\s*//(go:|line |[a-z]+:)`)
	link      = regexp.MustCompile(`https?://`)
)

// check returns the faults of a text in a file.
func (t *text) check(name string, ignore []string) []string {
	if t.problem != "" {
		return []string{fmt.Sprintf("%s:%d: %s", name, t.line, t.problem)}
	}
	var found []string
	for i, line := range t.source {
		if n := len([]rune(strings.ReplaceAll(line, "\t", "    "))); n > columns && !directive.MatchString(line) && !link.MatchString(line) {
			found = append(found, fmt.Sprintf("%s:%d: comment in %d columns, want at most %d", name, t.line+i, n, columns))
		}
	}
	all, starts := "", []int{}
	for _, line := range t.lines {
		starts = append(starts, len(all))
		all += code.ReplaceAllString(line, "`") + " "
	}
	for _, p := range phrases {
		for _, at := range p.re.FindAllStringIndex(all, -1) {
			match := all[at[0]:at[1]]
			if slices.Contains(ignore, name+": "+match) {
				continue
			}
			i, _ := slices.BinarySearch(starts, at[0]+1)
			found = append(found, fmt.Sprintf("%s:%d: %q, write: %s", name, t.line+i-1, match, p.want))
		}
	}
	return found
}

// goTexts returns the comments and messages of a Go file.
func goTexts(p string, source []byte, lines []string) ([]text, error) {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, p, source, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	var texts []text
	for _, group := range file.Comments {
		first, last := fset.Position(group.Pos()).Line, fset.Position(group.End()).Line
		t := text{line: first, source: lines[first-1 : last]}
		for i := first; i <= last; i++ {
			line := lines[i-1]
			if i == first {
				line = line[fset.Position(group.Pos()).Column-1:]
			}
			t.lines = append(t.lines, strings.TrimLeft(strings.TrimSpace(line), "/ "))
		}
		texts = append(texts, t)
	}
	ast.Inspect(file, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok && errorCall.MatchString(calledName(call)) {
			for _, arg := range call.Args {
				texts = append(texts, messages(fset, arg)...)
			}
		}
		return true
	})
	if !strings.HasSuffix(p, "_test.go") && file.Name.Name != "main" {
		texts = append(texts, misnamed(fset, file)...)
	}
	return texts, nil
}

// calledName returns the name of the called function, with its package or receiver: errors.New, t.Errorf, corrupt.
func calledName(call *ast.CallExpr) string {
	switch f := call.Fun.(type) {
	case *ast.Ident:
		return f.Name
	case *ast.SelectorExpr:
		if x, ok := f.X.(*ast.Ident); ok {
			return x.Name + "." + f.Sel.Name
		}
		return f.Sel.Name
	}
	return ""
}

// messages returns the string literals of an argument, which may be a sum. Literals in calls belong to these calls.
func messages(fset *token.FileSet, arg ast.Expr) []text {
	switch x := arg.(type) {
	case *ast.BinaryExpr:
		return append(messages(fset, x.X), messages(fset, x.Y)...)
	case *ast.BasicLit:
		if s, err := strconv.Unquote(x.Value); err == nil && x.Kind == token.STRING {
			return []text{{line: fset.Position(x.Pos()).Line, lines: []string{s}}}
		}
	}
	return nil
}

// misnamed returns a text for each exported name whose doc comment does not start with the name, after an article for
// types.
func misnamed(fset *token.FileSet, file *ast.File) []text {
	var texts []text
	look := func(name *ast.Ident, doc *ast.CommentGroup, articles ...string) {
		if doc == nil || !name.IsExported() {
			return
		}
		words := strings.FieldsFunc(doc.Text(), func(r rune) bool { return r != '_' && !isWord(r) })
		if len(words) > 1 && slices.Contains(articles, words[0]) {
			words = words[1:]
		}
		if len(words) == 0 || words[0] != name.Name {
			texts = append(texts, text{line: fset.Position(doc.Pos()).Line, problem: "the doc comment of " + name.Name + " does not start with the name"})
		}
	}
	for _, decl := range file.Decls {
		switch d := decl.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil || receiver(d.Recv.List[0].Type).IsExported() {
				look(d.Name, d.Doc)
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				doc := d.Doc
				switch s := spec.(type) {
				case *ast.TypeSpec:
					if d.Lparen.IsValid() {
						doc = s.Doc
					}
					look(s.Name, doc, "A", "An", "The")
				case *ast.ValueSpec:
					if d.Lparen.IsValid() {
						doc = s.Doc
					}
					look(s.Names[0], doc)
				}
			}
		}
	}
	return texts
}

func isWord(r rune) bool {
	return r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z'
}

// assemblyTexts returns the comments of an assembly file or of a file that it includes.
func assemblyTexts(lines []string) []text {
	var texts []text
	for i, line := range lines {
		before, comment, ok := strings.Cut(line, "//")
		if !ok || directive.MatchString(line) {
			continue
		}
		comment = strings.TrimSpace(comment)
		if n := len(texts); strings.TrimSpace(before) == "" && n > 0 && texts[n-1].line+len(texts[n-1].lines) == i+1 {
			texts[n-1].lines = append(texts[n-1].lines, comment)
			texts[n-1].source = append(texts[n-1].source, line)
		} else {
			texts = append(texts, text{line: i + 1, lines: []string{comment}, source: []string{line}})
		}
	}
	return texts
}

// markdownTexts returns the paragraphs of a Markdown file, without code blocks.
func markdownTexts(lines []string) []text {
	var texts []text
	fenced := false
	for i, line := range lines {
		if strings.HasPrefix(strings.TrimSpace(line), "```") {
			fenced = !fenced
			continue
		}
		if fenced || strings.TrimSpace(line) == "" {
			continue
		}
		if n := len(texts); n > 0 && texts[n-1].line+len(texts[n-1].lines) == i+1 {
			texts[n-1].lines = append(texts[n-1].lines, line)
		} else {
			texts = append(texts, text{line: i + 1, lines: []string{line}})
		}
	}
	return texts
}
