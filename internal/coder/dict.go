package coder

import "github.com/goblosc/blosc2/internal/codecs"

// Dictionaries are made as in C-Blosc2 (blosc2_compress_ctx): they are trained on filtered blocks. All samples together
// are a sixteenth of the chunk.
const (
	minDictStreams = 8  // least number of samples, or of blocks of variable length
	sampleFraction = 16 // the samples are this part of the chunk
)

// maxDict returns the size in bytes of the largest dictionary for a chunk.
func (l *Layout) maxDict() int { return min(l.NBytes/dictFraction, codecs.MaxDict) }

// Train returns the layout to encode a chunk with if l.NeedsDict is set: a layout with a dictionary trained on the
// chunk, or l if the data yields no dictionary. plain returns block k before encoding and may reuse its memory. Train
// calls it for some of the first blocks. Errors are those of plain and of EncodeBlock.
func (w *Worker) Train(l *Layout, plain func(k int) ([]byte, error)) (*Layout, error) {
	n := l.NumBlocks
	if !l.notSplit {
		n *= l.TypeSize
	}
	n = max(n, minDictStreams)
	size := l.NBytes / n / sampleFraction
	if size == 0 {
		return l, nil
	}
	var data, ref []byte
	for k := 0; k < l.NumBlocks && len(data) < n*size; k++ {
		if err := w.canceled(); err != nil {
			return nil, err
		}
		src, err := plain(k)
		if err != nil {
			return nil, err
		}
		if k == 0 && l.NeedsReference {
			if ref, err = w.Reference(nil, l, src); err != nil {
				return nil, err
			}
		}
		if src, err = w.filtered(l, src, w.describeBlock(l, k, ref)); err != nil {
			return nil, err
		}
		data = append(data, src...)
	}
	samples := make([][]byte, 0, n)
	for i := range n {
		samples = append(samples, data[i*size:(i+1)*size])
	}
	return l.withDict(samples)
}

// trainVL is Train for blocks of variable length, all of which are samples. offs holds their offsets in the chunk.
func (w *Worker) trainVL(l *Layout, blocks [][]byte, offs []int) (*Layout, error) {
	if !l.NeedsDict || len(blocks) < minDictStreams || l.NBytes/len(blocks)/sampleFraction == 0 {
		return l, nil
	}
	samples := make([][]byte, len(blocks))
	for k, src := range blocks {
		if err := w.canceled(); err != nil {
			return nil, err
		}
		b := w.describeBlock(l, k, nil)
		b.Offset = offs[k]
		src, err := w.filtered(l, src, b)
		if err != nil {
			return nil, err
		}
		samples[k] = append([]byte(nil), src...)
	}
	return l.withDict(samples)
}

// withDict returns a copy of l with a dictionary trained on samples, or l if they yield none.
func (l *Layout) withDict(samples [][]byte) (*Layout, error) {
	dict := l.p.trainDict(samples, l.maxDict())
	if dict == nil {
		return l, nil
	}
	t := *l
	t.dict, t.HasDict, t.NeedsDict = dict, true, false
	return &t, nil
}
