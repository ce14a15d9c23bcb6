package b2beam

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/goblosc/blosc2/codec"
	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/ndarray"
)

func init() {
	beam.RegisterType(reflect.TypeFor[*clearFn]())
	beam.RegisterType(reflect.TypeFor[*nameFn]())
	beam.RegisterType(reflect.TypeFor[*removeFn]())
}

// RechunkStored copies stored arrays to a folder, in chunks of another shape. It returns the new arrays, a
// PCollection<File>, when they are finished. No item passes through the shuffle: workers follow the plan of
// ndarray.PlanRechunk, which may write arrays below the folder temp between its stages. Each is removed when the array
// that it is for is finished. Either folder is one that all workers share, or the URL of one in a bucket: see Write.
// Several calls may have the same folder temp: the names of its arrays depend on dir and the paths of the files.
//
// A tile has at most o.MaxMemory bytes, and a bundle holds one tile at a time, its compressed form, and the chunks that
// it decodes. RechunkStored opens each file for its shape, where the pipeline is built, and plans for each combination
// of shape, item size and chunks. create are the options of the new arrays, with nil Chunks. See Write. Unlike
// ndarray.Copy, RechunkStored takes no attributes, metalayers or parameters of compression from the files: the new
// arrays have those of create.
//
// The error wraps ndarray.ErrTooLarge if a chunk exceeds the memory, ndarray.ErrParam if the name of a folder is not
// UTF-8, or is an error of opening a file.
func RechunkStored(ctx context.Context, s beam.Scope, files []File, dir, temp string, o RechunkOptions, create *ndarray.CreateOptions) (beam.PCollection, error) {
	s = s.Scope("b2beam.RechunkStored")
	if o.MaxMemory == 0 {
		o.MaxMemory = defaultMemory
	}
	for _, name := range []string{dir, temp} {
		if !utf8.ValidString(name) {
			return beam.PCollection{}, fmt.Errorf("b2beam: %w: the name of the folder %q is not UTF-8", ndarray.ErrParam, name)
		}
	}
	groups := map[string][]File{} // with one plan
	plans := map[string][]ndarray.RechunkStage{}
	var order []string
	for _, f := range files {
		key, plan, err := planFor(ctx, f, o)
		if err != nil {
			return beam.PCollection{}, fmt.Errorf("b2beam: array %q: %s: %w", f.Name, shown(f.Path), err)
		}
		if plans[key] == nil {
			plans[key], order = plan, append(order, key)
		}
		groups[key] = append(groups[key], f)
	}
	var done []beam.PCollection
	for _, key := range order {
		done = append(done, runPlan(s, groups[key], plans[key], dir, temp, options(create)))
	}
	if len(done) == 0 {
		return beam.PCollection{}, errors.New("b2beam: no files to rechunk")
	}
	return beam.Flatten(s, done...), nil
}

// planFor returns the plan for a file, and a key that files with the same plan have.
func planFor(ctx context.Context, f File, o RechunkOptions) (string, []ndarray.RechunkStage, error) {
	var c cache
	a, err := c.open(ctx, f)
	if err != nil {
		return "", nil, err
	}
	defer c.close()
	if len(f.Of) > 0 {
		return "", nil, fmt.Errorf("%w: the file is a part of an array; see Rechunk", ndarray.ErrParam)
	}
	g, err := newGrid(a.Shape(), o.Chunks)
	if err != nil {
		return "", nil, err
	}
	plan, err := ndarray.PlanRechunk(g.shape, int64(a.DType().Size), a.Chunks(), g.tile, o.MaxMemory)
	return fmt.Sprint(g.shape, a.DType().Size, a.Chunks()), plan, err
}

// runPlan adds the stages of a plan to a pipeline.
func runPlan(s beam.Scope, files []File, plan []ndarray.RechunkStage, dir, temp string, o ndarray.CreateOptions) beam.PCollection {
	if len(plan) == 1 {
		return writeStage(s, beam.CreateList(s, files), plan[0], dir, o)
	}
	stages := stageArrays{Names: map[string]string{}}
	staged := slices.Clone(files)
	for i, f := range files {
		staged[i].Name = stageName(f, dir)
		stages.Names[f.Name] = staged[i].Name
	}
	last := len(plan) - 1
	for i := range last {
		stages.Dirs = append(stages.Dirs, Join(temp, fmt.Sprintf("stage-%d", i+1)))
	}
	arrays := beam.ParDo(s, &clearFn{stages}, beam.CreateList(s, staged))
	for i, stage := range plan[:last] {
		arrays = writeStage(s, arrays, stage, stages.Dirs[i], ndarray.CreateOptions{Codec: codec.LZ4, NoSync: o.NoSync})
	}
	arrays = writeStage(s, beam.ParDo(s, &nameFn{}, arrays), plan[last], dir, o)
	return beam.ParDo(s, &removeFn{stages}, arrays)
}

// writeStage adds a stage of a plan to a pipeline.
func writeStage(s beam.Scope, arrays beam.PCollection, stage ndarray.RechunkStage, dir string, o ndarray.CreateOptions) beam.PCollection {
	o.Chunks = stage.Chunks
	return Write(s, dir, ReadAll(s, arrays, &ReadOptions{Tile: stage.Tile}), &o)
}

// stageName returns the name of the array between the stages for a file that is copied to a folder. It is the same in
// each run, also if the folder or the path is written in another way.
func stageName(f File, dir string) string {
	sum := sha256.Sum256([]byte(Join(dir) + "\n" + Join(f.Path)))
	return fmt.Sprintf("%s-%x", f.Name, sum[:8])
}

// nameFn gives the arrays of the last stage but one the names of the new arrays.
type nameFn struct{}

// ProcessElement emits a file whose name is that of stageName with the name of the original file.
func (nameFn) ProcessElement(f File, emit func(File)) {
	f.Name = f.Name[:strings.LastIndex(f.Name, "-")]
	emit(f)
}

// stageArrays are the arrays that are written between the stages of a plan.
type stageArrays struct {
	Dirs  []string          // one for each stage, below one folder
	Names map[string]string // in each of them, by the name of the new array

	bucket bucket
}

// Teardown closes the bucket.
func (st *stageArrays) Teardown() error { return st.bucket.close() }

// remove removes an array from all folders. If broken is set, it removes only what a removal has left that did not end:
// chunks without an index, and without the layout of an array that is being written.
func (st *stageArrays) remove(ctx context.Context, array string, broken bool) error {
	for _, dir := range st.Dirs {
		name, err := arrayName(dir, array)
		if err == nil && isURL(name) {
			err = st.removeObjects(ctx, name, broken)
		} else if err == nil {
			err = removeDir(name, broken)
		}
		if err != nil {
			return fmt.Errorf("b2beam: array %q: %s: %w", array, shown(name), err)
		}
	}
	return nil
}

// indexes are the files that make a directory an array: the index of a finished one, and the layout of another.
var indexes = []string{"chunks.b2frame", "unfinished.layout"}

// removeDir removes a directory, if there is one.
func removeDir(dir string, broken bool) error {
	for _, index := range indexes { // first, because it references the chunks
		path := filepath.Join(dir, index)
		if !broken {
			if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		} else if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return os.RemoveAll(dir)
}

// removeObjects removes the objects of an array, if there are any.
func (st *stageArrays) removeObjects(ctx context.Context, name string, broken bool) error {
	objects, err := st.bucket.objects(ctx, name)
	if err != nil {
		return err
	}
	for _, index := range indexes {
		if !broken {
			if err := objects.Remove(ctx, index); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		} else if _, _, err := objects.Get(ctx, index, 0); !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return removeObjects(ctx, objects)
}

// clearFn removes what an earlier run has left of the arrays between the stages.
type clearFn struct{ stageArrays }

// ProcessElement clears the place for the arrays of a file, and emits the file.
func (fn *clearFn) ProcessElement(ctx context.Context, f File, emit func(File)) error {
	if err := fn.remove(ctx, f.Name, true); err != nil {
		return err
	}
	emit(f)
	return nil
}

// removeFn removes the arrays between the stages.
type removeFn struct{ stageArrays }

// ProcessElement removes the arrays for a finished one, and emits that.
func (fn *removeFn) ProcessElement(ctx context.Context, f File, emit func(File)) error {
	if err := fn.remove(ctx, fn.Names[f.Name], false); err != nil {
		return err
	}
	emit(f)
	return nil
}

// removeObjects removes all objects, a few at a time.
func removeObjects(ctx context.Context, objects frame.Objects) error {
	var mu sync.Mutex
	var failed error
	var running sync.WaitGroup
	slots := make(chan struct{}, 16)
	for name, err := range objects.List(ctx) {
		if err != nil {
			running.Wait()
			return err
		}
		slots <- struct{}{}
		running.Go(func() {
			err := objects.Remove(ctx, name)
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				mu.Lock()
				failed = err
				mu.Unlock()
			}
			<-slots
		})
	}
	running.Wait()
	return failed
}
