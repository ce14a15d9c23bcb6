package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/goblosc/blosc2/ndarray"
)

// anySize allows any memory.
func anySize(int64) error { return nil }

// TestKeysInKeys has keys of maps that are no strings. Maps inside such keys, inside each other, must not multiply.
func TestKeysInKeys(t *testing.T) {
	for packed, want := range map[string]string{
		"\x81\xc0\x01":                           `{"null": 1}`,
		"\x81\x92\xa1a\x91\x02\x01":              `{"[\"a\", [2]]": 1}`,
		"\x81\x92\x01\x82\xa1a\xc0\xa1b\xc0\xc0": `{"[1, \"map of 2\"]": null}`,
		"\x81\x80\xc0":                           `{"\"map of 0\"": null}`,
	} {
		if got, err := unpackJSON([]byte(packed), anySize); err != nil || got != want {
			t.Errorf("%x: %s, %v, want %s", packed, got, err, want)
		}
	}
	const depth = 24 // 400 would take all memory if the length doubled at each level
	b := append(bytes.Repeat([]byte{0x81}, depth), bytes.Repeat([]byte{0xc0}, depth+1)...)
	if got, err := unpackJSON(b, anySize); err != nil || len(got) > 100 {
		t.Errorf("%d bytes of JSON from %d, %v", len(got), len(b), err)
	}
}

// TestPackText packs characters, and refuses what is none.
func TestPackText(t *testing.T) {
	for text, want := range map[string]string{
		`"\ud83d\ude00"`: "\xa4😀", `"\\ud800"`: `\ud800`, `"\u0000\\"`: "\xa2\x00\\", `"\ufffd�"`: "\xa6��", `["\n", "\u00e9"]`: "\x92\xa1\n\xa2é",
		`"\ud800"`: "", `"\udc00\ud800"`: "", `"\ud800\ud83d\ude00"`: "", `{"\uD83Dx": 1}`: "", "\"\xff\"": "", `"\\\ud800"`: "",
	} {
		if b, err := packJSON(text); !strings.HasSuffix(string(b), want) || (err == nil) != (want != "") {
			t.Errorf("%q: %q, %v, want %q", text, b, err, want)
		}
	}
}

// TestHugeAttributes reads attributes of a small file that take far more memory than it: the values of one, and the
// bytes of all.
func TestHugeAttributes(t *testing.T) {
	name := filepath.Join(t.TempDir(), "a.b2nd")
	ctx := context.Background()
	a, err := ndarray.Zeros(ctx, name, []int64{3}, "<i4", &ndarray.CreateOptions{NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	err = a.SetAttr(ctx, "lists", make([][]any, 1<<21))
	b, beginErr := a.Frame().Begin(ctx)
	if err := errors.Join(err, beginErr); err != nil {
		t.Fatal(err)
	}
	for i := range 9 {
		err = errors.Join(err, b.SetVLMeta(fmt.Sprint("zeros", i), make([]byte, 9<<20)))
	}
	if err := errors.Join(err, b.Commit(), a.Close()); err != nil {
		t.Fatal(err)
	}
	fails(t, 1, "lists: meta: unmarshal: 136315591 bytes, but the default limit is 67108864; OpenOptions.MaxBytes may allow more", "", "vlmeta", name, "get", "lists")
	fails(t, 1, "all attributes: 68157445 bytes, but the default limit is 67108864; OpenOptions.MaxBytes may allow more", "", "info", "-json", name)
	if text := must(t, "", "info", name); !strings.Contains(text, "vlmeta lists    2097157 bytes") {
		t.Errorf("%.1000s", text)
	}
}
