package coder

import (
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"

	"github.com/goblosc/blosc2/internal/errs"
	"github.com/goblosc/blosc2/internal/ranges"
)

// A size in a file is only a claim: a few stored bytes can announce gigabytes, and a sparse file can be as long as it
// announces. Only nonzero bytes are evidence, because they take space wherever they are stored. They count by pages: a
// page with a nonzero byte counts as a whole. Without Options.MaxBytes, a chunk may take 64 MiB of memory, or 4096
// times its evidence.
const (
	FreeBytes    = 64 << 20 // memory that needs no evidence
	MemoryRatio  = 4096     // bytes of memory for each byte of evidence
	evidencePage = 4096
)

// EvidenceStep is the number of bytes that Evidence reads at a time.
const EvidenceStep = 16 * evidencePage

// EvidenceLook is the largest number of bytes that Evidence examines.
const EvidenceLook = 64 << 20

// Evidence returns the number of bytes, of the n bytes at off of src, that are in pages with a nonzero byte. It stops
// when it has found enough.
//
// If n is large, Evidence reads evenly spread samples of 64 MiB in all, and counts only their pages. If enough is more
// than a quarter of that, each page represents more bytes: the samples represent four times enough, or all n bytes.
// Such samples have random positions, so that storing only them is no way to get more memory. The result then varies if
// some pages are zeros.
//
// Ranges that cannot be read do not count. After each of them the search skips more ranges, and after the fourth it
// ends. If it has not found enough, Evidence returns the last error.
func Evidence(src io.ReaderAt, off, n, enough int64) (int64, error) {
	const mostFaults = 4
	return EvidenceBy(off, n, enough, func(list []ranges.Range, enough int64) (found int64, fault error) {
		buf := make([]byte, max(0, min(n, EvidenceStep)))
		faults := 0
		for i := 0; i < len(list); i++ {
			x := list[i]
			k, err := src.ReadAt(buf[:x.Len], x.Off)
			if found += PageEvidence(buf[:k]); found >= enough {
				return found, nil
			}
			if err != nil && int64(k) < x.Len && !errors.Is(err, io.EOF) {
				fault = err
				if faults++; faults == mostFaults {
					break
				}
				i += 1 << (2 * faults)
			}
		}
		return found, fault
	})
}

// EvidenceBy is Evidence for a function that looks at a list of ranges of up to EvidenceStep bytes and stops when it
// has found enough.
func EvidenceBy(off, n, enough int64, look func(list []ranges.Range, enough int64) (int64, error)) (int64, error) {
	const looks = EvidenceLook / EvidenceStep
	weight := max(1, float64(min(n, 4*min(enough, 1<<60)))/EvidenceLook)
	need := int64(math.Ceil(float64(enough) / weight))
	stride, random := int64(EvidenceStep), uint64(1)
	switch steps := (n-1)/EvidenceStep + 1; {
	case weight > 1:
		stride = n / looks
		n = stride * looks
		random = uint64(stride-EvidenceStep)/evidencePage + 1
	case steps > looks:
		stride = (steps + looks - 1) / looks * EvidenceStep
	}
	var list []ranges.Range
	for at := int64(0); at < n; at += stride {
		from := at + int64(rand.Uint64()%random)*evidencePage
		list = append(list, ranges.Range{Off: off + from, Len: min(n-from, EvidenceStep)})
	}
	found, err := look(list, need)
	scaled := int64(float64(found) * weight)
	if found >= need {
		scaled = max(scaled, enough)
	}
	return scaled, err
}

// PageEvidence returns the number of bytes of b that are in pages with a nonzero byte.
func PageEvidence(b []byte) (found int64) {
	for len(b) > 0 {
		page := b[:min(len(b), evidencePage)]
		if !IsZero(page) {
			found += int64(len(page))
		}
		b = b[len(page):]
	}
	return found
}

// MayRead returns an error unless n bytes at off of src may be read into memory at once because a file claims that
// size. They may if n is at most maxBytes (Options.MaxBytes; 0 is 64 MiB, and a negative value no limit), or if enough
// of them are evidence: one byte in 4096, or one in two if the caller sets a limit. The error wraps ErrTooLarge, or is
// that of reading.
func MayRead(src io.ReaderAt, off, n, maxBytes int64) error {
	if mayClaim(n, maxBytes) {
		return nil
	}
	ratio := int64(MemoryRatio)
	if maxBytes > 0 {
		ratio = 2
	}
	need := (n-1)/ratio + 1
	switch found, err := Evidence(src, off, n, need); {
	case err != nil:
		return readFault{err}
	case found < need:
		return fmt.Errorf("too few of them are stored; MaxBytes in the options may allow them: %w", errs.ErrTooLarge)
	}
	return nil
}

// mayClaim reports whether n bytes need no evidence.
func mayClaim(n, maxBytes int64) bool {
	if maxBytes == 0 {
		maxBytes = FreeBytes
	}
	return maxBytes < 0 || n <= maxBytes
}

// EmbeddedLimit returns the MaxBytes for a frame in the decoded bytes of another one, which has stored bytes. Decoded
// bytes are no evidence, because few stored bytes decode to many.
func EmbeddedLimit(stored int64) int64 { return FreeBytes + MemoryRatio*min(stored, 1<<40) }

// IsZero reports whether all bytes are zero.
func IsZero(b []byte) bool { return len(b) == 0 || b[0] == 0 && isRun(b) }
