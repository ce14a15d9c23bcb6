package cloud

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"gocloud.dev/blob"
	"gocloud.dev/blob/fileblob"
	"gocloud.dev/blob/memblob"

	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/frame/remote"
	"github.com/goblosc/blosc2/ndarray"
)

// buckets calls do with an empty bucket of each kind that needs no server.
func buckets(t *testing.T, do func(t *testing.T, b *Bucket)) {
	t.Run("mem", func(t *testing.T) {
		b := New(memblob.OpenBucket(nil), "mem://bucket", nil)
		defer b.Close()
		do(t, b)
	})
	t.Run("file", func(t *testing.T) {
		inner, err := fileblob.OpenBucket(t.TempDir(), &fileblob.Options{NoTempDir: true})
		if err != nil {
			t.Fatal(err)
		}
		b := New(blob.PrefixedBucket(inner, "dir/"), "file:///bucket?secret", nil)
		defer b.Close()
		do(t, b)
	})
}

// array returns an array in memory with n items from first.
func array(t *testing.T, first, n int32) *ndarray.Array {
	t.Helper()
	a, err := ndarray.Arange(t.Context(), "", first, first+n, 1, &ndarray.CreateOptions{Chunks: []int64{10_000}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { a.Close() })
	return a
}

// copyOf returns a function that copies an array to a Storage.
func copyOf(ctx context.Context, a *ndarray.Array) func(st frame.Storage) error {
	return func(st frame.Storage) error {
		c, err := ndarray.Copy(ctx, "", a, &ndarray.CreateOptions{Storage: st})
		if err != nil {
			return err
		}
		return c.Close()
	}
}

// TestBucket writes arrays and reads them again.
func TestBucket(t *testing.T) {
	buckets(t, func(t *testing.T, b *Bucket) {
		ctx := t.Context()
		for _, n := range []int32{10, 100_000, 3_000_000} {
			a := array(t, 0, n)
			var stored bytes.Buffer
			if _, err := a.Save(ctx, &stored); err != nil {
				t.Fatal(err)
			}
			size, err := b.Save(ctx, "a", a, &WriteOptions{Overwrite: true})
			if err != nil || size != int64(stored.Len()) {
				t.Fatalf("Save: %d, %v", size, err)
			}
			if err := b.Create(ctx, "b", copyOf(ctx, a), &WriteOptions{Overwrite: true}); err != nil {
				t.Fatal(err)
			}
			for _, key := range []string{"a", "b"} {
				src, err := b.Open(ctx, key, nil)
				if err != nil {
					t.Fatal(err)
				}
				defer src.Close()
				far, err := ndarray.OpenSource(ctx, src, nil)
				if err != nil {
					t.Fatal(err)
				}
				defer far.Close()
				got, err := ndarray.Read[int32](ctx, far)
				want, _ := ndarray.Read[int32](ctx, a)
				if err != nil || !slices.Equal(got, want) {
					t.Errorf("%s: wrong items: %v", key, err)
				}
				if key == "a" && src.Size() != size {
					t.Errorf("%d bytes, want %d", src.Size(), size)
				}
			}
		}
	})
}

// TestBucketDir reads a sparse frame.
func TestBucketDir(t *testing.T) {
	buckets(t, func(t *testing.T, b *Bucket) {
		ctx := t.Context()
		name := filepath.Join(t.TempDir(), "a")
		a, err := ndarray.Arange[int32](ctx, name, 0, 100_000, 1, &ndarray.CreateOptions{Chunks: []int64{10_000}, Sparse: true})
		if err != nil {
			t.Fatal(err)
		}
		defer a.Close()
		files, err := os.ReadDir(name)
		if err != nil || len(files) != 11 {
			t.Fatal(len(files), err)
		}
		for _, f := range files {
			data, err := os.ReadFile(filepath.Join(name, f.Name()))
			if err == nil {
				err = b.WriteAll(ctx, "x/a.b2nd/"+f.Name(), data, nil)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(20 * time.Millisecond) // files have times of the clock's ticks
		for _, o := range []*remote.Options{nil, {Dir: t.TempDir(), Cache: 1 << 20}} {
			src, err := b.OpenDir(ctx, "x/a.b2nd", o)
			if err != nil {
				t.Fatal(err)
			}
			defer src.Close()
			far, err := ndarray.OpenSource(ctx, src, nil)
			if err != nil {
				t.Fatal(err)
			}
			defer far.Close()
			for range 2 {
				got, err := ndarray.Read[int32](ctx, far, ndarray.Span(5, 75_000))
				want, _ := ndarray.Read[int32](ctx, a, ndarray.Span(5, 75_000))
				if err != nil || !slices.Equal(got, want) {
					t.Errorf("wrong items: %v", err)
				}
			}
			if o != nil {
				continue
			}
			if err := b.Delete(ctx, "x/a.b2nd/00000003.chunk"); err != nil {
				t.Fatal(err)
			}
			var e *remote.Error
			_, err = ndarray.Read[int32](ctx, far)
			if !errors.Is(err, frame.ErrChanged) || !errors.As(err, &e) || !strings.HasSuffix(e.URL, "bucket/x/a.b2nd/00000003.chunk") {
				t.Errorf("a deleted chunk: %v", err)
			}
			data, err := os.ReadFile(filepath.Join(name, "00000003.chunk"))
			if err == nil {
				err = b.WriteAll(ctx, "x/a.b2nd/00000003.chunk", data, nil)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if _, err := b.OpenDir(ctx, "x/none/", nil); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("no directory: %v", err)
		}
	})
}

// TestBucketChanged replaces and deletes objects between reads. Kept bytes can be read until a request finds that.
func TestBucketChanged(t *testing.T) {
	buckets(t, func(t *testing.T, b *Bucket) {
		ctx := t.Context()
		data := make([]byte, 1<<20)
		for name, change := range map[string]func() error{
			"replaced":  func() error { return b.WriteAll(ctx, "a", data, nil) },
			"truncated": func() error { return b.WriteAll(ctx, "a", data[:500_000], nil) },
			"empty":     func() error { return b.WriteAll(ctx, "a", nil, nil) },
			"deleted":   func() error { return b.Delete(ctx, "a") },
		} {
			if err := b.WriteAll(ctx, "a", data, nil); err != nil {
				t.Fatal(err)
			}
			time.Sleep(20 * time.Millisecond) // files have times of the clock's ticks
			src, err := b.Open(ctx, "a", nil)
			if err != nil {
				t.Fatal(err)
			}
			p := make([]byte, 10)
			if _, err := src.ReadAt(p, 300_000); err != nil {
				t.Fatal(err)
			}
			if err := change(); err != nil {
				t.Fatal(err)
			}
			for _, off := range []int64{0, 1<<20 - 10} { // kept since opening
				if _, err := src.ReadAt(p, off); err != nil {
					t.Errorf("%s: kept bytes at %d: %v", name, off, err)
				}
			}
			for range 2 {
				if _, err = src.ReadAt(p, 400_000); !errors.Is(err, frame.ErrChanged) {
					t.Errorf("%s: %v, want ErrChanged", name, err)
				}
			}
			if _, err := src.ReadAt(p, 0); !errors.Is(err, frame.ErrChanged) {
				t.Errorf("%s: kept bytes after ErrChanged: %v", name, err)
			}
			src.Close()
		}
	})
}

// lostDriver is a Driver whose connection is lost. The error shows the URL.
type lostDriver struct{ common }

var errLost = fmt.Errorf("blob: %w", &url.Error{Op: "Get", URL: "https://host/a?sig=secret", Err: io.ErrUnexpectedEOF})

func (lostDriver) Get(context.Context, *blob.Bucket, string, int64, int64, string) (*remote.Answer, error) {
	return nil, errLost
}

// TestErrorSecrets checks that errors of requests do not show their URL.
func TestErrorSecrets(t *testing.T) {
	b := New(memblob.OpenBucket(nil), "mem://bucket", lostDriver{})
	defer b.Close()
	_, opened := b.Open(t.Context(), "a", nil)
	_, _, got := b.Objects("dir").Get(t.Context(), "a", 1)
	for _, err := range []error{opened, got, b.writeError("a", errLost, true), b.writeError("a", errLost, false)} {
		if !errors.Is(err, io.ErrUnexpectedEOF) || strings.Contains(err.Error(), "secret") {
			t.Error(err)
		}
	}
}

// TestSecrets checks that messages show neither the user of a URL nor the values of its query.
func TestSecrets(t *testing.T) {
	for _, c := range []struct{ url, want string }{ // want is a part of the message
		{"none://bucket?key=secret", `no driver registered for "none" for URL "none://bucket"`},
		{"none://user:secret@bucket?prefix=dir/&b=secret&a=1", `for URL "none://bucket"`},
		{"none://bucket#secret", `for URL "none://bucket"`},
		{"none://bucket?a=\"secret\"", "open bucket none://bucket: the error is not shown, because it may hold a value of the query"},
		{"mem://bucket?token=secret", `open bucket mem://bucket: invalid query parameter "token"`},
		{"mem://bucket?token=secret&prefix=dir/", `open bucket mem://bucket: invalid query parameter "token"`},
		{"mem://user:secret@bucket?token=%2Fsecret", `open bucket mem://bucket: invalid query parameter "token"`},
		{"mem://bucket?secret", "open bucket mem://bucket: the error is not shown, because it may hold a value of the query"},
		{"file:///dir?dir_file_mode=secret", "open bucket file:///dir: the error is not shown, because it may hold a value of the query"},
		{"file:///dir?secret_key_path=x&base_url=\"http://user:secret@h%0A", "the error is not shown, because it may hold a value of the query"},
		{"mem://bucket?token=secret\n", "invalid URL: net/url: invalid control character in URL"},
		{"mem://user:secret@bu cket?token=secret", "invalid URL: invalid character"},
		{"mem://user:secret/@bucket", "invalid URL: invalid port"},
	} {
		_, err := OpenBucket(t.Context(), c.url, nil)
		if err == nil || !errors.Is(err, frame.ErrParam) || !strings.Contains(err.Error(), c.want) ||
			strings.Contains(strings.ReplaceAll(err.Error(), "secret_key_path", ""), "secret") {
			t.Errorf("%q: %v", c.url, err)
		}
	}
	for _, u := range []string{"file:///nonexistent/true?no_tmp_dir=true", "file:///nonexistent/a@b?prefix=a/"} {
		if _, err := OpenBucket(t.Context(), u, nil); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v", u, err)
		}
	}
	for _, u := range []string{"mem://user:secret@bucket?secret", "mem://user:secret@bu cket", "mem:/user:secret@bucket"} {
		b := New(memblob.OpenBucket(nil), u, nil)
		defer b.Close()
		if _, err := b.Open(t.Context(), "a", nil); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: %v", u, err)
		}
	}
}

// TestBucketURL opens buckets by URLs with a path or a prefix.
func TestBucketURL(t *testing.T) {
	ctx := t.Context()
	for _, u := range []string{"mem://bucket/dir", "mem://user:secret@bucket/dir/?prefix=secret", "blob+mem:///dir"} {
		_, err := OpenBucket(ctx, u, nil)
		if !errors.Is(err, frame.ErrParam) || !strings.Contains(err.Error(), "without a path") || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", u, err)
		}
	}
	dir := filepath.ToSlash(t.TempDir())
	if !strings.HasPrefix(dir, "/") {
		dir = "/" + dir // as file URLs have it on Windows
	}
	for _, c := range []struct{ url, name string }{ // name is that of the object with key a
		{"mem://bucket", "mem://bucket/a"}, {"mem://bucket/", "mem://bucket/a"}, {"mem://bucket?prefix=dir/", "mem://bucket/dir/a"},
		{"mem://bucket/?prefix=dir%2Fx-&nomd5", "mem://bucket/dir/x-a"}, {"file://localhost" + dir + "?prefix=x/", "file://localhost" + dir + "/x/a"},
	} {
		b, err := OpenBucket(ctx, c.url, nil)
		if err != nil {
			t.Errorf("%s: %v", c.url, err)
			continue
		}
		defer b.Close()
		var e *remote.Error
		if _, err := b.Open(ctx, "a", nil); !errors.Is(err, fs.ErrNotExist) || !errors.As(err, &e) || e.URL != c.name {
			t.Errorf("%s: %v, want the name %s", c.url, err, c.name)
		}
		if _, err := b.OpenDir(ctx, "a", nil); !errors.As(err, &e) || e.URL != c.name+"/chunks.b2frame" {
			t.Errorf("%s: OpenDir: %v", c.url, err)
		}
		if _, _, err := b.Objects("a").Get(ctx, "x", 1); !errors.As(err, &e) || e.URL != c.name+"/x" {
			t.Errorf("%s: Objects: %v", c.url, err)
		}
		array := array(t, 0, 10)
		if _, err := b.Save(ctx, "a", array, nil); err != nil {
			t.Errorf("%s: %v", c.url, err)
		}
		if _, err := b.Save(ctx, "a", array, nil); !errors.As(err, &e) || e.URL != c.name {
			t.Errorf("%s: Save: %v", c.url, err)
		}
	}
}

// TestBucketErrors checks the errors of reading and writing.
func TestBucketErrors(t *testing.T) {
	buckets(t, func(t *testing.T, b *Bucket) {
		ctx := t.Context()
		a := array(t, 0, 1000)
		failed := errors.New("failed")
		done, cancel := context.WithCancel(ctx)
		cancel()
		_, notFound := b.Open(ctx, "none", nil)
		_, option := b.Open(ctx, "none", &remote.Options{Multipart: true})
		_, canceled := b.Save(done, "a", a, nil)
		_, parts := b.Save(ctx, "a", a, &WriteOptions{PartSize: 5<<20 - 1})
		_, large := b.Save(ctx, "a", a, &WriteOptions{PartSize: 1<<30 + 1})
		fails := b.Create(ctx, "a", func(st frame.Storage) error { return failed }, nil)
		stopped, cancel := context.WithCancel(ctx)
		late := b.Create(stopped, "a", func(st frame.Storage) error { cancel(); return nil }, nil)
		_, broken := b.Save(ctx, "a", saver(func(w io.Writer) error { w.Write([]byte("data")); return failed }), nil)
		if ok, err := b.Exists(ctx, "a"); ok || err != nil {
			t.Errorf("the object exists: %v", err)
		}
		if _, err := b.Save(ctx, "a", a, nil); err != nil {
			t.Fatal(err)
		}
		_, exists := b.Save(ctx, "a", a, nil)
		exists2 := b.Create(ctx, "a", copyOf(ctx, a), nil)
		for _, c := range []struct {
			name      string
			err, want error
		}{
			{"not found", notFound, fs.ErrNotExist}, {"option", option, frame.ErrParam}, {"canceled", canceled, context.Canceled},
			{"part size", parts, frame.ErrParam}, {"large part", large, frame.ErrParam}, {"fill", fails, failed}, {"canceled at the end", late, context.Canceled},
			{"Save", broken, failed}, {"exists", exists, fs.ErrExist}, {"exists, Create", exists2, fs.ErrExist},
		} {
			if !errors.Is(c.err, c.want) || bytes.Contains([]byte(c.err.Error()), []byte("secret")) {
				t.Errorf("%s: %v, want %v", c.name, c.err, c.want)
			}
			if c.want == fs.ErrExist && !strings.HasSuffix(c.err.Error(), "; set Overwrite to replace it") {
				t.Errorf("%s: %v", c.name, c.err)
			}
		}
		func() {
			defer func() {
				if recover() != failed {
					t.Error("no panic")
				}
			}()
			b.Save(ctx, "p", saver(func(w io.Writer) error { w.Write([]byte("data")); panic(failed) }), nil)
		}()
		if ok, err := b.Exists(ctx, "p"); ok || err != nil {
			t.Errorf("the object exists: %v", err)
		}
	})
}

type saver func(w io.Writer) error

func (s saver) Save(_ context.Context, w io.Writer) (int64, error) { return 0, s(w) }

// TestSplit divides URLs.
func TestSplit(t *testing.T) {
	for _, c := range []struct{ url, bucket, key string }{
		{"s3://b/a.b2nd", "s3://b", "a.b2nd"},
		{"s3://b/dir/a%20b+c%3F?region=x&endpoint=http%3A%2F%2Fh%2F", "s3://b?region=x&endpoint=http%3A%2F%2Fh%2F", "dir/a b+c?"},
		{"s3://b//a", "s3://b", "/a"},
		{"s3://b/", "", ""}, {"s3://b", "", ""}, {"s3:///a", "", ""}, {"s3://b/a#x", "", ""}, {"s3://b/%", "", ""}, {"", "", ""},
	} {
		bucket, key, err := split(c.url)
		if bucket != c.bucket || key != c.key || (err == nil) != (c.key != "") {
			t.Errorf("%s: %q, %q, %v", c.url, bucket, key, err)
		}
	}
	_, _, err := split("s3://user:secret@b/?token=secret")
	if text := err.Error(); !strings.Contains(text, `"s3://b/"`) || strings.Contains(text, "secret") {
		t.Errorf("the error should name the URL without secrets: %v", err)
	}
}
