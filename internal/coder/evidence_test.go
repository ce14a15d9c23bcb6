package coder

import (
	"errors"
	"io"
	"testing"
)

// claimed is a source of size bytes that are nonzero in some pages. It counts what is read.
type claimed struct {
	size   int64
	stored func(page int64) bool
	read   int64
}

func (c *claimed) ReadAt(p []byte, off int64) (int, error) {
	n := max(0, min(int64(len(p)), c.size-off))
	c.read += n
	clear(p[:n])
	for at := off; at < off+n; at++ {
		if at == off || at%evidencePage == 0 {
			if c.stored(at / evidencePage) {
				p[at-off] = 1
			}
		}
	}
	if n < int64(len(p)) {
		return int(n), io.EOF
	}
	return int(n), nil
}

// TestEvidence looks for evidence in sources of any size. It never examines more than 64 MiB.
func TestEvidence(t *testing.T) {
	all := func(int64) bool { return true }
	none := func(int64) bool { return false }
	half := func(page int64) bool { return page%2 == 0 }
	few := func(page int64) bool { return page < 1000 }
	places := func(size int64) func(int64) bool { // of equidistant samples
		stride := size / (EvidenceLook / EvidenceStep) / evidencePage
		return func(page int64) bool { return page%stride < EvidenceStep/evidencePage }
	}
	for _, c := range []struct {
		name    string
		size    int64
		enough  int64
		stored  func(int64) bool
		granted bool
		most    int64 // bytes read
	}{
		{"all of it", 10 << 20, 10 << 20, all, true, 10 << 20},
		{"more than all of it", 10 << 20, 10<<20 + 1, all, false, 10 << 20},
		{"half of it", 10 << 20, 5 << 20, half, true, 10 << 20},
		{"more than half of it", 10 << 20, 5<<20 + 1, half, false, 10 << 20},
		{"a little of much", 1 << 50, 1 << 20, all, true, 1 << 20},
		{"16 MiB of much", 1 << 50, 16 << 20, all, true, 16 << 20},
		{"16 MiB of much, half stored", 1 << 50, 16 << 20, half, true, 32 << 20},
		{"1 GiB of much", 1 << 50, 1 << 30, all, true, 16 << 20},
		{"1 GiB of 1 GiB", 1 << 30, 1 << 30, all, true, 64 << 20},
		{"1 GiB of 1.5 GiB", 3 << 29, 1 << 30, all, true, 43 << 20},
		{"1 GiB of 3 GiB, half stored", 3 << 30, 1 << 30, half, true, 43 << 20},
		{"2 GiB of 3 GiB, half stored", 3 << 30, 2 << 30, half, false, 64 << 20},
		{"a hole", 1 << 50, 1 << 40, none, false, 64 << 20},
		{"a hole after 4 MB", 1 << 50, 1 << 40, few, false, 64 << 20},
		{"a hole after 4 MB, little wanted", 1 << 40, 17 << 20, few, false, 64 << 20},
		{"places of samples", 1 << 40, 1 << 30, places(1 << 40), false, 64 << 20},
	} {
		src := &claimed{size: c.size + evidencePage, stored: c.stored}
		got, err := Evidence(src, evidencePage, c.size, c.enough)
		if (got >= c.enough) != c.granted || got > c.size || err != nil {
			t.Errorf("%s: %d bytes of %d, want %d; %v", c.name, got, c.size, c.enough, err)
		}
		if src.read > c.most {
			t.Errorf("%s: %d bytes read, want at most %d", c.name, src.read, c.most)
		}
	}
}

// badRegion is 64 MiB of ones, of which some cannot be read.
type badRegion struct{ from, to int64 }

var errBadRegion = errors.New("bad region")

func (b badRegion) ReadAt(p []byte, off int64) (int, error) {
	if off < b.to && off+int64(len(p)) > b.from {
		return 0, errBadRegion
	}
	for i := range p {
		p[i] = 1
	}
	return len(p), nil
}

// TestEvidenceBadRegion looks for evidence beside a region that cannot be read.
func TestEvidenceBadRegion(t *testing.T) {
	const n, enough = 64 << 20, 1 << 20
	for _, c := range []struct {
		size int64
		want error
	}{{1, nil}, {1 << 20, nil}, {5 << 20, nil}, {n, errBadRegion}} {
		got, err := Evidence(badRegion{20000, 20000 + c.size}, 0, n, enough)
		if err != c.want || err == nil && got < enough {
			t.Errorf("%d bytes that cannot be read: %d, %v", c.size, got, err)
		}
	}
}
