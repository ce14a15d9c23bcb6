package result

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

// The files of the documentation that WriteDocs writes or changes, below the top of the repository.
const (
	resultsFile = "docs/speed.json"
	chartFile   = "docs/speed.svg"
	tableFile   = "docs/PERFORMANCE.md"
	readmeFile  = "README.md"
)

// Read reads a report that was written as JSON.
func Read(name string) (*Report, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	r := new(Report)
	if err := json.Unmarshal(text, r); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return r, nil
}

// JSON returns the report as JSON, with one line for each row.
func (r *Report) JSON() ([]byte, error) {
	rows := r.Rows
	short := *r
	short.Rows = nil
	head, err := json.MarshalIndent(short, "", " ")
	if err != nil {
		return nil, err
	}
	head = bytes.TrimSuffix(head, []byte("null\n}"))
	b := bytes.NewBuffer(append(head, '['))
	for i, x := range rows {
		line, err := json.Marshal(x)
		if err != nil {
			return nil, err
		}
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(b, "\n  %s", line)
	}
	b.WriteString("\n ]\n}\n")
	return b.Bytes(), nil
}

// WriteDocs writes the results, the chart and the tables to the documentation below dir.
func (r *Report) WriteDocs(dir string) error {
	files, err := r.docs(dir)
	if err != nil {
		return err
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o666); err != nil {
			return err
		}
	}
	return nil
}

// docs returns the files of the documentation with the results in them.
func (r *Report) docs(dir string) (map[string][]byte, error) {
	text, err := r.JSON()
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{resultsFile: text, chartFile: r.SVG()}
	about := fmt.Appendf(nil, "%s, one run of `go run . %s`:\n\n", r.Machine(), r.Command)
	for name, table := range map[string][]byte{readmeFile: r.Short(), tableFile: append(about, r.Table()...)} {
		old, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return nil, err
		}
		if files[name], err = replace(old, table); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	return files, nil
}

// The lines before and after the part of a file that compare writes.
const (
	begin = "<!-- written by examples/compare -->\n"
	end   = "<!-- end -->\n"
)

// replace replaces the part of a text that compare writes.
func replace(text, part []byte) ([]byte, error) {
	before, rest, ok := bytes.Cut(text, []byte(begin))
	_, after, closed := bytes.Cut(rest, []byte(end))
	if !ok || !closed {
		return nil, fmt.Errorf("no lines %q and %q", begin, end)
	}
	return bytes.Join([][]byte{before, []byte(begin), part, []byte(end), after}, nil), nil
}
