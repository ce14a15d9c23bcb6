package coder

import (
	"io"
	"math"
	"math/rand/v2"
)

// A size in a file is only a claim: a few stored bytes can announce gigabytes, and a sparse file can be as long as it
// announces. Only nonzero bytes are evidence, because they take space wherever they are stored. They count by pages: a
// page with a nonzero byte counts as a whole. Without Options.MaxBytes, a chunk may take 64 MiB of memory, or 4096
// times its evidence.
const (
	FreeBytes    = 64 << 20 // memory that needs no evidence
	MemoryRatio  = 4096     // bytes of memory for each byte of evidence
	evidencePage = 4096
	evidenceStep = 16 * evidencePage // size of one read
)

// EvidenceLook is the largest number of bytes that Evidence examines.
const EvidenceLook = 64 << 20

// Evidence returns the number of bytes, of the n bytes at off of src, that are in pages with a nonzero byte. It stops
// when it has found enough. If n is large, it reads evenly spread samples of 64 MiB in all, and counts only their
// pages. If enough is more than a quarter of that, each page represents more bytes: the samples represent four times
// enough, or all n bytes. They then have random positions, so that storing nothing else is no way to get more memory.
// Bytes that cannot be read count as zeros.
func Evidence(src io.ReaderAt, off, n, enough int64) int64 {
	const looks = EvidenceLook / evidenceStep
	weight := max(1, float64(min(n, 4*min(enough, 1<<60)))/EvidenceLook)
	need := int64(math.Ceil(float64(enough) / weight))
	stride, random := int64(evidenceStep), uint64(0)
	switch steps := (n-1)/evidenceStep + 1; {
	case weight > 1:
		stride = n / looks
		n = stride * looks
		random = uint64(stride-evidenceStep)/evidencePage + 1
	case steps > looks:
		stride = (steps + looks - 1) / looks * evidenceStep
	}
	found := int64(0)
	buf := make([]byte, max(0, min(n, evidenceStep)))
	for at := int64(0); at < n && found < need; at += stride {
		from := at
		if random > 0 {
			from += int64(rand.Uint64()%random) * evidencePage
		}
		k, _ := src.ReadAt(buf[:min(n-from, evidenceStep)], off+from)
		for b := buf[:k]; len(b) > 0; {
			page := b[:min(len(b), evidencePage)]
			if !IsZero(page) {
				found += int64(len(page))
			}
			b = b[len(page):]
		}
	}
	scaled := int64(float64(found) * weight)
	if found >= need {
		scaled = max(scaled, enough)
	}
	return scaled
}

// MayRead reports whether n bytes at off of src may be read into memory at once because a file claims that size. They
// may if n is at most maxBytes (Options.MaxBytes; 0 is 64 MiB, and a negative value no limit), or if enough of them are
// evidence: one byte in 4096, or one in two if the caller sets a limit.
func MayRead(src io.ReaderAt, off, n, maxBytes int64) bool {
	if mayClaim(n, maxBytes) {
		return true
	}
	ratio := int64(MemoryRatio)
	if maxBytes > 0 {
		ratio = 2
	}
	need := (n-1)/ratio + 1
	return Evidence(src, off, n, need) >= need
}

// mayClaim reports whether n bytes need no evidence.
func mayClaim(n, maxBytes int64) bool {
	if maxBytes == 0 {
		maxBytes = FreeBytes
	}
	return maxBytes < 0 || n <= maxBytes
}

// IsZero reports whether all bytes are zero.
func IsZero(b []byte) bool { return len(b) == 0 || b[0] == 0 && isRun(b) }
