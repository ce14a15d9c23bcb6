package codec

import (
	"encoding/binary"
	"hash/fnv"

	"github.com/goblosc/blosc2/codec/internal/cover"
	"github.com/goblosc/blosc2/internal/codecs"
	"github.com/klauspost/compress/zstd"
)

// Dictionaries are trained as in C-Blosc2. It filters all blocks of a chunk first, and takes n consecutive samples of
// the result, size/n/16 bytes each, where n is the number of streams but at least 8. max is a twentieth of the size of
// the chunk, but at most codecs.MaxDict.

// firstSamples returns the start of the samples, which is the dictionary of LZ4 and LZ4HC in C-Blosc2.
func firstSamples(samples [][]byte, max int) []byte {
	max = min(max, codecs.MaxDict)
	var dict []byte
	for _, s := range samples {
		if len(dict) < max {
			dict = append(dict, s[:min(len(s), max-len(dict))]...)
		}
	}
	if len(dict) < codecs.MinDict {
		return nil
	}
	return dict
}

// trainZstd returns a dictionary of content that many samples share, after entropy tables for encoding it.
func trainZstd(samples [][]byte, max int) []byte {
	dict := zstdDict(samples, min(max, codecs.MaxDict))
	if len(dict) < codecs.MinDict {
		return nil
	}
	return dict
}

// zstdTables is an approximate upper bound for the size in bytes of the tables of a Zstd dictionary.
const zstdTables = 400

// zstdDict returns a dictionary with tables, or without them if there is too little content for tables.
func zstdDict(samples [][]byte, max int) []byte {
	content := withoutMagic(cover.Build(samples, max))
	if len(content) < codecs.MinDict || max < codecs.MinDict+zstdTables {
		return content
	}
	h := fnv.New32a()
	h.Write(content)
	content = withoutMagic(content[len(content)-min(len(content), max-zstdTables):])
	dict, err := zstd.BuildDict(zstd.BuildDictOptions{
		ID:       1<<15 + h.Sum32()%(1<<31-1<<15), // the range for private use
		Contents: samples,
		History:  content,
		Offsets:  [3]int{1, 4, 8},
		Level:    zstd.SpeedDefault,
		// Zstandard up to version 1.5.5 requires a code for byte 255.
		CompatV155: true,
	})
	if err != nil || len(dict) > max {
		return content
	}
	return dict
}

// withoutMagic returns content that readers do not take for a dictionary with tables.
func withoutMagic(content []byte) []byte {
	if hasZstdTables(content) {
		return content[1:]
	}
	return content
}

// hasZstdTables reports whether a dictionary has tables and an identifier. Other dictionaries are content only.
func hasZstdTables(dict []byte) bool {
	const magic = 0xec30a437
	return len(dict) >= 8 && binary.LittleEndian.Uint32(dict) == magic
}

// zstdEncoderDict returns the option for a dictionary, which must not be empty.
func zstdEncoderDict(dict []byte) zstd.EOption {
	if hasZstdTables(dict) {
		return zstd.WithEncoderDict(dict)
	}
	return zstd.WithEncoderDictRaw(0, dict) // frames do not record its identifier
}
