package attack

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
)

// memoryLimit is how many bytes of memory a child process may use for data. Go's reserved address space does not count.
const memoryLimit = 256 << 20

// CheckFunc checks a mutant in an empty folder, and returns what went wrong. See Mutant.Check.
type CheckFunc func(m *Mutant, dir, outside string) (Outcome, error)

// server checks mutants, one after another, in a folder of its own.
type server struct {
	check     CheckFunc
	list      []*original
	base      string // holds work and outside, and nothing else
	untouched string // what outside holds
}

func newServer(base string, check CheckFunc) (*server, error) {
	s := &server{check: check, base: base}
	if err := os.MkdirAll(s.outside(), 0o777); err != nil {
		return nil, err
	}
	var err error
	if s.list, err = originals(base); err != nil {
		return nil, err
	}
	c := s.list[slices.IndexFunc(s.list, func(o *original) bool { return o.chunk != nil })].chunk
	for name, b := range map[string][]byte{"secret": []byte("this must not change"), "chunk": c} {
		if err := os.WriteFile(filepath.Join(s.outside(), name), b, 0o666); err != nil {
			return nil, err
		}
	}
	s.untouched = snapshot(s.outside())
	return s, nil
}

func (s *server) outside() string { return filepath.Join(s.base, "outside") }

// made are the names that may appear in the folder of a mutant.
var made = []string{"in", "copy", "new", "in.b2lock", "copy.b2lock", "new.b2lock"}

// one checks the mutant of a seed.
func (s *server) one(seed uint64) (o Outcome, err error) {
	m := newMutant(s.list, seed)
	if m == nil || !canLink && !m.plain() {
		return o, nil
	}
	work := filepath.Join(s.base, "work")
	if err := os.Mkdir(work, 0o777); err != nil {
		return o, err
	}
	o, err = s.check(m, work, s.outside())
	if now := snapshot(s.outside()); now != s.untouched {
		err = errors.Join(err, fmt.Errorf("files outside changed:\n%s\nbefore:\n%s", now, s.untouched))
	}
	names, e := os.ReadDir(s.base)
	if e != nil || len(names) != 2 {
		err = errors.Join(err, fmt.Errorf("files beside: %v %w", names, e))
	}
	names, e = os.ReadDir(work)
	for _, f := range names {
		if !slices.Contains(made, f.Name()) {
			err = errors.Join(err, fmt.Errorf("left: %s", f))
		}
	}
	return o, errors.Join(err, e, os.RemoveAll(work))
}

// describe returns what the mutant of a seed is.
func (s *server) describe(seed uint64) string {
	if m := newMutant(s.list, seed); m != nil {
		return m.String()
	}
	return fmt.Sprintf("seed %d: no mutant", seed)
}

// serve answers each seed that it reads with one line: the outcome, and what went wrong as a quoted text.
func serve(base string, check CheckFunc, in io.Reader, out io.Writer) error {
	if err := limitMemory(memoryLimit); err != nil {
		return err
	}
	debug.SetMemoryLimit(memoryLimit / 2) // garbage of earlier mutants does not count
	s, err := newServer(base, check)
	if err != nil {
		return err
	}
	for lines := bufio.NewScanner(in); lines.Scan(); {
		seed, err := strconv.ParseUint(lines.Text(), 10, 64)
		if err != nil {
			return err
		}
		o, err := s.one(seed)
		fmt.Fprint(out, formatAnswer(o, err))
	}
	return nil
}

// answerMark begins each answer: the testing package prints other lines.
const answerMark = "attack:"

func formatAnswer(o Outcome, err error) string {
	text := ""
	if err != nil {
		text = err.Error()
	}
	return fmt.Sprintln(answerMark, o.Opened, o.Intact, o.Data, o.Errors, strconv.Quote(text))
}

// parseAnswer reads an answer. It reports whether the line is one.
func parseAnswer(line string) (o Outcome, fault string, ok bool) {
	rest, ok := strings.CutPrefix(line, answerMark)
	if !ok {
		return o, "", false
	}
	_, err := fmt.Sscan(rest, &o.Opened, &o.Intact, &o.Data, &o.Errors)
	at := strings.IndexByte(rest, '"')
	if err != nil || at < 0 {
		return o, "", false
	}
	fault, err = strconv.Unquote(strings.TrimSpace(rest[at:]))
	return o, fault, err == nil
}
