package interop

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/frame"
)

// killed is a sequence of edits. The seed determines each state k, counted from 0.
type killed struct {
	rng    *rand.Rand
	state  int
	chunks [][]byte
}

func newKilled(seed int) *killed { return &killed{rng: rand.New(rand.NewPCG(uint64(seed), 9))} }

// options returns the options of the frame of a program. The seed decides whether the frame is sparse and whether its
// commits sync.
func (k *killed) options(seed int) *frame.CreateOptions {
	return &frame.CreateOptions{
		Params: chunk.Params{TypeSize: 4, Codec: codecs[1]}, ChunkSize: 4 * lockedItems,
		Sparse: seed%2 == 1, NoSync: seed%3 == 0,
	}
}

// next advances the model to the next state, and makes the same edits in b if b is not nil.
func (k *killed) next(b *frame.Batch) error {
	k.state++
	var err error
	do := func(edit func() error) {
		if b != nil && err == nil {
			err = edit()
		}
	}
	for range 1 + k.rng.IntN(4) {
		c := numbered(k.rng.Uint32())
		if k.rng.IntN(4) == 0 {
			c = content(k.rng, "random", len(c), 4)
		}
		n := len(k.chunks)
		switch op := k.rng.IntN(12); {
		case op < 5 || n == 0:
			k.chunks = append(k.chunks, c)
			do(func() error { return b.Append(ctx, c) })
		case op < 6:
			i := k.rng.IntN(n)
			k.chunks = slices.Insert(k.chunks, i, c)
			do(func() error { return b.Insert(ctx, i, c) })
		case op < 9:
			i := k.rng.IntN(n)
			k.chunks[i] = c
			do(func() error { return b.Update(ctx, i, c) })
		case op < 11 || n < 10:
			i := k.rng.IntN(n)
			k.chunks = slices.Delete(k.chunks, i, i+1)
			do(func() error { return b.Delete(i) })
		default:
			k.chunks = nil
			for range n {
				do(func() error { return b.Delete(0) })
			}
		}
	}
	do(func() error { return b.SetVLMeta("state", binary.BigEndian.AppendUint64(nil, uint64(k.state))) })
	return err
}

// editUntilKilled edits a frame and prints the number of each state that was committed.
func editUntilKilled(name string) error {
	seed, _ := strconv.Atoi(os.Getenv("INTEROP_FIRST"))
	k := newKilled(seed)
	f, err := frame.CreateFunc(ctx, name, k.next, k.options(seed))
	if err != nil {
		return err
	}
	for err == nil {
		fmt.Println(k.state)
		if k.state%16 == 15 {
			err = f.Compact(context.Background())
		}
		var b *frame.Batch
		if b, err = f.Begin(context.Background()); err == nil {
			if err = k.next(b); err == nil {
				err = b.Commit()
			}
		}
	}
	return err
}

// TestKill kills a process that edits a frame, at random times. Both libraries must read the last committed state, or
// the state that was being committed, and the frame must accept edits.
//
// INTEROP_KILLS=500 runs 500 rounds.
func TestKill(t *testing.T) {
	_, b2check := programs(t)
	rounds := 12
	if n, err := strconv.Atoi(os.Getenv("INTEROP_KILLS")); err == nil {
		rounds = n
	}
	states, ahead := 0, 0
	for seed := range rounds {
		name := filepath.Join(t.TempDir(), "frame")
		last, err := killOne(name, seed, time.Duration(rand.IntN(60_000))*time.Microsecond)
		if err != nil {
			t.Fatal(err)
		}
		state, err := survivor(name, seed, last, b2check)
		if err != nil {
			t.Errorf("round %d, killed after state %d: %v", seed, last, err)
		}
		states += state
		ahead += state - last
		os.RemoveAll(filepath.Dir(name))
	}
	t.Logf("%d rounds, %d states, in %d rounds the one that was being committed", rounds, states, ahead)
}

// killOne runs the program, and kills it some time after its first commit. It returns the last state that the program
// reported.
func killOne(name string, seed int, wait time.Duration) (last int, err error) {
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), "INTEROP_KILLED="+name, fmt.Sprint("INTEROP_FIRST=", seed))
	var stderr bytes.Buffer
	c.Stderr = &stderr
	out, err := c.StdoutPipe()
	if err != nil {
		return 0, err
	}
	if err := c.Start(); err != nil {
		return 0, err
	}
	r := bufio.NewReader(out)
	first, err := r.ReadString('\n')
	time.Sleep(wait)
	c.Process.Kill()
	rest, _ := io.ReadAll(r)
	c.Wait()
	if err != nil || stderr.Len() > 0 {
		return 0, errors.Join(err, errors.New(stderr.String()))
	}
	lines := strings.Fields(first + string(rest[:bytes.LastIndexByte(rest, '\n')+1]))
	return strconv.Atoi(lines[len(lines)-1])
}

// survivor checks the frame of a killed program and returns the number of its state.
func survivor(name string, seed, last int, b2check string) (int, error) {
	dump, err := output(b2check, "dump", name) // first, before opening for edits cleans up
	if err != nil {
		return last, err
	}
	k := newKilled(seed)
	f, err := frame.Edit(ctx, name, &frame.OpenOptions{NoSync: k.options(seed).NoSync})
	if err != nil {
		return last, err
	}
	defer f.Close()
	v, err := f.VLMeta("state")
	if err != nil || len(v) != 8 {
		return last, fmt.Errorf("state %x: %w", v, err)
	}
	state := int(binary.BigEndian.Uint64(v))
	if state < last || state > last+1 {
		return last, fmt.Errorf("the frame has state %d", state)
	}
	for k.state < state {
		k.next(nil)
	}
	for try := range 2 {
		want := bytes.Join(k.chunks, nil)
		got := make([]byte, f.Info().NBytes)
		if _, err := f.Content(ctx).ReadAt(got, 0); err != nil && err != io.EOF || !bytes.Equal(got, want) {
			return state, fmt.Errorf("other content, %d edits later: %w", try, err)
		}
		if !bytes.Equal(dump, want) {
			return state, fmt.Errorf("the C library reads other content, %d edits later", try)
		}
		if err := f.Verify(context.Background(), func(err error) error { return err }); err != nil {
			return state, err
		}
		b, err := f.Begin(context.Background())
		if err == nil {
			if err = k.next(b); err == nil {
				err = b.Commit()
			}
		}
		if err != nil {
			return state, err
		}
		if dump, err = output(b2check, "dump", name); err != nil {
			return state, err
		}
	}
	return state, nil
}
