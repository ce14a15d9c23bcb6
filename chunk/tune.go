package chunk

import (
	"fmt"

	"github.com/goblosc/blosc2/internal/coder"
	"github.com/goblosc/blosc2/internal/errs"
	"github.com/goblosc/blosc2/internal/tune"
)

// Goal chooses codec, level, filters and split mode by trying candidates on the data, in place of Params. It is a field
// of the options for creating and copying frames and arrays.
//
// The choice is made for the first chunk with samples of its blocks, and again later, because data changes: soon after
// the first chunk, and then about every 16 MiB. So chunks of one frame may have different codecs and filters, which the
// header of each chunk records, and which every reader of the format understands. Only codecs and filters that all
// versions of C-Blosc2 since 2.8 and of python-blosc2 contain are tried: LZ4 and Zstd; no filter, Shuffle, BitShuffle,
// Shuffle with ByteDelta (ByteDelta alone for items of one byte), and Delta with Shuffle.
//
// The choice is the candidate with the least cost. Compressed sizes are measured on the samples. Times are those of a
// table of constants, so that the same data and goal always give the same bytes, on every machine and with any number
// of goroutines. All filters are tried on a sample of 24 KiB. Further trials, of the best candidates and on whole
// blocks, run only while all trials take less than 5% of the time for writing, by that table.
type Goal = tune.Goal

// The goals. The time for transfer is the time for moving the stored bytes.
const (
	// Balanced chooses the candidate with the least sum of the time for transfer at 50 MB/s, the time for decoding, and
	// 1% of the time for encoding. It is for data that is read 100 times, from a hard disk or over a network. If
	// decoding takes more than 1.15 times as long as with the default parameters, ten times the excess is added, so
	// that data is seldom slower to read. Balanced tries LZ4 at level 9, and Zstd at levels 1, 5 and 6. Automatic
	// blocks of items of one byte have 128 KiB.
	Balanced = tune.Balanced
	// Smallest chooses the candidate with the fewest stored bytes. Writing is slow. It compares filters with Zstd at
	// level 3, and chooses Zstd at level 9.
	Smallest = tune.Smallest
	// Fastest chooses the candidate with the least sum of the times for transfer at 3 GB/s and for decoding: it is for
	// data that is read from a fast local disk. It tries LZ4 at levels 5 and 9, and no compression.
	Fastest = tune.Fastest
)

// Trial is the result of a candidate, Params, for a sample of the data.
type Trial struct {
	Params Params
	Bytes  int64   // size of the sample in bytes
	Stored int64   // its compressed size in bytes
	Write  float64 // time for encoding by the table of constants, in ns for a byte of data
	Read   float64 // time for decoding by the table of constants, in ns for a byte of data
	Cost   float64 // by which the goal compares: ns for a byte of data, or for Smallest stored bytes
}

// Tune returns the trials that the goal g makes for a frame whose only chunk has the content src. The first trial is
// the choice. Tune uses the item size and the block size of p, and ignores its other fields. It returns no trials if
// all samples are constant, or if src has less than 8 KiB. The error wraps ErrParam or ErrTooLarge.
func Tune(src []byte, p Params, g Goal) ([]Trial, error) {
	err := g.Check()
	if err == nil && g == 0 {
		err = fmt.Errorf("chunk: no goal, want Balanced, Smallest or Fastest: %w", errs.ErrParam)
	}
	n := p.BlockSize
	if err == nil && n == 0 {
		n, err = g.BlockSize(p.TypeSize, len(src))
	}
	if err != nil {
		return nil, err
	}
	l, err := coder.Params{TypeSize: p.TypeSize, BlockSize: n}.Layout(len(src))
	if err != nil {
		return nil, err
	}
	t := tune.New(g, p.TypeSize)
	if !t.Due(len(src)) {
		return nil, nil
	}
	n = l.BlockLen(0)
	err = t.Try(&tune.Chunk{Size: len(src), BlockSize: n, Plain: func(k int) ([]byte, error) {
		return src[k*n : min((k+1)*n, len(src))], nil
	}})
	if err != nil {
		return nil, err
	}
	var list []Trial
	for _, r := range t.Table() {
		list = append(list, Trial{Params(r.Params), r.Bytes, r.Stored, r.Write, r.Read, r.Cost})
	}
	return list, nil
}
