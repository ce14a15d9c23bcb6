//go:build !wasip1 && !js

package main

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
)

// TestServe serves a folder, reads from it as a client and with other verbs, and stops it.
func TestServe(t *testing.T) {
	a := newArray(t)
	b := filepath.Join(filepath.Dir(a), "attrs.b2nd")
	must(t, "x", "create", "-shape", "1", "-dtype", "|u1", "-vlmeta", `list=[1, {"a": null}]`, b)
	must(t, "", "vlmeta", "-hex", b, "set", "nan", "91cb7ff8000000000000")
	must(t, "", "vlmeta", "-hex", b, "set", "broken", "91")
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	in, out := io.Pipe()
	code := make(chan int, 1)
	var errOut bytes.Buffer
	go func() {
		code <- run(ctx, []string{"serve", "-addr", "127.0.0.1:0", "-cors", "*", filepath.Dir(a)}, nil, out, &errOut)
		out.Close()
	}()
	url, err := bufio.NewReader(in).ReadString('\n')
	if err != nil {
		t.Fatalf("%v: %s", err, errOut.String())
	}
	url = strings.TrimSpace(url) + filepath.Base(a)
	if got, want := must(t, "", "slice", "-text", url, "1, :3"), must(t, "", "slice", "-text", a, "1, :3"); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	for query, want := range map[string]string{
		"?sel=1,:3&format=npy":  must(t, "", "slice", "-npy", a, "1, :3"),
		"?sel=1,:3&format=json": `{"shape":[3],"dtype":"<i4","data":[19,19,21]}` + "\n",
	} {
		r, err := http.Get(url + query)
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(r.Body)
		r.Body.Close()
		if err != nil || string(got) != want || r.Header.Get("Access-Control-Allow-Origin") != "*" {
			t.Errorf("%s: %q, want %q (%v)", query, got, want, err)
		}
	}
	request, err := http.NewRequest("GET", url, nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Host = "evil.example"
	r, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	if r.Body.Close(); r.StatusCode != http.StatusMisdirectedRequest {
		t.Errorf("unknown host: %s", r.Status)
	}
	r, err = http.Get(strings.TrimSuffix(url, filepath.Base(a)) + "api/info/attrs.b2nd")
	if err != nil {
		t.Fatal(err)
	}
	info, err := io.ReadAll(r.Body)
	if r.Body.Close(); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"vlmeta":{"list":[1, {"a": null}],"nan":"[NaN]"}`, `"vlmeta_errors":{"broken":"meta: unmarshal: `} {
		if !strings.Contains(string(info), want) {
			t.Errorf("no %s in %s", want, info)
		}
	}
	cancel()
	if got := <-code; got != 0 || errOut.Len() != 0 {
		t.Errorf("exit %d, %s", got, errOut.String())
	}
	fails(t, 1, "missing", "", "serve", "-addr", "127.0.0.1:0", filepath.Join(t.TempDir(), "missing"))
	fails(t, 1, "listen", "", "serve", "-addr", "127.0.0.1:x", t.TempDir())
	fails(t, 2, "-memory 1 is less than -result", "", "serve", "-memory", "1", t.TempDir())
	for _, option := range []string{"-requests=-1", "-requests=0", "-time=-1s", "-time=0s", "-arrays=0"} {
		name, _, _ := strings.Cut(option, "=")
		fails(t, 2, name+" must be above 0", "", "serve", "-addr", "127.0.0.1:x", option, t.TempDir())
	}
	fails(t, 2, "-threads must not be negative", "", "serve", "-threads=-1", t.TempDir())
}
