//go:build unix

package attack

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
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/codec"
	"github.com/goblosc/blosc2/frame"
)

// Frames of these tests hold chunks that two writers append. Each chunk has the number of its writer and a counter. The
// variable-length metalayer "state" has for each writer the first counter that the frame holds and the one after the
// last.
const (
	killWriters = 2
	killItems   = 64 // items of 8 bytes in a chunk
)

type killState [killWriters]struct{ First, Next uint64 }

// killChunk returns the content of a chunk.
func killChunk(writer int, counter uint64) []byte {
	b := make([]byte, 0, 8*killItems)
	for i := range uint64(killItems) {
		b = binary.LittleEndian.AppendUint64(b, uint64(writer)<<56|counter<<8|i)
	}
	return b
}

func (s *killState) pack() []byte {
	var b []byte
	for _, w := range s {
		b = binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(b, w.First), w.Next)
	}
	return b
}

func unpackKillState(b []byte) (s killState, err error) {
	if len(b) != 16*killWriters {
		return s, fmt.Errorf("state of %d bytes", len(b))
	}
	for i := range s {
		s[i].First, s[i].Next = binary.BigEndian.Uint64(b[16*i:]), binary.BigEndian.Uint64(b[16*i+8:])
	}
	return s, nil
}

// killOptions are the options of all processes.
func killOptions() *frame.OpenOptions {
	return &frame.OpenOptions{Locking: true, Concurrency: 1, NoSync: true}
}

// killReaders are those of processes that read.
func killReaders() *frame.OpenOptions { return &frame.OpenOptions{Locking: true, Concurrency: 1} }

// checkKillState compares the chunks of a frame with its state, which it returns.
func checkKillState(f *frame.Frame) (killState, error) {
	v, err := f.Engine().View(context.Background()) // no other process edits until it is released
	if err != nil {
		return killState{}, err
	}
	defer v.Release()
	b, err := f.VLMeta("state")
	if err != nil {
		return killState{}, err
	}
	s, err := unpackKillState(b)
	if err != nil {
		return s, err
	}
	next := s
	n := v.Info().NumChunks
	for i := range n {
		c, err := f.ReadChunk(context.Background(), nil, i)
		if err != nil {
			return s, err
		}
		w := int(c[7])
		if w >= killWriters || !bytes.Equal(c, killChunk(w, next[w].First)) {
			return s, fmt.Errorf("chunk %d is %x, state %v, so far %v", i, c[:8], s, next)
		}
		next[w].First++
	}
	for w := range next {
		if next[w].First != next[w].Next {
			return s, fmt.Errorf("chunks of writer %d are lost: state %v, found %v", w, s, next)
		}
	}
	return s, nil
}

// editKilled edits a frame until it is killed. It prints the counter after each commit.
func editKilled(path string, writer int, out io.Writer) error {
	rng := rand.New(rand.NewPCG(uint64(os.Getpid()), 3))
	f, err := frame.Edit(context.Background(), path, killOptions())
	for err == nil {
		var next uint64
		if next, err = editOnce(f, writer, rng); err == nil {
			fmt.Fprintln(out, next)
			continue
		}
		if errors.Is(err, frame.ErrChanged) { // the other process has compacted the frame
			f.Close()
			f, err = frame.Edit(context.Background(), path, killOptions())
		}
	}
	return err
}

// editOnce makes one commit and returns the counter after it.
func editOnce(f *frame.Frame, writer int, rng *rand.Rand) (uint64, error) {
	if rng.IntN(200) == 0 {
		if err := f.Compact(context.Background()); err != nil {
			return 0, fmt.Errorf("compact: %w", err)
		}
	}
	b, err := f.Begin(context.Background())
	if err != nil {
		return 0, fmt.Errorf("begin: %w", err)
	}
	defer b.Rollback()
	raw, err := f.VLMeta("state")
	if err != nil {
		return 0, fmt.Errorf("state: %w", err)
	}
	s, err := unpackKillState(raw)
	if err != nil {
		return 0, err
	}
	for range 1 + rng.IntN(3) {
		if err := b.Append(context.Background(), killChunk(writer, s[writer].Next)); err != nil {
			return 0, fmt.Errorf("append: %w", err)
		}
		s[writer].Next++
	}
	most := 30 + rng.IntN(20)
	for i := 0; b.NumChunks() > most && i < f.NumChunks(); i++ { // f reads what was committed last
		c, err := f.ReadChunk(context.Background(), nil, i)
		if err != nil {
			return 0, fmt.Errorf("read: %w", err)
		}
		s[c[7]].First++
		if err := b.Delete(0); err != nil {
			return 0, fmt.Errorf("delete: %w", err)
		}
	}
	if err := b.SetVLMeta("state", s.pack()); err != nil {
		return 0, fmt.Errorf("set state: %w", err)
	}
	if err := b.Commit(); err != nil {
		return 0, fmt.Errorf("commit: %w", err)
	}
	return s[writer].Next, nil
}

// readKilled answers each line that it reads with the counters of a state, which it has checked.
func readKilled(path string, in io.Reader, out io.Writer) error {
	f, err := frame.Open(context.Background(), path, killReaders())
	if err != nil {
		return err
	}
	n := 0
	for lines := bufio.NewScanner(in); lines.Scan(); n++ {
		_, err := f.Refresh(context.Background())
		var s killState
		if err == nil {
			s, err = checkKillState(f)
		}
		if err == nil && n%20 == 0 {
			err = f.Verify(context.Background(), func(err error) error { return err })
		}
		if errors.Is(err, frame.ErrChanged) { // compacted
			f.Close()
			f, err = frame.Open(context.Background(), path, killReaders())
			fmt.Fprintln(out, killAnswer, "again")
		} else if err == nil {
			fmt.Fprintln(out, killAnswer, s[0].Next, s[1].Next)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

const (
	killAnswer = "state:"
	envRole    = "ATTACK_ROLE" // of a child process: the number of a writer, or killReader
	killReader = "reader"
)

// killRun is the parent of all processes.
type killRun struct {
	t       *testing.T
	path    string
	until   time.Time
	acked   [killWriters]atomic.Uint64 // the counter after the last commit that a writer has printed
	commits atomic.Int64
	kills   atomic.Int64
	states  atomic.Int64 // that the reader has checked
}

// TestKills lets two processes edit one frame, with Options.Locking, kills them at random times and starts them again,
// while a third one reads. Every state that it sees is consistent, and no commit is lost. See the comment of the
// package.
func TestKills(t *testing.T) {
	role, path := os.Getenv(envRole), os.Getenv(envDir)
	if os.Getenv(envChild) == t.Name() {
		err := errors.New("no role")
		if role == killReader {
			err = readKilled(path, os.Stdin, os.Stdout)
		} else if w, e := strconv.Atoi(role); e == nil {
			err = editKilled(path, w, os.Stdout)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(3)
		}
		os.Exit(0)
	}
	most := 3 * time.Second
	if testing.Short() {
		most = time.Second
	}
	if d, err := time.ParseDuration(os.Getenv("ATTACK_KILLS")); err == nil {
		most = d / 2
	}
	for _, sparse := range []bool{false, true} {
		r := &killRun{t: t, path: filepath.Join(t.TempDir(), "frame")}
		o := &frame.CreateOptions{Locking: true, Checksums: true, Concurrency: 1, ChunkSize: 8 * killItems, NoSync: true,
			Params: chunk.Params{TypeSize: 8, Codec: codec.LZ4}, Sparse: sparse}
		f, err := frame.CreateFunc(t.Context(), r.path, func(b *frame.Batch) error { return b.SetVLMeta("state", new(killState).pack()) }, o)
		if err == nil {
			err = f.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
		if err := exec.Command(os.Args[0], "-test.run=^$").Run(); errors.Is(err, syscall.ENOEXEC) {
			t.Skip("programs cannot start others under emulation")
		}
		r.until = time.Now().Add(most)
		var wait sync.WaitGroup
		for w := range killWriters {
			wait.Go(func() { r.write(w) })
		}
		wait.Go(r.read)
		wait.Wait()
		r.finish()
		t.Logf("sparse %v, %v: %d commits, %d kills, %d states checked", sparse, most, r.commits.Load(), r.kills.Load(), r.states.Load())
		if r.commits.Load() < 10 || r.kills.Load() < 4 || r.states.Load() < 4 {
			t.Error("too little happened")
		}
	}
}

func (r *killRun) going() bool { return time.Now().Before(r.until) && !r.t.Failed() }

// child returns a child process, which is not started.
func (r *killRun) child(role string, stderr io.Writer) *exec.Cmd {
	c := exec.Command(os.Args[0], "-test.run=^TestKills$", "-test.timeout=0")
	c.Env = append(os.Environ(), envChild+"="+r.t.Name(), envDir+"="+r.path, envRole+"="+role)
	c.Stderr = stderr
	return c
}

// write runs a writer, and kills it again and again.
func (r *killRun) write(w int) {
	for r.going() {
		var stderr bytes.Buffer
		c := r.child(fmt.Sprint(w), &stderr)
		out, err := c.StdoutPipe()
		if err == nil {
			err = c.Start()
		}
		if err != nil {
			r.t.Error(err)
			return
		}
		lines := bufio.NewScanner(out)
		if lines.Scan() { // it has begun
			r.ack(w, lines.Text())
			time.AfterFunc(time.Duration(rand.IntN(100_000))*time.Microsecond, func() { c.Process.Kill() })
		}
		for lines.Scan() {
			r.ack(w, lines.Text())
		}
		err = c.Wait()
		if c.ProcessState.Exited() {
			r.t.Errorf("writer %d ended: %v: %s", w, err, stderr.String())
		}
		r.kills.Add(1)
	}
}

// ack notes what a writer has printed. The last line may be cut short by the kill.
func (r *killRun) ack(w int, line string) {
	if n, err := strconv.ParseUint(line, 10, 64); err == nil && n > r.acked[w].Load() && n < r.acked[w].Load()+1000 {
		r.acked[w].Store(n)
		r.commits.Add(1)
	}
}

// read runs the reader, and compares what it sees with what was committed.
func (r *killRun) read() {
	var stderr bytes.Buffer
	c := r.child(killReader, &stderr)
	in, err := c.StdinPipe()
	if err != nil {
		r.t.Error(err)
		return
	}
	out, err := c.StdoutPipe()
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		r.t.Error(err)
		return
	}
	lines := bufio.NewScanner(out)
	for r.going() {
		before := [killWriters]uint64{r.acked[0].Load(), r.acked[1].Load()}
		fmt.Fprintln(in, "check")
		text := ""
		for lines.Scan() {
			if rest, ok := strings.CutPrefix(lines.Text(), killAnswer+" "); ok {
				text = rest
				break
			}
		}
		if text == "again" {
			continue
		}
		var seen [killWriters]uint64
		if _, err := fmt.Sscan(text, &seen[0], &seen[1]); err != nil {
			break // it has ended
		}
		for w := range seen {
			if seen[w] < before[w] {
				r.t.Errorf("a commit of writer %d is lost: counter %d, committed %d", w, seen[w], before[w])
			}
		}
		r.states.Add(1)
		time.Sleep(time.Millisecond) // so that writers get the lock
	}
	in.Close()
	if err := c.Wait(); err != nil {
		r.t.Errorf("reader: %v: %s", err, stderr.String())
	}
}

// finish checks the frame after the last kill.
func (r *killRun) finish() {
	f, err := frame.Edit(context.Background(), r.path, killOptions())
	if err != nil {
		r.t.Error(err)
		return
	}
	defer f.Close()
	s, err := checkKillState(f)
	if err != nil {
		r.t.Error(err)
	}
	for w := range s {
		if s[w].Next < r.acked[w].Load() {
			r.t.Errorf("a commit of writer %d is lost: counter %d, committed %d", w, s[w].Next, r.acked[w].Load())
		}
	}
	if err := f.Verify(context.Background(), func(err error) error { return err }); err != nil {
		r.t.Error(err)
	}
}
