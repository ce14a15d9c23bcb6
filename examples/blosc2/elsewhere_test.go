package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/meta"
)

// TestVerifyElsewhere verifies frames with the metalayers by which python-blosc2 marks data elsewhere. A metalayer that
// is invalid or of an unknown kind is a fault.
func TestVerifyElsewhere(t *testing.T) {
	const proxy = "\x82\xadlocal_abspath\xa7/a.b2nd\xa7urlpath\xc0"
	const whole, some = "the data is elsewhere, so only the metadata was checked", "some chunks are elsewhere and were not checked"
	stored, missing := strings.Repeat("abcd", 20), strings.Repeat("\x00", 80)
	for _, c := range []struct {
		layer, content string
		chunks         []string
		note           string // "" for a fault
	}{
		{"b2o", "\x82\xa4kind\xa8lazyexpr\xa7version\x01", []string{missing}, whole},
		{"b2o", "\x81\xa4kind\xa7lazyudf", []string{missing}, whole},
		{"b2o", "\x81\xa4kind\xa7c2array", []string{missing}, whole},
		{"b2o", "\x81\xa4kind\xa3new", []string{missing}, ""},
		{"b2o", "\x81\xa4kind\x01", []string{missing}, ""},
		{"b2o", "\xc1\xff", []string{missing}, ""},
		{"LazyArray", "\x01", []string{missing}, whole},
		{"LazyArray", "\xc1\xff", []string{missing}, ""},
		{"proxy-source", proxy, []string{stored, missing, missing}, some},
		{"proxy-source", proxy, []string{stored, stored}, "no checksums, so"},
		{"proxy-source", "\xc1\xff", []string{stored, missing}, ""},
	} {
		path := filepath.Join(t.TempDir(), "a.b2frame")
		o := &frame.CreateOptions{
			ChunkSize: 80, Params: chunk.Params{TypeSize: 4}, Meta: []meta.Layer{{Name: c.layer, Content: []byte(c.content)}},
		}
		f, err := frame.CreateFunc(t.Context(), path, func(b *frame.Batch) error {
			for _, data := range c.chunks {
				if err := b.Append(t.Context(), []byte(data)); err != nil {
					return err
				}
			}
			return nil
		}, o)
		if err != nil {
			t.Fatal(err)
		}
		f.Close()
		code, out, errOut := call(t, "", "verify", path)
		isFault := code == 1 && strings.Count(string(out), "\n") == 1 && strings.Contains(errOut, "faults found: 1")
		isNote := code == 0 && len(out) == 0 && strings.Contains(errOut, "note: "+path+": "+c.note)
		if isFault != (c.note == "") || isNote != (c.note != "") || strings.Contains(errOut, some) != (c.note == some) {
			t.Errorf("%s %q: exit %d, %s%s", c.layer, c.content, code, out, errOut)
		}
	}
}

// TestVerifyCache damages a fetched chunk of a cache that lacks others.
func TestVerifyCache(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.b2nd")
	data := "abcdefghijklmnopqrstuvwxyz012345" + strings.Repeat("\x00", 32)
	must(t, data, "create", "-raw", "-chunks", "32", "-checksums", "-meta", `proxy-source={"local_abspath": null, "urlpath": null}`, path)
	code, out, errOut := call(t, "", "verify", path)
	if want := "blosc2 verify: note: " + path + ": some chunks are elsewhere and were not checked\n"; code != 0 || len(out) > 0 || errOut != want {
		t.Errorf("exit %d, %s%s", code, out, errOut)
	}
	damaged := strings.Replace(readFile(t, path), "mnop", "mnoP", 1)
	code, out, errOut = call(t, "", "verify", writeFile(t, "damaged.b2nd", damaged))
	if code != 1 || !strings.Contains(string(out), "checksum") || strings.Contains(errOut, "elsewhere") {
		t.Errorf("damaged: exit %d, %s%s", code, out, errOut)
	}
}
