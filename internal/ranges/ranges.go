// Package ranges merges wanted ranges of bytes into requests by a model of their cost. It only computes: callers read.
package ranges

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"
)

// Range is the bytes [Off, Off+Len) of an object.
type Range struct{ Off, Len int64 }

// End returns the offset after the last byte.
func (r Range) End() int64 { return r.Off + r.Len }

// Check returns an error unless a range is inside an object of size bytes.
func Check(r Range, size int64) error {
	if r.Off < 0 || r.Len < 0 || r.Off > size-r.Len {
		return fmt.Errorf("%d bytes at offset %d of %d bytes", r.Len, r.Off, size)
	}
	return nil
}

// Model is what reading costs, and the limits of a call. All fields except Gap must be positive.
type Model struct {
	Latency   time.Duration // from sending a request to its first byte
	Bandwidth int64         // bytes per second of all requests in flight
	Requests  int           // requests in flight
	MaxLen    int64         // bytes of a fetch
	MaxBytes  int64         // bytes fetched and not yet delivered, at least MaxLen
	Gap       int64         // largest gap worth reading; 0 = from the fields above, negative = none
}

// GapLen returns the largest number of unwanted bytes between two wanted ranges that are read with them. Requests in
// flight share the latency, so that a request costs as much time as Latency*Bandwidth/Requests bytes.
func (m *Model) GapLen() int64 {
	if m.Gap != 0 {
		return max(m.Gap, 0)
	}
	return m.RoundTripBytes() / int64(max(m.Requests, 1))
}

// RoundTripBytes returns the number of bytes that arrive in the time from a request to its first byte.
func (m *Model) RoundTripBytes() int64 {
	return int64(min(max(m.Latency.Seconds()*float64(m.Bandwidth), 0), math.MaxInt64/4))
}

// Part is a part of a wanted range. A wanted range of at most Model.MaxLen bytes has one part.
type Part struct {
	Range
	Want int   // number of the wanted range
	At   int64 // offset of the part in the wanted range
}

// Fetch is a range to be read at once, with the wanted parts inside it in ascending order.
type Fetch struct {
	Range
	Parts []Part
}

// Plan merges wanted ranges, which may overlap and have any order, into fetches in ascending order. Ranges are merged
// over gaps of up to m.GapLen bytes as long as a fetch has at most m.MaxLen bytes. Longer ranges become several parts.
// A fetch starts and ends with a wanted byte. Empty ranges have no part. All ranges must have passed Check.
//
// If the fetches cannot all be in flight at the same time, the first ones are shorter. Otherwise they would end at the
// same time, as they share the bandwidth, and nothing would arrive until the next ones are answered.
func Plan(want []Range, m *Model) []Fetch {
	parts, total := split(want, max(m.MaxLen, 1))
	gap := m.GapLen()
	ramp := m.ramp(total)
	var fetches []Fetch
	for i := 0; i < len(parts); {
		f := Fetch{Range: parts[i].Range}
		most := m.MaxLen
		if k := int64(len(fetches)) + 1; k < ramp {
			most = m.MaxLen / ramp * k
		}
		j := i + 1
		for ; j < len(parts); j++ {
			p := &parts[j]
			end := max(f.End(), p.End())
			if p.Off-f.End() > gap || end-f.Off > most {
				break
			}
			f.Len = end - f.Off
		}
		f.Parts = parts[i:j:j]
		fetches = append(fetches, f)
		i = j
	}
	return fetches
}

// ramp returns the number of fetches that can be in flight if n bytes take more fetches than that, and otherwise 0.
func (m *Model) ramp(n int64) int64 {
	if k := min(int64(m.Requests), m.MaxBytes/max(m.MaxLen, 1)); n > k*m.MaxLen {
		return k
	}
	return 0
}

// split returns the parts of all ranges in ascending order, and the number of bytes. A range of more than n bytes
// becomes parts of an eighth of n, which are merged later.
func split(want []Range, n int64) (parts []Part, total int64) {
	parts = make([]Part, 0, len(want))
	for i, w := range want {
		step := n
		if w.Len > n {
			step = max(n/8, 1)
		}
		for at := int64(0); at < w.Len; at += step {
			parts = append(parts, Part{Range: Range{w.Off + at, min(step, w.Len-at)}, Want: i, At: at})
		}
		total += w.Len
	}
	slices.SortFunc(parts, func(a, b Part) int {
		return cmp.Or(cmp.Compare(a.Off, b.Off), cmp.Compare(a.Len, b.Len), cmp.Compare(a.Want, b.Want))
	})
	return parts, total
}
