package main

import (
	"path/filepath"
	"strings"
	"testing"
)

const lazyExpression = "../../testdata/stores/lazy_expr.b2nd"

// TestVerifyNotesChecksums verifies frames with and without checksums.
func TestVerifyNotesChecksums(t *testing.T) {
	dir := t.TempDir()
	with, without := filepath.Join(dir, "with.b2nd"), filepath.Join(dir, "without.b2nd")
	must(t, "12345678", "create", "-raw", "-checksums", with)
	must(t, "12345678", "create", "-raw", without)
	for _, c := range []struct {
		args        []string
		code        int
		out, errOut string
	}{
		{[]string{with}, 0, "", ""},
		{[]string{"-require-checksums", with}, 0, "", ""},
		{[]string{without}, 0, "", "blosc2 verify: note: " + without + ": no checksums"},
		{[]string{"-require-checksums", without}, 1, "checksums: missing", "faults found: 1"},
	} {
		code, out, errOut := call(t, "", append([]string{"verify"}, c.args...)...)
		if code != c.code || !strings.Contains(string(out), c.out) || !strings.Contains(errOut, c.errOut) ||
			c.out == "" && len(out) > 0 || c.errOut == "" && errOut != "" {
			t.Errorf("verify %v: exit %d, %q, %q", c.args, code, out, errOut)
		}
	}
}

// TestLazyFile runs the verbs on a lazy expression of python-blosc2, whose data is not in the file. In an earlier
// version, dump wrote zeros.
func TestLazyFile(t *testing.T) {
	const words = `array is a lazy expression "((o0 + o1) * 2)" saved by python-blosc2; its data is not in the file`
	to := filepath.Join(t.TempDir(), "copy.b2nd")
	for _, args := range [][]string{
		{"dump", lazyExpression}, {"dump", "-npy", lazyExpression}, {"slice", lazyExpression, "0"},
		{"slice", lazyExpression, "[1, 2], 0"}, {"copy", "-codec", "lz4", lazyExpression, to},
		{"copy", "-chunks", "5,5", lazyExpression, to},
	} {
		fails(t, 1, words, "", args...)
	}
	code, text, errOut := call(t, "", "verify", lazyExpression)
	if want := "blosc2 verify: note: " + lazyExpression + ": the data is elsewhere, so only the metadata was checked\n"; code != 0 || len(text) != 0 || errOut != want {
		t.Errorf("verify: exit %d, %s, %q", code, text, errOut)
	}
	fails(t, 1, "faults found: 1", "", "verify", "-require-checksums", lazyExpression)
	content := readFile(t, lazyExpression)
	if code, out, _ := call(t, "", "verify", writeFile(t, "cut.b2nd", content[:len(content)-1])); code != 1 || len(out) == 0 {
		t.Errorf("verify of a truncated file: exit %d, %s", code, out)
	}
	if out := must(t, "", "info", lazyExpression); !strings.Contains(out, `metalayer b2o            {"kind": "lazyexpr"`) || !strings.Contains(out, "vlmeta b2o ") {
		t.Errorf("info: %s", out)
	}
	if out := must(t, "", "vlmeta", lazyExpression, "get", "b2o"); !strings.Contains(out, "((o0 + o1) * 2)") {
		t.Errorf("vlmeta: %s", out)
	}
	must(t, "", "copy", lazyExpression, to)
	fails(t, 1, "only its metalayers can be edited", "", "resize", to, "40,20")
	fails(t, 1, "only its metalayers can be edited", "", "set", to, "0,0", "-value", "1")
	must(t, "", "vlmeta", to, "set", "note", "1")
	fails(t, 1, words, "", "dump", to)
}
