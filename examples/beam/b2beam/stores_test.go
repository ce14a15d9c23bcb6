package b2beam_test

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/goblosc/blosc2/examples/beam/b2beam"
	"github.com/goblosc/blosc2/ndarray"
	"gocloud.dev/blob"
	"gocloud.dev/blob/fileblob"
	_ "gocloud.dev/blob/s3blob"
)

func init() { blob.DefaultURLMux().RegisterBucket("folder", folderOpener{}) }

// folderOpener opens a URL such as folder://bucket?root=/tmp, whose bucket is the folder root.
type folderOpener struct{}

// OpenBucketURL implements blob.BucketURLOpener.
func (folderOpener) OpenBucketURL(_ context.Context, u *url.URL) (*blob.Bucket, error) {
	return fileblob.OpenBucket(u.Query().Get("root"), &fileblob.Options{Metadata: fileblob.MetadataDontWrite})
}

// store is a bucket whose objects are files in a folder.
type store struct{ scheme, query, root string }

// url returns the URL of a folder in the bucket.
func (s store) url(dir string) string { return s.scheme + "://bucket/" + dir + "?" + s.query }

// stores calls test with an empty bucket of each kind.
func stores(t *testing.T, test func(t *testing.T, s store)) {
	t.Run("folder", func(t *testing.T) {
		root := t.TempDir()
		test(t, store{"folder", "root=" + url.QueryEscape(root), root})
	})
	t.Run("s3", func(t *testing.T) { test(t, startS3(t)) })
}

// startS3 starts the server versitygw on loopback, with an empty bucket.
func startS3(t *testing.T) store {
	t.Helper()
	tool := exec.Command("go", "-C", filepath.Join("..", "..", "..", "cloud", "s3", "testdata", "versitygw"), "tool", "-n", "versitygw")
	tool.Env = append(os.Environ(), "GOWORK=off")
	path, err := tool.Output()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	root, meta := filepath.Join(dir, "root"), filepath.Join(dir, "meta")
	free, errListen := net.Listen("tcp", "127.0.0.1:0")
	if err := errors.Join(errListen, os.MkdirAll(filepath.Join(root, "bucket"), 0o700), os.Mkdir(meta, 0o700)); err != nil {
		t.Fatal(err)
	}
	address := free.Addr().String()
	free.Close()
	cmd := exec.Command(strings.TrimSpace(string(path)), "--port", address, "--access", "user", "--secret", "secret", "--quiet", "posix", "--sidecar", meta, root)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	for i := 0; ; i++ {
		if c, err := net.Dial("tcp", address); err == nil {
			c.Close()
			break
		} else if i == 500 {
			t.Fatal("versitygw does not start:", err)
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Setenv("AWS_ACCESS_KEY_ID", "user")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "secret")
	t.Setenv("AWS_EC2_METADATA_DISABLED", "true")
	t.Setenv("AWS_CONFIG_FILE", os.DevNull)
	t.Setenv("AWS_SHARED_CREDENTIALS_FILE", os.DevNull)
	query := url.Values{"region": {"us-east-1"}, "use_path_style": {"true"}, "endpoint": {"http://" + address}}
	return store{"s3", query.Encode(), filepath.Join(root, "bucket")}
}

// times returns the times of the last change of all files below a folder.
func times(t *testing.T, dir string) map[string]time.Time {
	t.Helper()
	all := map[string]time.Time{}
	for name := range files(t, dir) {
		fi, err := os.Stat(filepath.Join(dir, filepath.FromSlash(name)))
		if err != nil {
			t.Fatal(err)
		}
		all[name] = fi.ModTime()
	}
	return all
}

// TestStores writes arrays to buckets: the objects must be the files of a folder. It reads the arrays by their names,
// in the same pipeline and in the next one.
func TestStores(t *testing.T) {
	x, y := create(t, "x", []int64{20, 15, 7}, []int64{8, 4, 7}), create(t, "y", []int64{9, 4, 7}, []int64{8, 4, 7})
	x.Name, y.Name = "2024/x", "y z"
	o := &ndarray.CreateOptions{Chunks: []int64{8, 4, 7}, Attrs: map[string]any{"units": "K", "n": int64(3)}, Checksums: true}
	write := func(s beam.Scope, dir string) beam.PCollection {
		return b2beam.Write(s, dir, b2beam.Map(s, double, b2beam.Read(s, []b2beam.File{x, y}, nil)), o)
	}
	local := t.TempDir()
	mustRun(t, func(s beam.Scope) { write(s, local) })
	want := files(t, local)
	stores(t, func(t *testing.T, st store) {
		copied := t.TempDir()
		c := mustRun(t, func(s beam.Scope) {
			b2beam.Write(s, copied, b2beam.ReadAll(s, write(s, st.url("out/dir")), nil), o)
		})
		if got := files(t, filepath.Join(st.root, "out", "dir")); !maps.Equal(got, want) || len(files(t, st.root)) != len(want) {
			t.Error("the objects are not the files of a folder")
		}
		if !maps.Equal(files(t, copied), want) {
			t.Error("an array of the bucket has other items")
		}
		if c["arrays_finished"] != 4 || c["chunks_written"] != 2*(12+2) {
			t.Errorf("counters %v", c)
		}
		again := t.TempDir()
		names := []b2beam.File{{Name: "2024/x", Path: st.url("out/dir/2024/x.b2nd/")}, {Name: "y z", Path: b2beam.Join(st.url("out"), "dir", "y z.b2nd/")}}
		mustRun(t, func(s beam.Scope) { b2beam.Write(s, again, b2beam.Read(s, names, nil), o) })
		if !maps.Equal(files(t, again), want) {
			t.Error("an array of the bucket has other items in another pipeline")
		}
	})
}

// TestStoreRetries writes each tile twice to a bucket, after a run that has failed in the middle, and then again.
func TestStoreRetries(t *testing.T) {
	f, o := create(t, "x", []int64{40, 6}, []int64{4, 6}), &ndarray.CreateOptions{Chunks: []int64{4, 6}}
	stores(t, func(t *testing.T, st store) {
		pipeline := func(s beam.Scope) {
			tiles := b2beam.Map(s, failOnce, b2beam.Read(s, []b2beam.File{f}, nil))
			for range 2 {
				b2beam.Write(s, st.url("out"), tiles, o)
			}
		}
		failures.Store(1)
		if _, err := run(t, pipeline); err == nil || !strings.Contains(err.Error(), errOnce.Error()) {
			t.Fatalf("error %v, want that of the function", err)
		}
		array := []b2beam.File{{Name: "x", Path: st.url("out/x.b2nd/")}}
		if _, err := b2beam.Concat(context.Background(), "x", 0, array); !errors.Is(err, fs.ErrNotExist) {
			t.Fatalf("error %v for an array that is not complete", err)
		}
		mustRun(t, pipeline)
		copied := t.TempDir()
		mustRun(t, func(s beam.Scope) { b2beam.Write(s, copied, b2beam.Read(s, array, nil), o) })
		equal(t, open(t, filepath.Join(copied, "x.b2nd")), open(t, f.Path))
		first, changed := files(t, st.root), times(t, st.root)
		mustRun(t, pipeline) // late duplicates
		if !maps.Equal(files(t, st.root), first) || !maps.Equal(times(t, st.root), changed) {
			t.Error("another run wrote objects of the finished array")
		}
		_, err := run(t, func(s beam.Scope) {
			tiles := b2beam.Map(s, double, b2beam.Read(s, []b2beam.File{f}, nil))
			b2beam.Write(s, st.url("out"), tiles, o)
		})
		if err == nil || !strings.Contains(err.Error(), `array "x", tile [`) || !maps.Equal(files(t, st.root), first) {
			t.Errorf("error %v for an array that exists with another dtype", err)
		}
	})
}

// TestStoreRechunk copies an array of a bucket in stages, with the arrays between them in the bucket.
func TestStoreRechunk(t *testing.T) {
	f := create(t, "x", []int64{32, 4, 4}, []int64{1, 4, 4})
	o := &ndarray.CreateOptions{NoSync: true}
	rechunk := func(t *testing.T, in b2beam.File, dir, temp string) {
		c := mustRun(t, func(s beam.Scope) {
			if _, err := b2beam.RechunkStored(context.Background(), s, []b2beam.File{in}, dir, temp, b2beam.RechunkOptions{Chunks: []int64{-1, 1, 1}, MaxMemory: 128}, o); err != nil {
				t.Fatal(err)
			}
		})
		if c["arrays_finished"] < 2 {
			t.Errorf("counters %v, want several stages", c)
		}
	}
	local := t.TempDir()
	rechunk(t, f, local, t.TempDir())
	want := files(t, local)
	stores(t, func(t *testing.T, st store) {
		mustRun(t, func(s beam.Scope) {
			b2beam.Write(s, st.url("in"), b2beam.Read(s, []b2beam.File{f}, nil), &ndarray.CreateOptions{Chunks: []int64{1, 4, 4}})
		})
		in := len(files(t, st.root))
		rechunk(t, b2beam.File{Name: "x", Path: st.url("in/x.b2nd/")}, st.url("out"), st.url("out/stages"))
		if !maps.Equal(files(t, filepath.Join(st.root, "out")), want) {
			t.Error("the objects are not the files of a folder")
		}
		if n := len(files(t, st.root)); n != in+len(want) {
			t.Errorf("%d objects, want %d: arrays between the stages are left", n, in+len(want))
		}
	})
}

// TestStoreErrors checks that errors name the array, and do not show the query of a URL.
func TestStoreErrors(t *testing.T) {
	f := create(t, "x", []int64{12, 6}, []int64{4, 6})
	for _, dir := range []string{"nowhere://bucket/out?key=secret", "https://example.org/out?key=secret", "folder://bucket/out?root=/none&key=secret", "x://%?key=secret"} {
		_, err := run(t, func(s beam.Scope) {
			b2beam.Write(s, dir, b2beam.Read(s, []b2beam.File{f}, nil), &ndarray.CreateOptions{Chunks: []int64{4, 6}})
		})
		if err == nil || !strings.Contains(err.Error(), `array "x", tile [`) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: error %v", dir, err)
		}
	}
}

// TestSecrets checks that errors do not show passwords and queries.
func TestSecrets(t *testing.T) {
	for _, name := range []string{
		"http://alice:hunter2@127.0.0.1:1/a.b2nd?key=hunter2#hunter2", "http://alice:12hunter2/a.b2nd", "x://alice:%hunter2@host/a.b2nd",
	} {
		_, err := b2beam.File{Name: "x", Path: name}.Chunks(t.Context())
		if err == nil || !strings.Contains(err.Error(), `array "x"`) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

// TestJoin checks the names of files in folders.
func TestJoin(t *testing.T) {
	for dir, want := range map[string]string{
		"/data":                             filepath.FromSlash("/data/2024/t2m"),
		"file:///data/":                     filepath.FromSlash("/data/2024/t2m"),
		"link/../data":                      filepath.FromSlash("link/../data/2024/t2m"), // not always data/2024/t2m
		"s3://bucket":                       "s3://bucket/2024/t2m",
		"s3://bucket/a%20b/?region=x&y=%2F": "s3://bucket/a%20b/2024/t2m?region=x&y=%2F",
	} {
		if got := b2beam.Join(dir, "2024", "t2m"); got != want {
			t.Errorf("Join(%q) is %q, want %q", dir, got, want)
		}
	}
}

// TestRechunkAgain runs a pipeline again that ended while it removed an array between the stages: of the array are left
// chunks without an index.
func TestRechunkAgain(t *testing.T) {
	f := create(t, "x", []int64{32, 4, 4}, []int64{1, 4, 4})
	again := func(t *testing.T, root, dir string, remove func(name string) error) {
		pipeline := func(s beam.Scope) {
			o := b2beam.RechunkOptions{Chunks: []int64{-1, 1, 1}, MaxMemory: 128}
			if _, err := b2beam.RechunkStored(t.Context(), s, []b2beam.File{f}, dir, b2beam.Join(dir, "temp"), o, nil); err != nil {
				t.Fatal(err)
			}
		}
		// An array that is in the way of the new one ends the pipeline, so that the arrays of all stages are left.
		mustRun(t, func(s beam.Scope) {
			b2beam.Write(s, dir, b2beam.Read(s, []b2beam.File{f}, nil), &ndarray.CreateOptions{Chunks: []int64{1, 4, 4}})
		})
		if _, err := run(t, pipeline); err == nil || !strings.Contains(err.Error(), "is finished, with another shape") {
			t.Fatalf("error %v for an array that exists", err)
		}
		all := files(t, root)
		for name := range all {
			if strings.HasPrefix(name, "x.b2nd/") || path.Base(name) == "chunks.b2frame" || strings.HasSuffix(name, "1.chunk") {
				if err := remove(name); err != nil {
					t.Fatal(err)
				}
			}
		}
		if left := files(t, root); len(left) == 0 {
			t.Fatal("no chunks of the stages are left")
		}
		mustRun(t, pipeline)
		equal(t, open(t, filepath.Join(root, "x.b2nd")), open(t, f.Path))
		for name := range files(t, root) {
			if !strings.HasPrefix(name, "x.b2nd/") {
				t.Errorf("%s is left of the stages", name)
			}
		}
	}
	t.Run("local", func(t *testing.T) {
		dir := t.TempDir()
		again(t, dir, dir, func(name string) error {
			err := os.Remove(filepath.Join(dir, filepath.FromSlash(name)))
			os.Remove(filepath.Join(dir, "x.b2nd")) // when it is empty
			return err
		})
	})
	stores(t, func(t *testing.T, st store) {
		b, err := blob.OpenBucket(t.Context(), st.url(""))
		if err != nil {
			t.Fatal(err)
		}
		defer b.Close()
		again(t, filepath.Join(st.root, "out"), st.url("out"), func(name string) error { return b.Delete(t.Context(), "out/"+name) })
	})
}
