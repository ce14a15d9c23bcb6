package table

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
)

// jsonTexts are JSON, and text that is almost JSON.
var jsonTexts = []string{
	`null`, ` [true , false,null] `, `{"a": {"b": [1, -2.5e+3, "x"]}, "a": 2}`, `{}`, `[]`, `""`, `"\"\\\/\b\f\n\r\t\u00e9"`, `"\ud83d\ude00 \ud83d x \ud83d\u0041 \ude00"`,
	"\"\xff\xc3\"", `0`, `-0`, `10.25`, `1e5`, `1E-2`, "", `nul`, `[1,]`, `[,1]`, `[1 2]`, `{"a" 1}`, `{"a":}`, `{a: 1}`, `{1: 2}`, `{"a": 1,}`, `01`, `-`, `1.`, `.5`, `1e`, `+1`,
	`0x1`, `"a`, `"\x"`, `"\u12g4"`, `"\u12`, "\"\n\"", `[`, `{`, `{"a"`, `[1]]`, `1 2`, `"a" "b"`, `truefalse`, "\x00", "1\x00", `[[[[]]]]`, `{"": [{}]}`, `1e400`,
}

// checkJSON compares parseJSON with package encoding/json.
func checkJSON(t *testing.T, text string) {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	var want any
	valid := json.Valid([]byte(text)) && d.Decode(&want) == nil
	got, err := parseJSON([]byte(text))
	if (err == nil) != valid || err != nil && !errors.Is(err, ErrCorrupt) {
		t.Errorf("%q: %v, %v, but it is valid: %v", text, got, err, valid)
	} else if valid && !reflect.DeepEqual(plain(got), plain(want)) {
		t.Errorf("%q: %#v, want %#v", text, got, want)
	}
}

// plain returns a value with numbers as text.
func plain(v any) any {
	switch v := v.(type) {
	case jsonNumber:
		return []string{string(v)}
	case json.Number:
		return []string{v.String()}
	case []any:
		list := make([]any, len(v))
		for i := range v {
			list[i] = plain(v[i])
		}
		return list
	case map[string]any:
		m := map[string]any{}
		for k := range v {
			m[k] = plain(v[k])
		}
		return m
	}
	return v
}

func TestParseJSON(t *testing.T) {
	for _, text := range jsonTexts {
		checkJSON(t, text)
	}
	got, err := parseJSON([]byte(`[NaN, Infinity, -Infinity, "NaN"]`))
	if want := []any{jsonNumber("NaN"), jsonNumber("Infinity"), jsonNumber("-Infinity"), "NaN"}; err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%v, %v", got, err)
	}
	if _, err := parseJSON([]byte(strings.Repeat("[", 1<<20))); !errors.Is(err, ErrCorrupt) {
		t.Errorf("deep: %v", err)
	}
}

func FuzzJSON(f *testing.F) {
	for _, text := range jsonTexts {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if !strings.Contains(text, "NaN") && !strings.Contains(text, "Infinity") && strings.Count(text, "[")+strings.Count(text, "{") < maxJSONDepth {
			checkJSON(t, text)
		}
	})
}
