package frame

import (
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"testing"

	"github.com/goblosc/blosc2/frame/internal/storage"
)

// doubledRoot is a directory whose listing has its first file twice, as that of a tmpfs may have while a file is
// renamed over another one.
type doubledRoot struct{ storage.Root }

func (r doubledRoot) ReadDir(name string) ([]fs.DirEntry, error) {
	list, err := r.Root.ReadDir(name)
	return slices.Concat(list[:min(1, len(list))], list), err
}

// TestRegionsListing finishes frames whose directory lists a file twice.
func TestRegionsListing(t *testing.T) {
	ctx := t.Context()
	r, err := CreateRegions(ctx, filepath.Join(t.TempDir(), "a"), regionBytes, regionOptions(nil))
	must(t, err)
	defer r.Close()
	for i := range regionChunks - 1 {
		must(t, r.Write(ctx, i, regionItems(i)))
	}
	r.root = doubledRoot{r.root}
	if got := missing(t, r); !slices.Equal(got, []int{regionChunks - 1}) {
		t.Errorf("chunks %v are missing", got)
	}
	if err := r.Finish(ctx); !errors.Is(err, ErrUnfinished) {
		t.Errorf("Finish: %v, want ErrUnfinished", err)
	}
	must(t, r.Write(ctx, regionChunks-1, regionItems(regionChunks-1)))
	must(t, r.Finish(ctx))
}

// TestRegionsLateFinish lets a call of Finish publish its index after another one has ended and the frame was edited.
func TestRegionsLateFinish(t *testing.T) {
	ctx := t.Context()
	name := filepath.Join(t.TempDir(), "a")
	r, err := CreateRegions(ctx, name, regionBytes, regionOptions(nil))
	must(t, err)
	defer r.Close()
	for i := range regionChunks {
		must(t, r.Write(ctx, i, regionItems(i)))
	}
	late, err := OpenRegions(ctx, name, nil)
	must(t, err)
	defer late.Close()
	must(t, late.makeDir(finishDir))
	next, err := late.collect(ctx, late.f.current())
	must(t, err)
	must(t, r.Finish(ctx))
	f, err := Edit(ctx, name, nil)
	must(t, err)
	must(t, one(f).SetVLMeta("later", []byte("x")))
	must(t, f.Close())
	if err := late.publish(next); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("late index: %v, want ErrNotExist", err)
	}
	must(t, late.Finish(ctx))
	f, err = Open(ctx, name, nil)
	must(t, err)
	defer f.Close()
	if !slices.Contains(f.VLMetaNames(), "later") {
		t.Error("the edit is lost")
	}
}

// TestRegionsLink finishes a finished frame in which a link has the name of the directory of temporary files.
func TestRegionsLink(t *testing.T) {
	ctx := t.Context()
	name := filepath.Join(t.TempDir(), "a")
	r, err := CreateRegions(ctx, name, regionBytes, regionOptions(nil))
	must(t, err)
	defer r.Close()
	for i := range regionChunks {
		must(t, r.Write(ctx, i, regionItems(i)))
	}
	must(t, r.Finish(ctx))
	for _, link := range []string{tempDir, finishDir} {
		symlink(t, ".", filepath.Join(name, link))
	}
	must(t, r.Finish(ctx))
	f, err := Open(ctx, name, nil)
	must(t, err)
	defer f.Close()
	must(t, checkRegions(f))
}
