package s3_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	awss3 "github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/goblosc/blosc2/cloud"
	"github.com/goblosc/blosc2/cloud/s3"
	"github.com/goblosc/blosc2/codec"
	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/ndarray"
)

// noise returns an array in memory whose stored bytes are about n.
func noise(t *testing.T, n int) *ndarray.Array {
	t.Helper()
	a, err := ndarray.Create(t.Context(), "", []int64{int64(n)}, noiseBytes(n), noiseOptions(nil))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { a.Close() })
	return a
}

func noiseBytes(n int) []byte {
	b := make([]byte, n)
	rand.NewChaCha8([32]byte{}).Read(b)
	return b
}

func noiseOptions(st frame.Storage) *ndarray.CreateOptions {
	return &ndarray.CreateOptions{Chunks: []int64{1 << 20}, Level: codec.NoCompression, Storage: st, Attrs: map[string]any{"a": 1}, Checksums: true}
}

// create returns a function that creates the array of noise in a Storage.
func create(ctx context.Context, n int) func(st frame.Storage) error {
	return func(st frame.Storage) error {
		a, err := ndarray.Create(ctx, "", []int64{int64(n)}, noiseBytes(n), noiseOptions(st))
		if err != nil {
			return err
		}
		return a.Close()
	}
}

// checkStored compares an object with the array of noise, and verifies it.
func (s *server) checkStored(t *testing.T, key string, n int) {
	t.Helper()
	src, err := s3.Open(t.Context(), s.object(key), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	a, err := ndarray.OpenSource(t.Context(), src, &ndarray.OpenOptions{Verify: true})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	got, err := ndarray.Read[byte](t.Context(), a)
	if err != nil || !bytes.Equal(got, noiseBytes(n)) {
		t.Fatalf("wrong items: %v", err)
	}
}

// uploads returns the number of unfinished uploads.
func (s *server) uploads(t *testing.T) int {
	t.Helper()
	var client *awss3.Client
	if !s.bucket(t).As(&client) {
		t.Fatal("no client")
	}
	bucket := "bucket"
	out, err := client.ListMultipartUploads(t.Context(), &awss3.ListMultipartUploadsInput{Bucket: &bucket})
	if err != nil {
		t.Fatal(err)
	}
	return len(out.Uploads)
}

// TestWrite saves, creates and copies arrays of several sizes, with and without parts.
func TestWrite(t *testing.T) {
	s := start(t)
	b := s.bucket(t)
	o := &cloud.WriteOptions{PartSize: 5 << 20, Requests: 2, Overwrite: true}
	for _, c := range []struct{ n, requests int }{{1000, 1}, {5<<20 + 1, 4}, {14 << 20, 5}} { // start, parts, complete
		a := noise(t, c.n)
		var stored bytes.Buffer
		if _, err := a.Save(t.Context(), &stored); err != nil {
			t.Fatal(err)
		}
		requests := func(what string) {
			t.Helper()
			r, _ := s.take()
			if len(r) != c.requests || c.requests == 5 && strings.HasSuffix(r[1], " 1") { // two in flight
				t.Errorf("%s: requests %q, want %d and the first part last", what, r, c.requests)
			}
		}
		s.take()
		n, err := b.Save(t.Context(), "a", a, o)
		if err != nil || n != int64(stored.Len()) {
			t.Fatalf("%d bytes, %v", n, err)
		}
		requests("Save")
		if got, err := b.ReadAll(t.Context(), "a"); err != nil || !bytes.Equal(got, stored.Bytes()) {
			t.Fatalf("the object differs from what Save writes: %v", err)
		}
		s.checkStored(t, "a", c.n)

		s.take()
		if err := b.Create(t.Context(), "b", create(t.Context(), c.n), o); err != nil {
			t.Fatal(err)
		}
		requests("Create")
		s.checkStored(t, "b", c.n)

		s.take()
		err = b.Create(t.Context(), "c", func(st frame.Storage) error {
			a, err := ndarray.Copy(t.Context(), "", a, &ndarray.CreateOptions{Storage: st})
			if err != nil {
				return err
			}
			return a.Close()
		}, o)
		if err != nil {
			t.Fatal(err)
		}
		requests("Copy")
		s.checkStored(t, "c", c.n)

		err = b.Create(t.Context(), "d", func(st frame.Storage) error { // whole chunks in one batch
			a, err := ndarray.Create(t.Context(), "", []int64{0}, []byte{}, noiseOptions(st))
			if err != nil {
				return err
			}
			batch, err := a.Begin(t.Context())
			if err != nil {
				return err
			}
			defer batch.Rollback()
			for part := range slices.Chunk(noiseBytes(c.n), 1<<20) {
				if err := ndarray.Append(t.Context(), batch, 0, part); err != nil {
					return err
				}
			}
			return errors.Join(batch.Commit(), a.Close())
		}, o)
		if err != nil {
			t.Fatal(err)
		}
		s.checkStored(t, "d", c.n)
		if s.uploads(t) != 0 {
			t.Error("uploads are left")
		}
	}
}

// TestWriteFaults lets writing fail. The object must be as before, and no upload may be left.
func TestWriteFaults(t *testing.T) {
	s := start(t)
	b := s.bucket(t)
	failed := errors.New("failed")
	const n = 14 << 20
	a := noise(t, n)
	part := func(number string, status int) func(w http.ResponseWriter, r *http.Request) bool {
		return func(w http.ResponseWriter, r *http.Request) bool {
			if r.URL.Query().Get("partNumber") != number {
				return false
			}
			io.Copy(io.Discard, r.Body)
			w.WriteHeader(status)
			return true
		}
	}
	var seen atomic.Int64
	for _, c := range []struct {
		name  string
		fault func(w http.ResponseWriter, r *http.Request) bool
		fill  func(ctx context.Context, cancel func()) func(st frame.Storage) error
		want  error
	}{
		{"fill fails", nil, func(ctx context.Context, _ func()) func(st frame.Storage) error {
			return func(st frame.Storage) error { return errors.Join(create(ctx, n)(st), failed) }
		}, failed},
		{"canceled", nil, func(ctx context.Context, cancel func()) func(st frame.Storage) error {
			return func(st frame.Storage) error { defer cancel(); return create(ctx, n)(st) }
		}, context.Canceled},
		{"part 2 denied", part("2", http.StatusForbidden), nil, fs.ErrPermission},
		{"part 1 denied", part("1", http.StatusForbidden), nil, fs.ErrPermission},
		{"complete denied", func(w http.ResponseWriter, r *http.Request) bool {
			if r.Method != http.MethodPost || !r.URL.Query().Has("uploadId") {
				return false
			}
			w.WriteHeader(http.StatusForbidden)
			return true
		}, nil, fs.ErrPermission},
		{"an uploaded part is written again", nil, func(ctx context.Context, _ func()) func(st frame.Storage) error {
			return func(st frame.Storage) error {
				if err := create(ctx, n)(st); err != nil {
					return err
				}
				_, err := st.WriteAt([]byte{1}, 6<<20)
				return err
			}
		}, errors.ErrUnsupported},
		{"part 3 the second time", func(w http.ResponseWriter, r *http.Request) bool {
			if seen.Add(1) > 1 {
				return false
			}
			return part("3", http.StatusServiceUnavailable)(w, r)
		}, nil, nil},
	} {
		for _, before := range []string{"", "before"} {
			t.Run(c.name+before, func(t *testing.T) {
				b.Delete(t.Context(), "a")
				if before != "" {
					s.put(t, "a", []byte(before))
				}
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				fill := create(ctx, n)
				if c.fill != nil {
					fill = c.fill(ctx, cancel)
				}
				seen.Store(0)
				s.faults(c.fault)
				err := b.Create(ctx, "a", fill, &cloud.WriteOptions{PartSize: 5 << 20, Overwrite: before != ""})
				s.faults(nil)
				if !errors.Is(err, c.want) {
					t.Errorf("%v, want %v", err, c.want)
				}
				if c.want == nil {
					s.checkStored(t, "a", n)
				} else if before != "" {
					if got, err := b.ReadAll(t.Context(), "a"); err != nil || string(got) != before {
						t.Errorf("the object is %q, %v", got, err)
					}
				} else if ok, err := b.Exists(t.Context(), "a"); ok || err != nil {
					t.Errorf("the object exists: %v", err)
				}
				if s.uploads(t) != 0 {
					t.Error("an upload is left")
				}
			})
		}
	}
	t.Run("panic", func(t *testing.T) {
		b.Delete(t.Context(), "a")
		defer func() {
			if recover() != failed {
				t.Error("no panic")
			}
			if ok, err := b.Exists(t.Context(), "a"); ok || err != nil || s.uploads(t) != 0 {
				t.Errorf("the object or an upload exists: %v", err)
			}
		}()
		b.Create(t.Context(), "a", func(st frame.Storage) error { create(t.Context(), n)(st); panic(failed) }, &cloud.WriteOptions{PartSize: 5 << 20})
	})
	t.Run("the source changes", func(t *testing.T) {
		b.Delete(t.Context(), "a")
		var from bytes.Buffer
		if _, err := a.Save(t.Context(), &from); err != nil {
			t.Fatal(err)
		}
		s.put(t, "from", from.Bytes())
		src, err := b.Open(t.Context(), "from", nil)
		if err != nil {
			t.Fatal(err)
		}
		defer src.Close()
		far, err := ndarray.OpenSource(t.Context(), src, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer far.Close()
		s.put(t, "from", []byte("other"))
		if _, err := b.Save(t.Context(), "a", far, nil); !errors.Is(err, frame.ErrChanged) || errors.Is(err, fs.ErrExist) {
			t.Errorf("%v, want ErrChanged", err)
		}
	})
	t.Run("exists", func(t *testing.T) {
		s.put(t, "a", []byte("before"))
		for _, size := range []int{1000, n} {
			s.take()
			if err := b.Create(t.Context(), "a", create(t.Context(), size), &cloud.WriteOptions{PartSize: 5 << 20}); !errors.Is(err, fs.ErrExist) {
				t.Errorf("%v, want ErrExist", err)
			}
			if r, _ := s.take(); size == n && (len(r) != 1 || r[0] != "HEAD a") {
				t.Errorf("requests %q, want only HEAD", r)
			}
		}
		if _, err := b.Save(t.Context(), "a", a, nil); !errors.Is(err, fs.ErrExist) {
			t.Errorf("%v, want ErrExist", err)
		}
	})
	t.Run("appears during the upload", func(t *testing.T) {
		b.Delete(t.Context(), "a")
		err := b.Create(t.Context(), "a", func(st frame.Storage) error {
			defer s.put(t, "a", []byte("other"))
			return create(t.Context(), n)(st)
		}, &cloud.WriteOptions{PartSize: 5 << 20})
		if got, _ := b.ReadAll(t.Context(), "a"); !errors.Is(err, fs.ErrExist) || string(got) != "other" || s.uploads(t) != 0 {
			t.Errorf("%v, want ErrExist; the object has %d bytes", err, len(got))
		}
	})
}

// TestWriteUnlisted writes to a bucket that the caller may not list, where HEAD of a missing key has status 403.
func TestWriteUnlisted(t *testing.T) {
	s := start(t)
	b := s.bucket(t)
	s.faults(func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method != http.MethodHead {
			return false
		}
		w.WriteHeader(http.StatusForbidden)
		return true
	})
	for key, size := range map[string]int{"a": 1 << 20, "b": 14 << 20} {
		for i, want := range []error{nil, fs.ErrExist} {
			err := b.Create(t.Context(), key, create(t.Context(), size+i), &cloud.WriteOptions{PartSize: 5 << 20})
			if !errors.Is(err, want) {
				t.Errorf("%d bytes: %v, want %v", size+i, err, want)
			}
			s.checkStored(t, key, size)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	s.faults(func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method == http.MethodHead {
			cancel()
		}
		return false
	})
	s.take()
	if err := b.Create(ctx, "c", create(t.Context(), 1<<20), nil); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want Canceled", err)
	}
	if r, _ := s.take(); len(r) != 1 {
		t.Errorf("requests %q, want only HEAD", r)
	}
}

// TestWriteAnswerLost loses the answer to the request that makes an object. The SDK repeats it, and the object exists.
func TestWriteAnswerLost(t *testing.T) {
	s := start(t)
	b := s.bucket(t)
	const n = 14 << 20
	answer := func(w http.ResponseWriter, status int) {
		w.WriteHeader(status)
		code := map[int]string{404: "NoSuchUpload", 412: "PreconditionFailed", 500: "InternalError"}[status]
		io.WriteString(w, "<Error><Code>"+code+"</Code></Error>")
	}
	last := func(r *http.Request) bool {
		q := r.URL.Query()
		return r.Method == http.MethodPost && q.Has("uploadId") || r.Method == http.MethodPut && !q.Has("partNumber")
	}
	for _, c := range []struct {
		size      int
		overwrite bool
		repeated  int // status of the answer to the repeated request, or 0 if it is that of the store
	}{
		{1000, false, 0}, {1000, false, 500}, {1000, true, 0}, {1000, true, 500},
		{n, false, 0}, {n, false, 404}, {n, false, 412}, {n, false, 500}, {n, true, 0}, {n, true, 404}, {n, true, 412},
	} {
		b.Delete(t.Context(), "a")
		if c.overwrite {
			s.put(t, "a", []byte("before"))
		}
		var requests atomic.Int64
		s.faults(func(w http.ResponseWriter, r *http.Request) bool {
			if !last(r) {
				return false
			}
			switch n := requests.Add(1); {
			case n == 1:
				r = r.Clone(r.Context()) // the store gets the request, which comes here again, but the client an error
				r.URL.Scheme, r.URL.Host, r.RequestURI = "http", r.Host, ""
				resp, err := http.DefaultTransport.RoundTrip(r)
				if err != nil || resp.StatusCode != http.StatusOK {
					t.Errorf("%v, %v", resp, err)
				} else {
					resp.Body.Close()
				}
				answer(w, http.StatusInternalServerError)
			case n > 2 && c.repeated != 0:
				io.Copy(io.Discard, r.Body)
				answer(w, c.repeated)
			default:
				return false
			}
			return true
		})
		err := b.Create(t.Context(), "a", create(t.Context(), c.size), &cloud.WriteOptions{PartSize: 5 << 20, Overwrite: c.overwrite})
		s.faults(nil)
		if err != nil || requests.Load() < 3 {
			t.Errorf("%+v: %d requests, %v", c, requests.Load(), err)
		}
		s.checkStored(t, "a", c.size)
		if s.uploads(t) != 0 {
			t.Errorf("%+v: an upload is left", c)
		}
	}
	for _, size := range []int{1000, n} { // the object differs only in its last byte
		var before []byte
		for _, overwrite := range []bool{true, false} {
			o := &cloud.WriteOptions{PartSize: 5 << 20, Overwrite: true}
			err := b.Create(t.Context(), "a", func(st frame.Storage) error {
				err := create(t.Context(), size)(st)
				end, _ := st.Size()
				_, e := st.WriteAt([]byte{0xaa}, end-1)
				return errors.Join(err, e)
			}, o)
			if err == nil {
				before, err = b.ReadAll(t.Context(), "a")
			}
			if err != nil {
				t.Fatal(err)
			}
			s.faults(func(w http.ResponseWriter, r *http.Request) bool {
				if r.Method == http.MethodHead && !overwrite {
					answer(w, http.StatusForbidden)
					return true
				}
				if !last(r) {
					return false
				}
				io.Copy(io.Discard, r.Body)
				answer(w, http.StatusPreconditionFailed)
				return true
			})
			o.Overwrite = overwrite
			err = b.Create(t.Context(), "a", create(t.Context(), size), o)
			s.faults(nil)
			if err == nil || errors.Is(err, fs.ErrExist) == overwrite {
				t.Errorf("%d bytes, Overwrite %v: %v", size, overwrite, err)
			}
			if got, err := b.ReadAll(t.Context(), "a"); err != nil || !bytes.Equal(got, before) {
				t.Errorf("%d bytes, Overwrite %v: the object has changed: %v", size, overwrite, err)
			}
		}
	}
}
