package frame

import (
	"bytes"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/meta"
)

// unhex decodes lines of hexadecimal digits and spaces.
func unhex(t *testing.T, lines ...string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.ReplaceAll(strings.Join(lines, ""), " ", ""))
	must(t, err)
	return b
}

const emptyTrailer = "94 01 93 cd0006 de0000 dc0000 ce00000023 d800 00000000000000000000000000000000"

// TestGoldenArray rebuilds, byte for byte, a small frame that the reference wrote: a 2-d array of int16 with a
// metalayer and a variable-length metalayer.
func TestGoldenArray(t *testing.T) {
	chunk0 := unhex(t, "05010702 08000000 04000000 28000000 0000000000010500 0000000000000000", "0000 0100 0300 0400")
	chunk1 := unhex(t, "05010702 08000000 04000000 28000000 0000000000010500 0000000000000000", "0200 0000 0500 0000")
	b2nd := unhex(t, "97 00 02 92 d30000000000000002 d30000000000000003 92 d200000002 d200000002 92 d200000001 d200000002 00 db00000003 3c6932")
	want := unhex(t,
		"9e a8 62326672616d6500 d2000000b2",
		"cf0000000000000183 a4 12 00 55 02",
		"d30000000000000010 d30000000000000050 d200000002 d200000004 d200000008",
		"d10001 d10001 c3",
		"d806 000000000001 05 00 000000000000 0000",
		"93 cd0018 de0002 a4 62326e64 d200000072 a1 6d d2000000ac dc0002",
		"c600000035", hex.EncodeToString(b2nd),
		"c600000001 05",
		hex.EncodeToString(chunk0), hex.EncodeToString(chunk1),
		"05010708 10000000 10000000 30000000 0000000000010000 0000000000000000 0000000000000000 2800000000000000",
		"94 01 93 cd000d de0001 a1 6b d200000013 dc0001",
		"c600000022 05010701 02000000 02000000 22000000 0000000000010500 0000000000000000 a176",
		"ce00000051 d800 00000000000000000000000000000000",
	)
	if len(want) != 387 {
		t.Fatal(len(want))
	}
	o := &Options{
		CParams:   chunk.CParams{TypeSize: 2, BlockSize: 4},
		ChunkSize: 8,
		Meta:      []meta.Layer{{Name: "b2nd", Content: b2nd}, {Name: "m", Content: []byte{5}}},
		NoSync:    true,
	}
	fill := func(b *Batch) error {
		for _, c := range [][]byte{chunk0, chunk1} {
			if err := b.AppendChunk(c); err != nil {
				return err
			}
		}
		return b.SetVLMeta("k", []byte("\xa1v"))
	}
	name := filepath.Join(t.TempDir(), "a.b2nd")
	f, err := Create(name, o, fill)
	must(t, err)
	must(t, f.Close())
	if got, err := os.ReadFile(name); err != nil || !bytes.Equal(got, want) {
		t.Errorf("file: %v\n%x\n%x", err, got, want)
	}
	if f, err = CreateMemory(o, fill); err != nil {
		t.Fatal(err)
	}
	if got, err := f.AppendTo(nil); err != nil || !bytes.Equal(got, want) {
		t.Errorf("memory: %v\n%x\n%x", err, got, want)
	}
	// The same content encoded from plain bytes, and a round trip through an edit.
	must(t, f.Delete(1))
	must(t, f.Append([]byte{2, 0, 0, 0, 5, 0, 0, 0}))
	if got, err := f.AppendTo(nil); err != nil || !bytes.Equal(got, want) {
		t.Errorf("after an edit: %v\n%x\n%x", err, got, want)
	}
}

// TestGoldenEmpty checks the smallest frame, and that edits lead back to it.
func TestGoldenEmpty(t *testing.T) {
	want := unhex(t,
		"9e a8 62326672616d6500 d200000061 cf0000000000000084 a4 12 00 55 02",
		"d30000000000000000 d30000000000000000 d200000001 d200000000 d2ffffffff d10001 d10001 c2",
		"d806 000000000001 05 00 000000000000 0000 93 cd0007 de0000 dc0000", emptyTrailer)
	if len(want) != 132 {
		t.Fatal(len(want))
	}
	m := new(Memory)
	name := filepath.Join(t.TempDir(), "a.b2frame")
	f, err := Create(name, &Options{NoSync: true}, nil)
	must(t, err)
	read := func() []byte {
		b, err := os.ReadFile(name)
		must(t, err)
		return b
	}
	if got := read(); !bytes.Equal(got, want) {
		t.Errorf("%x\n%x", got, want)
	}
	must(t, f.SetVLMeta("name", bytes.Repeat([]byte("x"), 1000)))
	must(t, f.SetVLMeta("other", []byte("y")))
	must(t, f.DeleteVLMeta("name"))
	must(t, f.DeleteVLMeta("other"))
	if got := read(); !bytes.Equal(got, want) {
		t.Errorf("after edits: %x\n%x", got, want)
	}
	must(t, f.Append(make([]byte, 100)))
	must(t, f.Append([]byte("abc")))
	must(t, f.Delete(1))
	must(t, f.Delete(0))
	copy(want[58:], []byte{0, 0, 0, 100}) // the chunk size is now known
	if got := read(); !bytes.Equal(got, want) {
		t.Errorf("after deleting all: %x\n%x", got, want)
	}
	must(t, f.Close())
	_, err = m.WriteAt(want, 0)
	must(t, err)
	f, err = EditStorage(m, nil)
	must(t, err)
	verify(t, f)
	if f.NBytes() != 0 || f.NumChunks() != 0 {
		t.Error(f.Info())
	}
}

// TestGoldenVariable checks the flags of frames with chunks or blocks of variable size.
func TestGoldenVariable(t *testing.T) {
	f, err := CreateMemory(nil, nil)
	must(t, err)
	flags := func() byte {
		b, err := f.AppendTo(nil)
		must(t, err)
		return b[offVersion]
	}
	must(t, f.Append(make([]byte, 64)))
	if got := flags(); got != 0x12 {
		t.Errorf("%#x", got)
	}
	must(t, f.Append(make([]byte, 65)))
	if got := flags(); got != 0x53 || f.Info().ChunkSize != 0 {
		t.Errorf("%#x", got)
	}
	f, err = CreateMemory(nil, nil)
	must(t, err)
	must(t, f.AppendBlocks([][]byte{{1, 2, 3}, {4}}))
	if got := flags(); got != 0x93 || f.Info().ChunkSize != 4 {
		t.Errorf("%#x", got)
	}
	must(t, f.AppendBlocks([][]byte{{1, 2, 3}, {4, 5}}))
	if got := flags(); got != 0xd3 || f.Info().ChunkSize != 0 {
		t.Errorf("%#x", got)
	}
}
