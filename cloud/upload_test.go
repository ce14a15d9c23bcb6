package cloud

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"gocloud.dev/blob"
	"gocloud.dev/blob/memblob"

	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/ndarray"
)

// partsDriver is an Uploader that keeps parts in memory.
type partsDriver struct {
	common
	mu       sync.Mutex
	parts    map[int][]byte
	complete bool
}

func (d *partsDriver) NewUpload(context.Context, *blob.Bucket, string, string, bool) (Upload, error) {
	return d, nil
}

func (d *partsDriver) Part(_ context.Context, number int, data []byte) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.parts[number] != nil {
		return errors.New("the part exists")
	}
	if d.parts == nil {
		d.parts = map[int][]byte{}
	}
	d.parts[number] = bytes.Clone(data)
	return nil
}

func (d *partsDriver) Complete(context.Context) error { d.complete = true; return nil }

// object returns the parts one after the other.
func (d *partsDriver) object() (all []byte) {
	for i := range len(d.parts) {
		all = append(all, d.parts[i+1]...)
	}
	return all
}

func (d *partsDriver) Abort(context.Context) error { d.parts = nil; return nil }

// TestUpload compares the Storage of an upload with one in memory.
func TestUpload(t *testing.T) {
	gone := 0
	for seed := range uint64(2000) {
		r := rand.New(rand.NewPCG(seed, 0))
		d := &partsDriver{}
		inner := memblob.OpenBucket(nil)
		b := New(inner, "mem://", d)
		w := newUpload(t.Context(), b, d, "a", &WriteOptions{PartSize: 100, Requests: 3, Overwrite: true})
		want := frame.NewMemory(nil)
		err := w.run(func() error {
			for range 1 + r.IntN(30) {
				size, err := w.Size()
				if wantSize, _ := want.Size(); size != wantSize || err != nil {
					t.Fatalf("seed %d: size %d, want %d", seed, size, wantSize)
				}
				off := size // mostly appended
				switch r.IntN(8) {
				case 0:
					off = r.Int64N(100)
				case 1:
					off = max(size-r.Int64N(50), 0)
				case 2:
					off = size + r.Int64N(250)
				case 3:
					off = r.Int64N(size + 1)
				}
				p := make([]byte, 1+r.IntN(150))
				switch r.IntN(6) {
				case 0:
					n, err := w.ReadAt(p, off)
					q := make([]byte, len(p))
					m, wantErr := want.ReadAt(q, off)
					if errors.Is(err, errors.ErrUnsupported) {
						gone++
					} else if n != m || !errors.Is(err, wantErr) || !bytes.Equal(p[:n], q[:n]) {
						t.Fatalf("seed %d: read %d, %v, want %d, %v", seed, n, err, m, wantErr)
					}
				case 1:
					if off > size {
						continue
					}
					if err := w.Truncate(off); errors.Is(err, errors.ErrUnsupported) {
						gone++
					} else if err != nil {
						t.Fatal(err)
					} else {
						want.Truncate(off)
					}
				default:
					for i := range p {
						p[i] = byte(r.IntN(256))
					}
					n, err := w.WriteAt(p, off)
					if errors.Is(err, errors.ErrUnsupported) {
						gone++
					} else if err != nil {
						t.Fatal(err)
					}
					want.WriteAt(p[:n], off)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		var got []byte
		if d.complete {
			for i := range len(d.parts) {
				if part := d.parts[i+1]; part == nil || len(part) != 100 && i != len(d.parts)-1 {
					t.Fatalf("seed %d: part %d has %d bytes", seed, i+1, len(part))
				}
			}
			got = d.object()
		} else if got, err = inner.ReadAll(t.Context(), "a"); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want.Bytes()) {
			t.Fatalf("seed %d: %d bytes, want %d", seed, len(got), len(want.Bytes()))
		}
		if _, err := w.WriteAt([]byte{1}, 0); err == nil {
			t.Error("a write after the end")
		}
		inner.Close()
	}
	if gone == 0 {
		t.Error("no bytes of uploaded parts were used")
	}
	if _, err := newUpload(t.Context(), nil, nil, "", &WriteOptions{PartSize: 1}).ReadAt(make([]byte, 1), 0); err != io.EOF {
		t.Error(err)
	}
}

// hangingDriver is a partsDriver whose Abort gets no answer. It notes how long it may take.
type hangingDriver struct {
	partsDriver
	wait time.Duration
}

func (d *hangingDriver) NewUpload(context.Context, *blob.Bucket, string, string, bool) (Upload, error) {
	return d, nil
}

func (d *hangingDriver) Abort(ctx context.Context) error {
	end, _ := ctx.Deadline()
	d.wait = time.Until(end)
	return context.DeadlineExceeded
}

// TestUploadCanceled ends the context of an upload: it must not wait long for the store.
func TestUploadCanceled(t *testing.T) {
	d := &hangingDriver{}
	ctx, cancel := context.WithCancel(t.Context())
	w := newUpload(ctx, New(memblob.OpenBucket(nil), "mem://", d), d, "a", &WriteOptions{PartSize: 100, Requests: 1, Overwrite: true})
	err := w.run(func() error {
		_, err := w.WriteAt(make([]byte, 500), 0)
		cancel()
		return err
	})
	if !errors.Is(err, context.Canceled) || d.wait <= 0 || d.wait > 5*time.Second {
		t.Errorf("%v, Abort may take %v", err, d.wait)
	}
}

// TestUploadBlockTable creates an array with a block table in an upload, whose parts cannot be read again.
func TestUploadBlockTable(t *testing.T) {
	d := &partsDriver{}
	inner := memblob.OpenBucket(nil)
	defer inner.Close()
	items := make([]uint64, 2<<20)
	r := rand.New(rand.NewPCG(1, 1))
	for i := range items {
		items[i] = r.Uint64()
	}
	//lint:ignore SA1012 nil is allowed, as in the other packages
	err := New(inner, "mem://", d).Create(nil, "a", func(st frame.Storage) error {
		o := &ndarray.CreateOptions{Storage: st, Chunks: []int64{64 << 10}, BlockTable: true}
		a, err := ndarray.Create(t.Context(), "", []int64{2 << 20}, items, o)
		if err != nil {
			return err
		}
		return a.Close()
	}, &WriteOptions{PartSize: 5 << 20})
	if err != nil || len(d.parts) != 4 {
		t.Fatalf("%d parts, %v", len(d.parts), err)
	}
	a, err := ndarray.OpenBytes(d.object(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	got, err := ndarray.Read[uint64](t.Context(), a)
	if err != nil || !slices.Equal(got, items) || !a.CreateOptions().BlockTable {
		t.Errorf("other items, or no block table: %v", err)
	}
}

// appending returns a function that creates an array with rows of 100 items and appends n items at a time, in one batch
// or with a commit for each append.
func appending(ctx context.Context, items []int32, n int, batch bool) func(o *ndarray.CreateOptions) (*ndarray.Array, error) {
	return func(o *ndarray.CreateOptions) (*ndarray.Array, error) {
		a, err := ndarray.Zeros(ctx, "", []int64{0, 100}, "<i4", o)
		if err != nil {
			return nil, err
		}
		var to ndarray.Editor = a
		commit := func() error { return nil }
		if batch {
			b, err := a.Begin(ctx)
			if err != nil {
				return nil, err
			}
			defer b.Rollback()
			to, commit = b, b.Commit
		}
		for part := range slices.Chunk(items, n) {
			if err := ndarray.Append(ctx, to, 0, part); err != nil {
				return nil, err
			}
		}
		return a, commit()
	}
}

// TestUploadWays creates arrays in uploads in several ways. Those that use uploaded bytes again must fail with advice.
func TestUploadWays(t *testing.T) {
	ctx := t.Context()
	const rows, columns = 804, 100
	items := make([]int32, rows*columns)
	r := rand.New(rand.NewPCG(1, 1))
	for i := range items {
		items[i] = int32(r.Uint32())
	}
	shape := []int64{rows, columns}
	for _, c := range []struct {
		name   string
		ok     bool
		create func(o *ndarray.CreateOptions) (*ndarray.Array, error)
	}{
		{"FromFunc", true, func(o *ndarray.CreateOptions) (*ndarray.Array, error) {
			return ndarray.FromFunc(ctx, "", shape, func(t ndarray.Tile[int32]) error {
				copy(t.Items, items[t.Start[0]*columns:])
				return nil
			}, o)
		}},
		{"FromSeq", true, func(o *ndarray.CreateOptions) (*ndarray.Array, error) {
			return ndarray.FromSeq(ctx, "", shape, slices.Values(items), o)
		}},
		{"Concat", true, func(o *ndarray.CreateOptions) (*ndarray.Array, error) {
			old, err := ndarray.Create(ctx, "", []int64{rows - 1, columns}, items[:(rows-1)*columns], &ndarray.CreateOptions{Chunks: o.Chunks})
			if err != nil {
				return nil, err
			}
			day, err := ndarray.Create(ctx, "", []int64{1, columns}, items[(rows-1)*columns:], nil)
			if err != nil {
				return nil, err
			}
			return ndarray.Concat(ctx, "", 0, []ndarray.Reader{old, day}, o)
		}},
		{"whole chunks in a batch", true, appending(ctx, items, 8*columns, true)},
		{"whole chunks, a commit each", false, appending(ctx, items, 8*columns, false)},
		{"half chunks in a batch", false, appending(ctx, items, 4*columns, true)},
		{"half chunks, a commit each", false, appending(ctx, items, 4*columns, false)},
	} {
		fails := 0
		for _, size := range []int{1000, 4000, 30_000} {
			d := &partsDriver{}
			b := New(memblob.OpenBucket(nil), "mem://", d)
			defer b.Close()
			w := newUpload(ctx, b, d, "a", &WriteOptions{PartSize: size, Requests: 3, Overwrite: true})
			err := w.run(func() error {
				a, err := c.create(&ndarray.CreateOptions{Storage: w, Chunks: []int64{8, columns}, Checksums: true, BlockTable: true})
				if err != nil {
					return err
				}
				return a.Close()
			})
			if err != nil {
				if fails++; c.ok || !errors.Is(err, errors.ErrUnsupported) || !strings.Contains(err.Error(), "append whole chunks in one batch") {
					t.Errorf("%s, parts of %d bytes: %v", c.name, size, err)
				}
				continue
			}
			a, err := ndarray.OpenBytes(d.object(), &ndarray.OpenOptions{Verify: true})
			if err != nil {
				t.Fatalf("%s: %v", c.name, err)
			}
			if got, err := ndarray.Read[int32](ctx, a); err != nil || !slices.Equal(got, items) || len(d.parts) < 10 {
				t.Errorf("%s, parts of %d bytes: other items, or %d parts, %v", c.name, size, len(d.parts), err)
			}
		}
		if !c.ok && fails == 0 {
			t.Errorf("%s: no error, so the documentation of Create is wrong", c.name)
		}
	}
}

// TestCreateNoFrame calls Create with functions that return nil without a complete frame in the Storage. The object
// must be as before.
func TestCreateNoFrame(t *testing.T) {
	ctx := t.Context()
	broken := func(st frame.Storage, chunks int) error { // fails after a few chunks of 1 MiB, and ignores that
		_, err := ndarray.FromFunc(ctx, "", []int64{64 << 20}, func(tile ndarray.Tile[byte]) error {
			rand.NewChaCha8([32]byte{}).Read(tile.Items)
			if chunks--; chunks < 0 {
				return io.ErrUnexpectedEOF
			}
			return nil
		}, &ndarray.CreateOptions{Storage: st, Chunks: []int64{1 << 20}, Blocks: []int64{1 << 20}, Concurrency: 1})
		if !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Error(err)
		}
		return nil
	}
	const none, incomplete = "fill created no frame in st; set CreateOptions.Storage", "return the error of creating it"
	for _, driver := range []Driver{nil, &partsDriver{}} {
		b := New(memblob.OpenBucket(nil), "mem://bucket", driver)
		defer b.Close()
		if _, err := b.Save(ctx, "a", array(t, 0, 10), nil); err != nil {
			t.Fatal(err)
		}
		before, _ := b.ReadAll(ctx, "a")
		for _, c := range []struct {
			name string
			fill func(st frame.Storage) error
			want string
		}{
			{"nothing", func(frame.Storage) error { return nil }, none},
			{"in memory", func(frame.Storage) error { return copyOf(ctx, array(t, 0, 10))(nil) }, none},
			{"emptied", func(st frame.Storage) error { return errors.Join(copyOf(ctx, array(t, 0, 10))(st), st.Truncate(0)) }, none},
			{"cut off", func(st frame.Storage) error { return errors.Join(copyOf(ctx, array(t, 0, 10))(st), st.Truncate(100)) }, incomplete},
			{"cut off early", func(st frame.Storage) error { return errors.Join(copyOf(ctx, array(t, 0, 10))(st), st.Truncate(23)) }, incomplete},
			{"a byte", func(st frame.Storage) error { _, err := st.WriteAt([]byte{0x9e}, 0); return err }, incomplete},
			{"broken", func(st frame.Storage) error { return broken(st, 2) }, incomplete},
			{"broken after parts", func(st frame.Storage) error { return broken(st, 20) }, incomplete},
		} {
			for key, overwrite := range map[string]bool{"a": true, "new": false} {
				err := b.Create(ctx, key, c.fill, &WriteOptions{PartSize: 5 << 20, Overwrite: overwrite})
				if !errors.Is(err, frame.ErrParam) || !strings.Contains(err.Error(), "mem://bucket/"+key) || !strings.Contains(err.Error(), c.want) {
					t.Errorf("%s: %v, want ErrParam, %s", c.name, err, c.want)
				}
			}
			if now, err := b.ReadAll(ctx, "a"); err != nil || !bytes.Equal(now, before) {
				t.Errorf("%s: the object has %d bytes, %v", c.name, len(now), err)
			}
			if ok, err := b.Exists(ctx, "new"); ok || err != nil {
				t.Errorf("%s: an object was written: %v", c.name, err)
			}
			if d, ok := driver.(*partsDriver); ok && (d.complete || len(d.parts) > 0) {
				t.Errorf("%s: %d parts are left", c.name, len(d.parts))
			}
		}
	}
}

// TestNilContext uses no context.
func TestNilContext(t *testing.T) {
	buckets(t, func(t *testing.T, b *Bucket) {
		//lint:ignore SA1012 nil is allowed, as in the other packages
		if _, err := b.Save(nil, "a", array(t, 0, 10), nil); err != nil {
			t.Fatal(err)
		}
		//lint:ignore SA1012 nil is allowed, as in the other packages
		obj, err := b.Open(nil, "a", nil)
		if err != nil {
			t.Fatal(err)
		}
		obj.Close()
	})
}
