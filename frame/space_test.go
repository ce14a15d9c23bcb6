package frame

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/internal/race"
)

// small returns the i-th of many small chunks that do not compress to nothing.
func small(i int) []byte {
	p := make([]byte, 160)
	for k := range 40 {
		binary.LittleEndian.PutUint32(p[4*k:], uint32(i*i+k*k*7919))
	}
	return p
}

// live returns how many bytes of a frame are in use.
func live(t testing.TB, f *Frame) int64 {
	s := f.snap.Load()
	n := s.tail().Len() + int64(s.headerLen)
	for i := range s.index.n {
		info, err := f.ChunkInfo(i)
		must(t, err)
		n += int64(info.CBytes)
	}
	return n
}

// TestSpaceAppend appends many small chunks, one commit each, in one go and with opening the frame for each: the dead
// space that is left must stay within bounds.
func TestSpaceAppend(t *testing.T) {
	for _, c := range []struct {
		chunks  int
		reopen  int     // open the frame anew after so many commits
		most    float64 // size, as multiple of what is live
		doesUpd bool    // replace chunks, too
	}{
		{10000, 0, 1.6, false},
		{600, 1, 2, false},
		{600, 7, 2, false},
		{400, 0, 1.6, true},
		{400, 1, 2, true},
	} {
		t.Run(fmt.Sprintf("%d-reopen-%d-update-%v", c.chunks, c.reopen, c.doesUpd), func(t *testing.T) {
			if race.Enabled {
				c.chunks /= 5 // one goroutine: nothing to race with
			}
			name := filepath.Join(t.TempDir(), "x.b2frame")
			o := &Options{CParams: chunk.CParams{TypeSize: 4, Codec: chunk.CodecFromCode(1)}, NoSync: true, Concurrency: 1}
			f, err := Create(name, o, nil)
			must(t, err)
			peak := 0.0
			for i := range c.chunks {
				must(t, f.Append(small(i)))
				if c.doesUpd {
					must(t, f.Update(i*7919%(i+1), small(i+1)))
					must(t, f.Update(i, small(i)))
				}
				if c.reopen > 0 && i%c.reopen == 0 {
					must(t, f.Close())
					f, err = Edit(name, o)
					must(t, err)
				}
				if i%100 == 99 {
					fi, err := os.Stat(name)
					must(t, err)
					peak = max(peak, float64(fi.Size())/float64(live(t, f)))
				}
			}
			checkSpace(t, f)
			verify(t, f)
			fi, err := os.Stat(name)
			must(t, err)
			ratio := float64(fi.Size()) / float64(live(t, f))
			t.Logf("%d bytes, %.2f times what is live, at most %.2f times", fi.Size(), ratio, peak)
			if ratio > c.most || peak > 2.5 {
				t.Errorf("%.2f times what is live, at most %.2f; want %.2f", ratio, peak, c.most)
			}
			must(t, f.Close())
		})
	}
}

// TestSpaceSharedChunk edits a frame whose index names one chunk twice, as a writer that finds equal chunks might do.
func TestSpaceSharedChunk(t *testing.T) {
	for _, sparse := range []bool{false, true} {
		name := filepath.Join(t.TempDir(), "x.b2frame")
		f, err := Create(name, &Options{Sparse: sparse, NoSync: true}, func(b *Batch) error {
			for i := range 3 {
				if err := b.Append(small(i)); err != nil {
					return err
				}
			}
			b.list()[2] = b.list()[0]
			return nil
		})
		must(t, err)
		must(t, f.Close())
		f, err = Edit(name, &Options{NoSync: true})
		must(t, err)
		for i := range 20 {
			must(t, f.Update(0, small(100+i)))
			must(t, f.Append(small(200+i)))
		}
		if got, err := f.ReadChunk(nil, 2); err != nil || !bytes.Equal(got, small(0)) {
			t.Errorf("sparse %v: the chunk that shared its bytes: %v", sparse, err)
		}
		must(t, f.Close())
	}
}

// TestSpaceSurvey opens a frame with many dead bytes and expects new chunks to go there.
func TestSpaceSurvey(t *testing.T) {
	for _, n := range []int{500, 3000} {
		m := new(Memory)
		f, err := CreateMemory(&Options{Concurrency: 1, CParams: chunk.CParams{Codec: chunk.CodecFromCode(1)}}, func(b *Batch) error {
			for i := range n {
				if err := b.Append(small(i)); err != nil {
					return err
				}
			}
			return nil
		})
		must(t, err)
		b, err := f.Begin(context.Background())
		must(t, err)
		for i := range n / 2 {
			must(t, b.DeleteChunk(i))
		}
		must(t, b.Commit())
		_, err = m.WriteAt(f.store.(*contiguous).Bytes.(*Memory).Bytes(), 0)
		must(t, err)
		before, _ := m.Size()
		f, err = EditStorage(m, &Options{Concurrency: 1})
		must(t, err)
		b, err = f.Begin(context.Background())
		must(t, err)
		for i := range n / 3 {
			must(t, b.Append(small(i)))
		}
		must(t, b.Commit())
		checkSpace(t, f)
		verify(t, f)
		after, _ := m.Size()
		if after > before+before/10 {
			t.Errorf("%d chunks: from %d to %d bytes", n, before, after)
		}
	}
}
