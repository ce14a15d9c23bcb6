package frame

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/meta"
)

// renamed returns a frame with another name, of the same length, in place of one.
func renamed(t *testing.T, b []byte, from, to string) []byte {
	t.Helper()
	if n := bytes.Count(b, []byte(from)); n != 1 || len(from) != len(to) {
		t.Fatalf("%q occurs %d times", from, n)
	}
	return bytes.Replace(b, []byte(from), []byte(to), 1)
}

// TestChecksumLayerRenamed changes the name of the layer with the checksums, which hid them before.
func TestChecksumLayerRenamed(t *testing.T) {
	b := renamed(t, checkedFrame(t), ChecksumLayer, "b2crc32b")
	if list := faults(t, b); len(list) != 1 || !errors.Is(list[0], ErrChecksum) || !strings.Contains(list[0].Error(), "b2crc32b") {
		t.Errorf("Verify: %v", list)
	}
	if _, err := FromBytes(b, &Options{Verify: true}); !errors.Is(err, ErrChecksum) {
		t.Errorf("opening with Options.Verify: %v", err)
	}
	f, err := FromBytes(b, nil)
	must(t, err)
	must(t, f.Close())
}

// TestChecksumLayerDropped lets the trailer say that it has fewer layers, or none.
func TestChecksumLayerDropped(t *testing.T) {
	b := checkedFrame(t)
	at := bytes.LastIndex(b, []byte{0xde, 0, 3}) // the count of layers: checksums, v, empty
	if at < 0 {
		t.Fatal("no count")
	}
	b[at+2] = 0
	if list := faults(t, b); len(list) != 1 || !errors.Is(list[0], ErrCorrupt) || !strings.Contains(list[0].Error(), "trailer") {
		t.Errorf("Verify: %v", list)
	}
	if _, err := FromBytes(b, &Options{Verify: true}); !errors.Is(err, ErrCorrupt) {
		t.Errorf("opening with Options.Verify: %v", err)
	}
}

// TestChecksumRecordCopy keeps a copy of the record under another name, which is not a fault while the checksums are
// there.
func TestChecksumRecordCopy(t *testing.T) {
	f, err := EditStorage(NewMemory(checkedFrame(t)), nil)
	must(t, err)
	defer f.Close()
	record, err := f.VLMeta(ChecksumLayer)
	must(t, err)
	must(t, f.SetVLMeta("copy", record))
	must(t, f.Verify(context.Background(), func(err error) error { return err }))
}

// plainFrame makes a frame without checksums.
func plainFrame(t *testing.T) []byte {
	t.Helper()
	f, err := CreateMemory(&Options{ChunkSize: 64}, func(b *Batch) error { return b.Append(make([]byte, 64)) })
	must(t, err)
	b, err := f.AppendTo(nil)
	must(t, err)
	return b
}

// TestRequireChecksums opens frames with and without checksums, and with stale ones.
func TestRequireChecksums(t *testing.T) {
	ctx, o := context.Background(), &Options{RequireChecksums: true}
	_, err := FromBytes(plainFrame(t), o)
	if !errors.Is(err, ErrChecksum) || !strings.Contains(err.Error(), "the frame has no checksums, Options.RequireChecksums asks for them") {
		t.Errorf("without checksums: %v", err)
	}
	b := checkedFrame(t)
	f, err := FromBytes(b, o)
	must(t, err)
	if !f.Options().Verify {
		t.Error("it does not imply Verify")
	}
	// A library that knows nothing of checksums changes a variable-length metalayer, or adds one.
	for _, edit := range []func(s *snapshot){
		func(s *snapshot) { s.vlmeta[findLayer(s.vlmeta, "v")].Name = "w" },
		func(s *snapshot) {
			s.vlmeta = append(s.vlmeta, meta.Layer{Name: "w", Content: s.vlmeta[findLayer(s.vlmeta, "v")].Content})
		},
	} {
		g, err := FromBytes(slices.Clone(b), nil)
		must(t, err)
		s := g.snap.Load()
		edit(s)
		trailer, err := meta.AppendTrailer(nil, s.vlmeta)
		must(t, err)
		c := slices.Concat(b[:s.frameLen-int64(s.trailerLen)], trailer)
		s.frameLen = int64(len(c))
		head, err := appendHeader(s)
		must(t, err)
		copy(c, head)
		if _, err := FromBytes(c, o); !errors.Is(err, ErrChecksum) {
			t.Errorf("a stale layer: %v", err)
		}
		if _, err := FromBytes(c, &Options{Verify: true}); err != nil {
			t.Errorf("a stale layer, which Options.Verify compares when it is read: %v", err)
		}
	}
	m, err := CreateMemory(o, func(b *Batch) error { return b.Append(make([]byte, 64)) })
	must(t, err)
	defer m.Close()
	if !m.Info().Checksums {
		t.Error("a new frame has no checksums")
	}
	for what, err := range map[string]error{
		"SetChecksums": m.SetChecksums(ctx, false), "DeleteVLMeta": m.DeleteVLMeta(ChecksumLayer),
	} {
		if !errors.Is(err, ErrParam) {
			t.Errorf("%s: %v", what, err)
		}
	}
	must(t, m.Append(make([]byte, 64)))
	if !m.Info().Checksums {
		t.Error("the checksums are gone")
	}
}

// TestRequireChecksumsRefresh lets another handle remove the checksums.
func TestRequireChecksumsRefresh(t *testing.T) {
	ctx := context.Background()
	kinds := []bool{false}
	if canLock {
		kinds = append(kinds, true)
	}
	for _, locking := range kinds {
		t.Run(fmt.Sprintf("locking=%v", locking), func(t *testing.T) {
			name := filepath.Join(t.TempDir(), "a")
			must(t, os.WriteFile(name, checkedFrame(t), 0o666))
			f, err := Open(name, &Options{RequireChecksums: true, Locking: locking})
			must(t, err)
			defer f.Close()
			g, err := Edit(name, &Options{Locking: locking})
			must(t, err)
			defer g.Close()
			_, err = f.ReadChunk(nil, 0)
			must(t, err)
			must(t, g.SetChecksums(ctx, false))
			if locking {
				if _, err := f.ReadChunk(nil, 0); !errors.Is(err, ErrChecksum) {
					t.Errorf("reading: %v", err)
				}
			}
			if _, err := f.Refresh(); !errors.Is(err, ErrChecksum) {
				t.Errorf("Refresh: %v", err)
			}
			must(t, g.SetChecksums(ctx, true))
			if _, err := f.Refresh(); err != nil {
				t.Errorf("Refresh, with checksums again: %v", err)
			}
		})
	}
}

// smallArrayFrame makes a small frame with checksums, the metalayers of an array and one more, an index of stored
// chunks, and variable-length metalayers.
func smallArrayFrame(t *testing.T) []byte {
	t.Helper()
	a := meta.Array{Shape: []int64{6, 4}, ChunkShape: []int32{2, 4}, BlockShape: []int32{1, 4}, DType: "<i2"}
	content, err := a.Append(nil)
	must(t, err)
	o := &Options{
		Checksums: true, ChunkSize: 16, CParams: chunk.CParams{TypeSize: 2, BlockSize: 8},
		Meta: []meta.Layer{{Name: "b2nd", Content: content}, {Name: "unit", Content: []byte{0xa1, 'K'}}},
	}
	f, err := CreateMemory(o, func(b *Batch) error {
		for i := range 3 {
			if err := b.Append([]byte(strings.Repeat(string(rune('a'+i)), 15) + "z")); err != nil {
				return err
			}
		}
		return b.SetVLMeta("note", []byte{0xa2, 'h', 'i'})
	})
	must(t, err)
	b, err := f.AppendTo(nil)
	must(t, err)
	return b
}

// readAllOf returns all that a frame says, opened with RequireChecksums, or an error.
func readAllOf(b []byte) (data, info string, err error) {
	f, err := FromBytes(b, &Options{RequireChecksums: true, Concurrency: 1})
	if err != nil {
		return "", "", err
	}
	defer f.Close()
	var all bytes.Buffer
	if _, err = f.WriteTo(&all); err != nil {
		return "", "", err
	}
	data = fmt.Sprintf("%d chunks %x %v", f.NumChunks(), all.Bytes(), f.Meta())
	for _, n := range f.VLMetaNames() {
		v, err := f.VLMeta(n)
		if err != nil {
			return "", "", err
		}
		data += fmt.Sprintf(" %s %x", n, v)
	}
	if err := f.Verify(context.Background(), func(err error) error { return err }); err != nil {
		return "", "", err
	}
	return data, fmt.Sprintf("%+v", f.Info()), nil
}

// TestRequireChecksumsFlips flips each bit of a small frame. In metalayers, chunks, index and trailer each flip is
// reported or changes nothing. The 87 fixed bytes of the header are not covered: the test lists those where a flip
// changes what Info returns. None changes data or metalayers.
func TestRequireChecksumsFlips(t *testing.T) {
	b := smallArrayFrame(t)
	data, info, err := readAllOf(b)
	must(t, err)
	reported, harmless := 0, 0
	var unnoticed []int // bytes of the fixed header
	for i := range b {
		for bit := range 8 {
			c := slices.Clone(b)
			c[i] ^= 1 << bit
			gotData, gotInfo, err := readAllOf(c)
			switch {
			case err != nil:
				reported++
			case gotData == data && gotInfo == info:
				harmless++
			case gotData == data && i < fixedLen:
				if len(unnoticed) == 0 || unnoticed[len(unnoticed)-1] != i {
					unnoticed = append(unnoticed, i)
				}
			default:
				t.Errorf("byte %d of %d, bit %d: not reported\n%s\n%s", i, len(b), bit, gotData, gotInfo)
			}
		}
	}
	t.Logf("%d flips reported, %d harmless", reported, harmless)
	var want []int
	for _, field := range [][2]int{
		{offVersion, 1}, {offCodec, 2}, {offBlockSize, 4}, {offChunkSize + 3, 1}, // of 16 to 0: chunks of their own sizes
		{offFilters, 6}, {offCodecMeta, 1}, {offMetas, 6}, {offFlags2, 1},
	} {
		for i := range field[1] {
			want = append(want, field[0]+i)
		}
	}
	if !slices.Equal(unnoticed, want) {
		t.Errorf("fixed header bytes with flips that only change Info: %v, want %v", unnoticed, want)
	}
}
