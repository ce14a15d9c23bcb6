package codec

import (
	"encoding/binary"
	"fmt"
	"hash/fnv"

	"github.com/goblosc/blosc2/codec/internal/cover"
	"github.com/klauspost/compress/zstd"
)

// Sizes of dictionaries in bytes. The format allows up to MaxDict; C-Blosc2 uses none below MinDict.
const (
	MaxDict = 32 << 10
	MinDict = 256
)

// TrainDict makes a dictionary of at most max bytes from samples of what the streams of a chunk will hold, for
// Params.Dict. It returns nil when no dictionary of MinDict bytes or more comes of them. Errors are ErrUnsupported, for
// codecs that have no dictionaries. The same samples give the same dictionary, which does not share their memory.
//
// C-Blosc2 runs the filters over all blocks of a chunk first. It takes consecutive samples of the result, n of
// size/n/16 bytes each, where n is the number of streams but at least 8, and a twentieth of the size of the chunk for
// max, but at most MaxDict. Such samples serve here too.
//
// For LZ4 and LZ4HC the dictionary is the start of the samples, as in C-Blosc2. For Zstd it has what many samples share,
// behind tables of how often symbols occur when that is coded.
func TrainDict(id ID, samples [][]byte, max int) ([]byte, error) {
	max = min(max, MaxDict)
	var dict []byte
	switch id {
	case LZ4, LZ4HC:
		for _, s := range samples {
			if len(dict) < max {
				dict = append(dict, s[:min(len(s), max-len(dict))]...)
			}
		}
	case Zstd, Default:
		dict = trainZstd(samples, max)
	default:
		return nil, fmt.Errorf("codec: %v: dictionary: %w", id, ErrUnsupported)
	}
	if len(dict) < MinDict {
		return nil, nil
	}
	return dict, nil
}

// zstdTables is about the most that the tables of a Zstd dictionary take, in bytes.
const zstdTables = 400

// trainZstd makes a dictionary with tables, or one of content only where there is too little for tables.
func trainZstd(samples [][]byte, max int) []byte {
	content := cover.Build(samples, max)
	if len(content) < MinDict || max < MinDict+zstdTables {
		return content
	}
	h := fnv.New32a()
	h.Write(content)
	content = content[len(content)-min(len(content), max-zstdTables):]
	dict, err := zstd.BuildDict(zstd.BuildDictOptions{
		ID:       1<<15 + h.Sum32()%(1<<31-1<<15), // the range for private use
		Contents: samples,
		History:  content,
		Offsets:  [3]int{1, 4, 8},
		Level:    zstd.SpeedDefault,
		// Libraries up to Zstandard 1.5.5 want a code for byte 255.
		CompatV155: true,
	})
	if err != nil || len(dict) > max {
		return content
	}
	return dict
}

// hasZstdTables tells whether a dictionary has tables and an identifier; any other is content only.
func hasZstdTables(dict []byte) bool {
	const magic = 0xec30a437
	return len(dict) >= 8 && binary.LittleEndian.Uint32(dict) == magic
}

// zstdEncoderDict returns the option for a dictionary, which is not empty.
func zstdEncoderDict(dict []byte) zstd.EOption {
	if hasZstdTables(dict) {
		return zstd.WithEncoderDict(dict)
	}
	return zstd.WithEncoderDictRaw(0, dict) // frames do not name it
}
