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
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/goblosc/blosc2/codec"
	"github.com/goblosc/blosc2/ndarray"
)

// The array that regionKills fills has 2,000 chunks of 16 by 8 items.
var (
	regionShape = []int64{800, 320}
	regionChunk = []int64{16, 8}
)

const (
	regionProcesses = 8
	regionFinisher  = "finisher" // role of a child process; the others are writers
	regionWriter    = "writer"
	regionDone      = "finished"
)

// regionItems returns the items of a chunk, which begins with a box. Some chunks hold only zeros.
func regionItems(b ndarray.Box) []byte {
	p := make([]byte, 0, 8*b.Size())
	for i := range uint64(b.Size()) {
		x := uint64(b.Start[0])<<40 | uint64(b.Start[1])<<20 | i
		if (b.Start[0]/regionChunk[0]+b.Start[1])%5 == 0 {
			x = 0
		}
		p = binary.LittleEndian.AppendUint64(p, x)
	}
	return p
}

// layRegions lays the array out, unless that was done.
func layRegions(path string, overwrite bool) (*ndarray.Regions, error) {
	return ndarray.CreateRegions(context.Background(), path, regionShape, "<u8",
		&ndarray.CreateOptions{Chunks: regionChunk, Codec: codec.LZ4, NoSync: true, Overwrite: overwrite, Concurrency: 1})
}

// regionBox returns the box of chunk n.
func regionBox(r *ndarray.Regions, n int64) (ndarray.Box, error) {
	columns := regionShape[1] / regionChunk[1]
	return r.ChunkBox(n/columns, n%columns)
}

// fillRegions writes first the missing chunks and then any, in random order, until it is killed. It prints the number
// of each chunk when it is written.
func fillRegions(path string, out io.Writer) error {
	r, err := ndarray.OpenRegions(context.Background(), path, &ndarray.OpenOptions{NoSync: true, Concurrency: 1})
	if err != nil {
		return err
	}
	defer r.Close()
	var list []int64
	for b, err := range r.Missing(context.Background()) {
		if err != nil {
			return err
		}
		list = append(list, regionNumber(b))
	}
	rand.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	for {
		n := rand.Int64N(regionShape[0] / regionChunk[0] * (regionShape[1] / regionChunk[1]))
		if len(list) > 0 {
			n, list = list[0], list[1:]
		}
		b, err := regionBox(r, n)
		if err == nil {
			err = r.WriteBytes(context.Background(), regionItems(b), b.Selection()...)
		}
		if err != nil {
			return err
		}
		fmt.Fprintln(out, n)
	}
}

// regionNumber returns the number of the chunk that begins with a box.
func regionNumber(b ndarray.Box) int64 {
	return b.Start[0]/regionChunk[0]*(regionShape[1]/regionChunk[1]) + b.Start[1]/regionChunk[1]
}

// finishRegions calls Finish until the array is finished, and prints that.
func finishRegions(path string, out io.Writer) error {
	r, err := ndarray.OpenRegions(context.Background(), path, &ndarray.OpenOptions{NoSync: true, Concurrency: 1})
	if err != nil {
		return err
	}
	defer r.Close()
	fmt.Fprintln(out, "begins")
	for err = ndarray.ErrUnfinished; errors.Is(err, ndarray.ErrUnfinished); {
		err = r.Finish(context.Background())
	}
	if err == nil {
		fmt.Fprintln(out, regionDone)
		time.Sleep(time.Minute) // until it is killed
	}
	return err
}

// TestRegionKills lets eight processes at a time write the chunks of one array, each chunk many times, and finish it,
// and kills all of them at random times, in 16 rounds or as many as ATTACK_REGIONS asks for. No chunk is lost whose
// write has returned. When the array is finished it equals the model, and nothing is left over; then it is laid out
// again.
func TestRegionKills(t *testing.T) {
	if os.Getenv(envChild) == t.Name() {
		do := fillRegions
		if os.Getenv(envRole) == regionFinisher {
			do = finishRegions
		}
		if err := do(os.Getenv(envDir), os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(3)
		}
		os.Exit(0)
	}
	if err := exec.Command(os.Args[0], "-test.run=^$").Run(); errors.Is(err, syscall.ENOEXEC) {
		t.Skip("programs cannot start others under emulation")
	}
	rounds := 16
	if testing.Short() {
		rounds = 5
	}
	if n, err := strconv.Atoi(os.Getenv("ATTACK_REGIONS")); err == nil {
		rounds = n
	}
	k := &regionKills{t: t, path: filepath.Join(workFolder(t), "array"), written: map[int64]bool{}}
	for round := range rounds {
		if round == 0 || k.finished {
			r, err := layRegions(k.path, true)
			if err != nil {
				t.Fatal(err)
			}
			r.Close()
			k.written, k.finished, k.whole = map[int64]bool{}, false, 0
		}
		k.round()
		if k.check(); t.Failed() {
			t.Fatalf("round %d", round)
		}
	}
	t.Logf("%d rounds: %d processes killed, %d chunks written, %d arrays finished, %d of them after the last process was killed",
		rounds, k.kills, k.writes, k.arrays, k.here)
	if k.kills < rounds*regionProcesses/2 || k.writes < 100 {
		t.Error("too little happened")
	}
}

type regionKills struct {
	t    *testing.T
	path string

	mu       sync.Mutex
	written  map[int64]bool // chunks of which a process has printed the number
	finished bool

	kills, writes, arrays, here int
	whole                       int // rounds since the last chunk was written
}

// round starts the processes and kills each at a random time.
func (k *regionKills) round() {
	var wait sync.WaitGroup
	for i := range regionProcesses {
		role := regionWriter
		if i < 2 {
			role = regionFinisher
		}
		wait.Go(func() { k.process(role) })
	}
	wait.Wait()
}

// process runs a process and kills it.
func (k *regionKills) process(role string) {
	var stderr bytes.Buffer
	c := exec.Command(os.Args[0], "-test.run=^TestRegionKills$", "-test.timeout=0")
	c.Env = append(os.Environ(), envChild+"="+k.t.Name(), envDir+"="+k.path, envRole+"="+role)
	c.Stderr = &stderr
	out, err := c.StdoutPipe()
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		k.t.Error(err)
		return
	}
	lines := bufio.NewReader(out)
	for first := true; ; first = false {
		line, err := lines.ReadString('\n')
		if err != nil {
			break // the line is not whole
		}
		if first { // it has begun
			most := 80
			if role == regionFinisher {
				most = 300
			}
			time.AfterFunc(time.Duration(rand.IntN(most))*time.Millisecond, func() { c.Process.Kill() })
		}
		k.note(strings.TrimSuffix(line, "\n"))
	}
	err = c.Wait()
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.kills++; c.ProcessState.Exited() {
		k.t.Errorf("%s ended: %v: %s", role, err, stderr.String())
	}
}

// note notes what a process has printed.
func (k *regionKills) note(line string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if n, err := strconv.ParseInt(line, 10, 64); err == nil {
		k.written[n] = true
		k.writes++
	} else if line == regionDone {
		k.finished = true
	}
}

// check checks the directory while no process runs. It finishes an array whose Finish was killed.
func (k *regionKills) check() {
	r, err := ndarray.OpenRegions(context.Background(), k.path, &ndarray.OpenOptions{NoSync: true})
	if err != nil {
		k.t.Error(err)
		return
	}
	defer r.Close()
	missing := map[int64]bool{}
	for b, err := range r.Missing(context.Background()) {
		if err != nil {
			k.t.Error(err)
			return
		}
		n := regionNumber(b)
		if missing[n] = true; k.written[n] {
			k.t.Errorf("chunk %d is lost", n)
		}
	}
	a, err := ndarray.Open(context.Background(), k.path, nil)
	switch {
	case err == nil && len(missing) == 0:
		a.Close()
	case err == nil || k.finished || !errors.Is(err, ndarray.ErrUnfinished):
		k.t.Errorf("%d chunks are missing, finished %v, Open: %v", len(missing), k.finished, err)
		return
	case len(missing) == 0 && k.whole < 5: // the next processes may finish it
		k.whole++
		return
	case len(missing) > 0:
		return
	default:
		k.here++
	}
	k.finished = true
	k.arrays++
	if err := r.Finish(context.Background()); err != nil { // the last call may have been killed at the end
		k.t.Error(err)
		return
	}
	k.compare()
}

// compare compares the finished array with the model, and its files with its index.
func (k *regionKills) compare() {
	a, err := ndarray.Open(context.Background(), k.path, nil)
	if err != nil {
		k.t.Error(err)
		return
	}
	defer a.Close()
	files := 1
	for c, err := range a.ChunkInfos(context.Background()) {
		var got []byte
		if err == nil {
			got = make([]byte, 8*c.Box.Size())
			err = a.ReadBytes(context.Background(), got, c.Box.Selection()...)
		}
		if err != nil || !bytes.Equal(got, regionItems(c.Box)) {
			k.t.Errorf("chunk %d: %v, or other items", c.Number, err)
			return
		}
		if c.CBytes > 0 {
			files++
		}
	}
	list, err := fs.ReadDir(os.DirFS(k.path), ".")
	if err != nil || len(list) != files {
		k.t.Errorf("%d files, want %d: %v", len(list), files, err)
	}
	beside, err := os.ReadDir(filepath.Dir(k.path))
	if err != nil || len(beside) != 1 {
		k.t.Errorf("%d names beside the array: %v", len(beside)-1, err)
	}
}
