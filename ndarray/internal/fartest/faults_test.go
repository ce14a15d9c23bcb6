package fartest_test

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/internal/engine"
	"github.com/goblosc/blosc2/ndarray"
	"github.com/goblosc/blosc2/ndarray/internal/fartest"
)

// farStalled returns an array of 64 chunks of random items, and its source, which only has the first few chunks, or all
// of them with 64. A call reads four chunks at a time. broken damages the last chunk that the source has.
func farStalled(t *testing.T, workers, few int, broken bool) (*ndarray.Array, *fartest.Source) {
	t.Helper()
	data := make([]byte, 64*8192)
	rand.NewChaCha8([32]byte{1}).Read(data)
	local, err := ndarray.CreateBytes(ctx, "", []int64{64, 4096}, "<u2", data, &ndarray.CreateOptions{Chunks: []int64{1, 4096}, Blocks: []int64{1, 4096}})
	if err != nil {
		t.Fatal(err)
	}
	src := fartest.NewSource(fartest.Stored(t, local.Frame()), 1)
	if broken {
		info, err := local.Frame().ChunkInfo(ctx, few-1)
		if err != nil {
			t.Fatal(err)
		}
		src.Data[info.Off] = 255 // the version of the format
	}
	a, err := ndarray.OpenSource(ctx, src, &ndarray.OpenOptions{Concurrency: workers, MaxBytes: 200_000})
	if err != nil {
		t.Fatal(err)
	}
	src.Ranges, src.After = 0, 0
	if few < 64 {
		info, err := local.Frame().ChunkInfo(ctx, few)
		if err != nil {
			t.Fatal(err)
		}
		src.After = info.Off + 8192 // reading the header of a damaged chunk may read some bytes after it
	}
	src.Wait = few == 0
	return a, src
}

// TestFarStalled ends calls while the source does not answer: by a break, an error, a panic, and a damaged chunk. They
// return at once.
func TestFarStalled(t *testing.T) {
	boom := errors.New("boom")
	for name, c := range map[string]struct {
		broken bool
		call   func(a *ndarray.Array) error
		want   error
	}{
		"break": {false, func(a *ndarray.Array) error {
			for _, err := range ndarray.Tiles[uint16](ctx, a, ndarray.ByChunk(a).ReadAhead(40)) {
				return err
			}
			return nil
		}, nil},
		"panic": {false, func(a *ndarray.Array) (err error) {
			defer func() { err, _ = recover().(error) }()
			for range ndarray.Tiles[uint16](ctx, a, ndarray.ByChunk(a).ReadAhead(40)) {
				panic(boom)
			}
			return nil
		}, boom},
		"Map": {false, func(a *ndarray.Array) error {
			_, err := ndarray.Map(ctx, "", a, func([]int8, ndarray.Tile[uint16]) error { return boom }, nil)
			return err
		}, boom},
		"damaged chunk, tiles": {true, func(a *ndarray.Array) error {
			for _, err := range ndarray.Tiles[uint16](ctx, a, ndarray.ByChunk(a).ReadAhead(40)) {
				if err != nil {
					return err
				}
			}
			return nil
		}, errors.ErrUnsupported},
		"damaged chunk, sum": {true, func(a *ndarray.Array) error {
			_, err := ndarray.Reduce(ctx, a, ndarray.OpSum, nil)
			return err
		}, errors.ErrUnsupported},
		"damaged chunk, copy": {true, func(a *ndarray.Array) error {
			_, err := ndarray.Copy(ctx, "", a, &ndarray.CreateOptions{Chunks: []int64{64, 64}, Concurrency: 2})
			return err
		}, errors.ErrUnsupported},
		"damaged chunk, read": {true, func(a *ndarray.Array) error {
			return a.ReadBytes(ctx, make([]byte, a.NBytes()))
		}, errors.ErrUnsupported},
	} {
		for _, workers := range []int{1, 2, 4} {
			a, _ := farStalled(t, workers, 4, c.broken)
			done := make(chan error, 1)
			go func() { done <- c.call(a) }()
			select {
			case err := <-done:
				if !errors.Is(err, c.want) {
					t.Errorf("%s, %d goroutines: %v, want %v", name, workers, err, c.want)
				}
			case <-time.After(10 * time.Second):
				t.Errorf("%s, %d goroutines: it hangs", name, workers)
			}
			a.Close()
		}
	}
}

// farCalls are calls that read arrays far away.
var farCalls = map[string]func(ctx context.Context, a *ndarray.Array) error{
	"read": func(ctx context.Context, a *ndarray.Array) error { return a.ReadBytes(ctx, make([]byte, a.NBytes())) },
	"item": func(ctx context.Context, a *ndarray.Array) error {
		_, err := ndarray.Item[uint16](ctx, a, 60, 5)
		return err
	},
	"copy": func(ctx context.Context, a *ndarray.Array) error { _, err := ndarray.Copy(ctx, "", a, nil); return err },
	"rechunk": func(ctx context.Context, a *ndarray.Array) error {
		_, err := ndarray.Copy(ctx, "", a, &ndarray.CreateOptions{Chunks: []int64{64, 64}})
		return err
	},
	"stages": func(ctx context.Context, a *ndarray.Array) error {
		_, err := ndarray.Copy(ctx, "", a, &ndarray.CreateOptions{Chunks: []int64{64, 16}, MaxMemory: 100_000, Concurrency: 1})
		return err
	},
	"concat": func(ctx context.Context, a *ndarray.Array) error {
		_, err := ndarray.Concat(ctx, "", 0, []ndarray.Reader{a, a}, nil)
		return err
	},
	"concat, cut": func(ctx context.Context, a *ndarray.Array) error {
		_, err := ndarray.Concat(ctx, "", 1, []ndarray.Reader{a, a}, &ndarray.CreateOptions{Chunks: []int64{64, 100}})
		return err
	},
	"sum": func(ctx context.Context, a *ndarray.Array) error {
		_, err := ndarray.Reduce(ctx, a, ndarray.OpSum, nil)
		return err
	},
	"median": func(ctx context.Context, a *ndarray.Array) error {
		_, err := ndarray.Quantiles(ctx, a, []float64{0.5}, nil)
		return err
	},
	"tiles": func(ctx context.Context, a *ndarray.Array) error {
		for _, err := range ndarray.Tiles[uint16](ctx, a, ndarray.ByChunk(a).ReadAhead(3)) {
			if err != nil {
				return err
			}
		}
		return nil
	},
	"map": func(ctx context.Context, a *ndarray.Array) error {
		_, err := ndarray.Map(ctx, "", a, func([]int8, ndarray.Tile[uint16]) error { return nil }, nil)
		return err
	},
	"to a writer": func(ctx context.Context, a *ndarray.Array) error { return ndarray.ToWriter(ctx, io.Discard, a) },
	"save":        func(ctx context.Context, a *ndarray.Array) error { _, err := a.Save(ctx, io.Discard); return err },
	"verify":      func(ctx context.Context, a *ndarray.Array) error { return a.Verify(ctx, nil) },
	"infos": func(ctx context.Context, a *ndarray.Array) error {
		for _, err := range a.ChunkInfos(ctx) {
			if err != nil {
				return err
			}
		}
		return nil
	},
	"ChunkInfo": func(ctx context.Context, a *ndarray.Array) error { _, err := a.Frame().ChunkInfo(ctx, 60); return err },
	"ReadChunk": func(ctx context.Context, a *ndarray.Array) error {
		_, err := a.Frame().ReadChunk(ctx, nil, 60)
		return err
	},
	"ReadRaw": func(ctx context.Context, a *ndarray.Array) error {
		_, err := a.Frame().ReadRaw(ctx, nil, 60)
		return err
	},
	"ReadBlock": func(ctx context.Context, a *ndarray.Array) error {
		_, err := a.Frame().ReadBlock(ctx, nil, 60, 0)
		return err
	},
	"content": func(ctx context.Context, a *ndarray.Array) error {
		_, err := io.Copy(io.Discard, a.Frame().Content(ctx))
		return err
	},
}

// TestFarCanceled cancels calls while the source does not answer. They return the error of the context soon.
func TestFarCanceled(t *testing.T) {
	for name, call := range farCalls {
		a, _ := farStalled(t, 2, 4, false)
		ctx, cancel := context.WithTimeout(ctx, 20*time.Millisecond)
		done := make(chan error, 1)
		go func() { done <- call(ctx, a) }()
		select {
		case err := <-done:
			if !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%s: %v", name, err)
			}
		case <-time.After(10 * time.Second):
			t.Errorf("%s: it hangs", name)
		}
		cancel()
		a.Close()
	}
}

// TestFarLocation checks that errors of a source name the array's chunk once.
func TestFarLocation(t *testing.T) {
	for name, call := range farCalls {
		a, src := farStalled(t, 2, 64, false)
		src.Fail, src.FailAt = 1, true
		err := call(ctx, a)
		at := new(frame.Error)
		if !errors.Is(err, fartest.Err) || !errors.As(err, &at) || at.Part != "chunk" || at.Chunk < 0 || at.Chunk > 63 {
			t.Errorf("%s: %v", name, err)
		} else if s := err.Error(); strings.Count(s, "frame") > 1 || strings.Count(s, "ndarray:") > 1 || strings.Count(s, fartest.Err.Error()) > 1 {
			t.Errorf("%s: a prefix twice: %v", name, err)
		}
		a.Close()
	}
}

// TestFarVerifyCanceled cancels Verify with a report that goes on. It returns the error of the context, which is no
// fault of a chunk.
func TestFarVerifyCanceled(t *testing.T) {
	for _, few := range []int{0, 1, 4, 40, 63} {
		a, _ := farStalled(t, 2, few, false)
		ctx, cancel := context.WithTimeout(ctx, 20*time.Millisecond)
		reported := 0
		err := a.Verify(ctx, func(err error) error { reported++; return nil })
		if !errors.Is(err, context.DeadlineExceeded) || reported > 0 {
			t.Errorf("%d chunks: %v, %d faults", few, err, reported)
		}
		cancel()
		a.Close()
	}
}

// TestFarLockedThread calls what reads ahead on a goroutine that is locked to its thread, as in a main function for a
// window, or in a function that C calls.
func TestFarLockedThread(t *testing.T) {
	for name, call := range farCalls {
		a, _ := farStalled(t, 3, 64, false)
		done := make(chan error)
		go func() {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			done <- call(ctx, a)
		}()
		if err := <-done; err != nil {
			t.Errorf("%s: %v", name, err)
		}
		a.Close()
	}
}

// failsOnce is a source whose first read waits until another one has begun, and fails with what fail returns. Other
// reads wait for their context.
type failsOnce struct {
	*fartest.Source
	armed atomic.Bool
	first atomic.Bool
	begun chan struct{}
	begin sync.Once
	fail  func() error
}

func (s *failsOnce) ReadAtContext(ctx context.Context, p []byte, off int64) (int, error) {
	if !s.armed.Load() {
		return s.Source.ReadAtContext(ctx, p, off)
	}
	if s.first.CompareAndSwap(false, true) {
		select {
		case <-s.begun:
		case <-ctx.Done():
		}
		return 0, s.fail()
	}
	s.begin.Do(func() { close(s.begun) })
	<-ctx.Done()
	return 0, ctx.Err()
}

// TestFarFails lets one goroutine of a call fail while another one waits for the source. The call ends.
func TestFarFails(t *testing.T) {
	const n, size = 8, 30_000
	data := make([]byte, n*size)
	rand.NewChaCha8([32]byte{1}).Read(data)
	local, err := ndarray.CreateBytes(ctx, "", []int64{n * size}, "|u1", data, &ndarray.CreateOptions{Chunks: []int64{size}})
	if err != nil {
		t.Fatal(err)
	}
	defer local.Close()
	stored, o := fartest.Stored(t, local.Frame()), &ndarray.CreateOptions{Concurrency: 2, Chunks: []int64{size}}
	for name, call := range map[string]func(ctx context.Context, a *ndarray.Array) error{
		"read": func(ctx context.Context, a *ndarray.Array) error { return a.ReadBytes(ctx, make([]byte, n*size)) },
		"map": func(ctx context.Context, a *ndarray.Array) error {
			_, err := ndarray.Map(ctx, "", a, func([]uint8, ndarray.Tile[uint8]) error { return nil }, o)
			return err
		},
		"readers": func(ctx context.Context, a *ndarray.Array) error {
			held, release, err := ndarray.Hold(ctx, []ndarray.Reader{a}, engine.Internal{})
			if err != nil {
				return err
			}
			defer release()
			_, err = ndarray.FromReaders(ctx, "", a.Shape(), held, 1, func(ctx context.Context, chunk ndarray.Box, ahead []ndarray.Reader) func(ndarray.Tile[uint8]) error {
				read := sync.OnceValue(func() error {
					return ndarray.ReadInto(ctx, ahead[0], make([]uint8, chunk.Size()), chunk.Selection()...)
				})
				return func(ndarray.Tile[uint8]) error { return read() }
			}, engine.Internal{}, o)
			return err
		},
	} {
		for _, panics := range []bool{false, true} {
			src := &failsOnce{Source: fartest.NewSource(stored, 1), begun: make(chan struct{}), fail: func() error {
				if panics {
					panic(fartest.Err)
				}
				return fartest.Err
			}}
			a, err := ndarray.OpenSource(ctx, src, &ndarray.OpenOptions{Concurrency: 2, MaxBytes: 100_000})
			if err != nil {
				t.Fatal(err)
			}
			src.armed.Store(true)
			ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
			err = func() (err error) {
				defer func() {
					if x := recover(); x != nil {
						err, _ = x.(error)
					}
				}()
				return call(ctx, a)
			}()
			if !errors.Is(err, fartest.Err) || ctx.Err() != nil {
				t.Errorf("%s, panic %v: %v, and the context: %v", name, panics, err, ctx.Err())
			}
			cancel()
			a.Close()
		}
	}
}

// TestFarMapPanic lets the source panic while goroutines of Map wait for the items of a chunk. The function of Map is
// not called.
func TestFarMapPanic(t *testing.T) {
	const size = 30_000
	data := make([]byte, size)
	rand.NewChaCha8([32]byte{1}).Read(data)
	local, err := ndarray.CreateBytes(ctx, "", []int64{size}, "|u1", data, &ndarray.CreateOptions{Chunks: []int64{size}})
	if err != nil {
		t.Fatal(err)
	}
	defer local.Close()
	src := &failsOnce{Source: fartest.NewSource(fartest.Stored(t, local.Frame()), 1), begun: make(chan struct{}), fail: func() error {
		time.Sleep(50 * time.Millisecond)
		panic(fartest.Err)
	}}
	src.begin.Do(func() { close(src.begun) })
	a, err := ndarray.OpenSource(ctx, src, &ndarray.OpenOptions{Concurrency: 1, MaxBytes: 100_000})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	src.armed.Store(true)
	var calls atomic.Int64
	defer func() {
		if x := recover(); x != fartest.Err || calls.Load() > 0 {
			t.Errorf("panic %v, %d calls", x, calls.Load())
		}
	}()
	_, err = ndarray.Map(ctx, "", a, func([]uint8, ndarray.Tile[uint8]) error {
		calls.Add(1)
		return nil
	}, &ndarray.CreateOptions{Concurrency: 4, Chunks: []int64{size}, Blocks: []int64{size / 16}})
	t.Errorf("no panic, %v", err)
}
