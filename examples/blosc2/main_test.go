package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/goblosc/blosc2/internal/manifest"
)

const fixturesDir = "../../testdata"

// fixture is a case of the test data.
type fixture = manifest.Case

// fixtures returns the cases of a directory of testdata.
func fixtures(t testing.TB, folder string) []fixture {
	t.Helper()
	return manifest.Read(t, folder)
}

// sum returns the SHA-256 of b in hexadecimal.
func sum(b []byte) string {
	s := sha256.Sum256(b)
	return hex.EncodeToString(s[:])
}

// call runs the command and returns its exit status and output.
func call(t testing.TB, stdin string, args ...string) (code int, out []byte, errOut string) {
	t.Helper()
	var o, e bytes.Buffer
	code = run(context.Background(), args, strings.NewReader(stdin), &o, &e)
	if n := countErrors(e.String()); len(args) > 0 && (code == 0 && n != 0 || code != 0 && n != 1) {
		t.Errorf("%q: exit %d with %q on standard error", args, code, e.String())
	}
	return code, o.Bytes(), e.String()
}

// countErrors returns the number of lines on standard error, without notes.
func countErrors(errOut string) int {
	n := 0
	for line := range strings.Lines(errOut) {
		if verb, _, ok := strings.Cut(strings.TrimPrefix(line, "blosc2 "), ": note: "); !ok || strings.Contains(verb, ":") {
			n++
		}
	}
	return n
}

// must runs the command, which must succeed, and returns its output.
func must(t testing.TB, stdin string, args ...string) string {
	t.Helper()
	code, out, errOut := call(t, stdin, args...)
	if code != 0 {
		t.Fatalf("%q: exit %d: %s", args, code, errOut)
	}
	return string(out)
}

// fails runs the command. It must fail with an exit status and an error that contains words.
func fails(t testing.TB, code int, words, stdin string, args ...string) {
	t.Helper()
	got, _, errOut := call(t, stdin, args...)
	if got != code || !strings.Contains(errOut, words) {
		t.Errorf("%q: exit %d with %q, want %d with %q", args, got, errOut, code, words)
	}
}

// inPieces runs the command with little memory, so that it processes the data in many pieces.
func inPieces(t testing.TB, slab int64, stdin string, args ...string) (string, error) {
	t.Helper()
	var out bytes.Buffer
	e := &env{ctx: context.Background(), in: strings.NewReader(stdin), out: bufio.NewWriter(&out), slab: slab}
	err := newCLI().dispatch(e, args)
	e.out.Flush()
	return out.String(), err
}

// copyTree copies a file or directory to a temporary directory and returns its new name.
func copyTree(t testing.TB, from string) string {
	t.Helper()
	to := filepath.Join(t.TempDir(), filepath.Base(from))
	fi, err := os.Stat(from)
	if err == nil && fi.IsDir() {
		err = os.CopyFS(to, os.DirFS(from))
	} else if err == nil {
		var b []byte
		if b, err = os.ReadFile(from); err == nil {
			err = os.WriteFile(to, b, 0o666)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return to
}

// writeFile writes a file, in a temporary directory unless name is absolute, and returns its name.
func writeFile(t testing.TB, name, content string) string {
	t.Helper()
	if !filepath.IsAbs(name) {
		name = filepath.Join(t.TempDir(), name)
	}
	if err := os.WriteFile(name, []byte(content), 0o666); err != nil {
		t.Fatal(err)
	}
	return name
}

// TestUsage calls the command without arguments, with help and with invalid usage.
func TestUsage(t *testing.T) {
	code, out, errOut := call(t, "")
	if code != 2 || len(out) != 0 || !strings.Contains(errOut, "usage: blosc2 VERB") {
		t.Errorf("no arguments: exit %d, %q", code, errOut)
	}
	overview := must(t, "", "help")
	for _, v := range newCLI().node().Children {
		if !strings.Contains(overview, "\n  "+v.Name) {
			t.Errorf("help does not mention %s", v.Name)
		}
		text := must(t, "", "help", v.Name)
		if !strings.HasPrefix(text, "usage: blosc2 "+v.Name) || text != must(t, "", v.Name, "-h") {
			t.Errorf("help %s: %q", v.Name, text)
		}
		if len(v.Positional) > 0 {
			fails(t, 2, " is missing (see blosc2 help "+v.Name, "", v.Name)
		}
		fails(t, 2, "unknown option -nonsense", "", v.Name, "x", "y", "-nonsense")
		if n := len(v.Positional); n == 0 || !v.Positional[n-1].IsSlice() {
			fails(t, 2, "too many arguments", "", v.Name, "a", "b", "c", "d", "e")
		}
	}
	fails(t, 2, `unknown verb "frob"`, "", "frob")
	fails(t, 2, `unknown verb "frob"`, "", "help", "frob")
	fails(t, 2, "one verb", "", "help", "info", "dump")
	x := filepath.Join(t.TempDir(), "x")
	for _, args := range [][]string{
		{"create", "-shape", "3,x", x}, {"create", "-shape", "-3", x}, {"create", "-level", "10", x},
		{"create", "-level", "fast", x}, {"create", "-codec", "brotli", x}, {"create", "-codec", "snappy", x},
		{"create", "-filters", "shuffel", x}, {"create", "-split", "maybe", x}, {"create", "-meta", "a", x},
		{"create", "-meta", "a={", x}, {"create", "-vlmeta", "a=1 2", x}, {"create", "-filters-meta", "1", x},
		{"create", "-filters", "none,none,none,none,none,none,none", x}, {"create", "-chunksize", "0", x},
		{"create", "-filters", "shuffle", "-filters-meta", "1,2", x}, {"create", "-chunksize", "5", "-shape", "3", x},
		{"create", "-chunksize", "5", "-chunks", "3", x}, {"create", "-typesize", "5", x}, {"create", "-chunks", "3000000000", x},
		{"create", "-codec-meta", "256", x}, {"create", "-filters", "trunc_prec", "-filters-meta", "-129", x},
		{"copy", "-sparse", "-contiguous", x, x}, {"set", x, "0", "in", "-value", "1"}, {"vlmeta", x, "get"},
		{"set", x, "0", "-value", "1", "-raw"}, {"set", x, "0", "-value", "1", "-dtype", "<f4"},
		{"info", x, "-tree", "-chunks"},
		{"repair", x, "-clean", "-sparse"}, {"repair", x, "-clean", "-checksums"}, {"repair", x, "-clean", "-overwrite"},
		{"vlmeta", x, "-hex", "delete", "a"},
		{"stats", x, "-axis", "0", "-bins", "5"}, {"stats", x, "-axis", "0", "-quantiles", "0.5"},
		{"vlmeta", x, "rename", "a"}, {"vlmeta", x, "set", "a", "zz", "-hex"}, {"vlmeta", x, "set", "a", "nope"},
		{"resize", x, "3,a"}, {"create", "-filters", "trunc_prec:x", x}, {"create", "-filters", "trunc_prec:", x},
		{"create", "-filters", "trunc_prec:256", x}, {"create", "-filters", "shuffle,trunc_prec:1", "-filters-meta", "0,2", x},
	} {
		fails(t, 2, "(see blosc2 help", "", args...)
	}
	if _, err := os.Stat(x); err == nil {
		t.Error("invalid usage created a file")
	}
}

// TestMissingAndForeignFiles runs the verbs on files that do not exist or are not frames.
func TestMissingAndForeignFiles(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "missing")
	text := writeFile(t, "text", "this is not a frame, but long enough to be one")
	badChunk := writeFile(t, "bad.chunk", "this is not a chunk, but long enough to be one")
	for _, args := range [][]string{{"info"}, {"dump"}, {"verify"}, {"vlmeta"}, {"append"}, {"slice", ":"}, {"resize", "3"}, {"set", ":"}, {"copy", missing + "2"}} {
		with := func(path string) []string {
			return append([]string{args[0], path}, args[1:]...)
		}
		fails(t, 1, "missing", "", with(missing)...)
		fails(t, 1, "not a Blosc2 frame", "", with(text)...)
		fails(t, 1, "bad.chunk", "", with(badChunk)...)
		fails(t, 1, "", "", with(t.TempDir())...)
	}
	fails(t, 1, "unsupported", "", "info", badChunk)
}

// readFile returns the contents of a file.
func readFile(t testing.TB, name string) string {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// callFree runs the command like call, and accepts any number of lines on standard error.
func callFree(stdin string, args ...string) (code int, out []byte, errOut string) {
	var o, e bytes.Buffer
	code = run(context.Background(), args, strings.NewReader(stdin), &o, &e)
	return code, o.Bytes(), e.String()
}
