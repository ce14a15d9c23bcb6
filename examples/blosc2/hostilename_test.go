package main

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// TestHostileFileNames runs all verbs on a file whose name has control characters, which must not reach the terminal.
func TestHostileFileNames(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("file names have no control characters")
	}
	const hostile = "\x1b]0;x\x07\x1b[31m"
	dir := filepath.Join(t.TempDir(), hostile)
	a, damaged, npy, missing := filepath.Join(dir, "a.b2nd"), filepath.Join(dir, "d.b2nd"), filepath.Join(dir, "a.npy"), filepath.Join(dir, "missing")
	to, store := filepath.Join(dir, "to"), filepath.Join(dir, "s.b2d")
	if err := os.CopyFS(store, os.DirFS(storesDir+"tree.b2d")); err != nil {
		t.Fatal(err)
	}
	must(t, numbers(50000), "create", "-dtype", "<i4", a)
	writeFile(t, npy, npyFile([]int64{50000}, false, numbers(50000)))
	writeFile(t, damaged, readFile(t, a)[:200])
	writeFile(t, a+".0123abcd.tmp", "x")
	lines := map[string][][]string{
		"info":       {{a}, {"-json", a}, {"-chunks", a}, {"-tree", store}, {a, npy}},
		"dump":       {{damaged}, {npy}},
		"slice":      {{"-text", a, ":2"}, {a, ":,:"}},
		"ls":         {{store}, {"-json", store}},
		"table":      {{a}, {store}},
		"objects":    {{a}},
		"stats":      {{a}, {"-json", a}, {"-axis", "0", a}, {"-axis", "7", a}},
		"diff":       {{a, npy}, {a, store + "/img/level0"}, {a, damaged}},
		"bench":      {{"-goal", "balanced", a}, {"-goal", "balanced", npy}, {"-codecs", "lz4:1", "-filters", "none", a}, {"-codecs", "lz4:1", "-filters", "none", npy}},
		"plot":       {{"-kind", "line", a, to + ".svg"}, {a, to + ".svg"}, {"-kind", "heat", a, "-"}},
		"view":       {{a}, {store}},
		"serve":      {{"-addr", "127.0.0.1:0", dir}, {"-addr", "127.0.0.1:x", dir}, {a}},
		"create":     {{to + ".b2nd", npy}, {to + ".b2nd", npy}, {to, damaged}},
		"append":     {{a, npy}, {a, damaged}},
		"resize":     {{a, "60000"}, {a, "2,2"}},
		"set":        {{a, "0", "-value", "1"}, {a, "0", npy}},
		"vlmeta":     {{a}, {a, "set", "n", "1"}, {a, "get", "m"}},
		"copy":       {{a, to + "2.b2nd"}, {a, to + "2.b2nd"}, {damaged, to + "3"}},
		"compact":    {{a}, {npy}},
		"repair":     {{damaged, to + "4"}, {"-clean", a}},
		"verify":     {{a}, {damaged}, {npy}},
		"version":    {{}, {a}},
		"completion": {{"bash"}, {a}},
		"man":        {{}, {a}},
	}
	stopped, cancel := context.WithCancel(t.Context())
	cancel()
	for _, v := range newCLI().node().Children {
		calls := lines[v.Name]
		if calls == nil {
			t.Errorf("no lines for verb %s", v.Name)
		}
		for _, args := range append(calls, []string{missing}, []string{missing, missing}, []string{missing, missing, missing}, []string{"-" + hostile, a}) {
			ctx := t.Context()
			if v.Name == "serve" {
				ctx = stopped
			}
			var out, errOut strings.Builder
			run(ctx, append([]string{v.Name}, args...), strings.NewReader(numbers(10)), &out, &errOut)
			if text := out.String() + errOut.String(); strings.ContainsAny(text, "\x1b\x07") {
				t.Errorf("%s %q: %.300q", v.Name, args, text)
			}
		}
	}
}
