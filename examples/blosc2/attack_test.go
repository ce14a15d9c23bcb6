package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/goblosc/blosc2/examples/blosc2/internal/serve"
	"github.com/goblosc/blosc2/internal/attack"
)

// TestAttack runs most verbs on mutants that package internal/attack makes, in processes with little memory. Each must
// end with exit status 0, or with 1 and one line on standard error, and must not change files outside the folder of the
// mutant.
//
// ATTACK_MUTANTS=100000 go -C examples/blosc2 test -timeout 6h -run TestAttack . makes 100,000 mutants.
func TestAttack(t *testing.T) { attack.Run(t, attack.Count(2000), attackVerbs) }

// attackPatience is the time limit of a verb. A verb whose time depends on the sizes in a file is interrupted then. So
// is any verb on a busy machine.
const attackPatience = 300 * time.Millisecond

// interrupted is in place of the exit status of a verb that reached the time limit.
const interrupted = -1

// attackVerbs runs verbs on a mutant.
func attackVerbs(m *attack.Mutant, dir, outside string) (o attack.Outcome, err error) {
	in := filepath.Join(dir, "in")
	if err := m.Write(in, outside); err != nil {
		return o, err
	}
	rng := rand.New(rand.NewPCG(m.Seed, 19))
	verb := func(args ...string) int {
		ctx, cancel := context.WithTimeout(context.Background(), attackPatience)
		defer cancel()
		var errOut bytes.Buffer
		code := run(ctx, args, strings.NewReader("0123456789abcdef"), &limitedOutput{1 << 20}, &errOut)
		text := errOut.String()
		switch {
		case code == 0 && countErrors(text) == 0:
			o.Data++
		case args[0] == "diff" && code == 1 && text == "": // there are differences
			o.Data++
		case (code == 1 || args[0] == "diff" && code == 2) && countErrors(text) == 1 && strings.HasSuffix(text, "\n"):
			o.Errors++
		default:
			err = errors.Join(err, fmt.Errorf("%s: exit status %d, %q", args, code, text))
		}
		if ctx.Err() != nil {
			return interrupted
		}
		return code
	}
	verb("info", in)
	verb("info", "-json", in)
	o.Opened = verb("verify", in) == 0
	o.Intact = o.Opened
	verb("dump", in)
	verb("dump", "-npy", in)
	if m.Chunk() {
		return o, err
	}
	verb("slice", in, "..., 0:2")
	verb("vlmeta", in)
	verb("compact", "-n", in)
	copied, made := filepath.Join(dir, "copy"), filepath.Join(dir, "new")
	if verb("copy", in, copied) == 0 && o.Intact {
		if code := verb("verify", copied); code != 0 && code != interrupted {
			err = errors.Join(err, errors.New("the copy of an intact mutant is not intact"))
		}
	}
	verb("repair", in, made)
	if m.Seed%2 == 0 {
		err = errors.Join(err, attackServer(dir))
		verbs := attackLooks(in, copied)
		for range 2 {
			verb(verbs[rng.IntN(len(verbs))]...)
		}
		return o, err
	}
	edits := [][]string{
		{"append", in}, {"resize", in, "7,9"}, {"resize", in, "50"}, {"set", in, "..., 0", "-value", "1"}, {"vlmeta", in, "set", "note", "5"},
		{"vlmeta", in, "delete", "note"}, {"compact", in},
	}
	for range 3 {
		verb(edits[rng.IntN(len(edits))]...)
	}
	return o, err
}

// attackLooks returns verbs that compute something of an array or compare it with its copy.
func attackLooks(in, copied string) [][]string {
	return [][]string{
		{"stats", "-quantiles", "0,0.5,1", in}, {"stats", "-json", "-axis", "0", in}, {"plot", "-size", "100x100", in, "-"},
		{"plot", "-kind", "histogram", "-svg", "-size", "100x100", in, "-", "..., 0"},
		{"plot", "-percentile", "2,98", "-log", "-size", "100x100", in, "-"}, {"diff", in, in}, {"diff", "-tolerance", "1", in, copied},
	}
}

// attackServer sends requests for a mutant to a server of its folder. Each must have an answer.
func attackServer(dir string) error {
	s, err := serve.New(dir, serve.Config{
		ItemText: itemText, Attribute: func(w *bufio.Writer, b []byte, check func(n int64) error) error { return writeUnpacked(w, b, check) },
		Limits: serve.Limits{Bytes: 32 << 20, Result: 1 << 20, Memory: 1 << 20, Time: attackPatience},
	})
	if err != nil {
		return err
	}
	for _, uri := range []string{
		"/", "/in?sel=", "/in?sel=...,0&format=json", "/in?sel=0:2&format=npy", "/api/info/in", "/api/fetch/in?slice_=0:1", "/api/chunk/in?nchunk=0",
	} {
		r := httptest.NewRequest("GET", "http://localhost"+uri, nil)
		w := httptest.NewRecorder()
		w.Body = nil // the answer may be as long as a file with holes
		s.ServeHTTP(w, r)
		if w.Code < 200 {
			err = errors.Join(err, fmt.Errorf("GET %s: status %d", uri, w.Code))
		}
	}
	return errors.Join(err, s.Close())
}
