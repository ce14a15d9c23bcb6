package b2arrow

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/goblosc/blosc2/frame/store"
	"github.com/goblosc/blosc2/frame/store/table"
	"github.com/goblosc/blosc2/internal/mutation"
)

// use reads the table at a path, whatever the errors. It returns the number of batches.
func use(t *testing.T, path string) (batches int) {
	ctx := context.Background()
	s, err := store.Open(ctx, path, nil)
	if err != nil {
		return 0
	}
	defer s.Close()
	tab, err := table.Open(ctx, s, "/")
	if err != nil {
		return 0
	}
	for _, info := range tab.Columns() { // one that cannot be read does not hide the others
		o := &Options{Rows: 100, Columns: []string{info.Name}, Allocator: checked(t)}
		n := 0
		for batch := range Batches(ctx, tab, o) {
			if batch != nil {
				valuesAt(t, batch.Column(0), 0, int(batch.NumRows()))
				batches++
			}
			if n++; n == 20 {
				break
			}
		}
	}
	return batches
}

// TestMutations reads mutated tables in a process with 256 MiB for data. None may end the process, or leave memory of
// the allocator. B2ARROW_MUTATIONS=100000 tests 100,000 mutations.
func TestMutations(t *testing.T) {
	if mutation.InChild(t) {
		return
	}
	n := mutation.Count("B2ARROW_MUTATIONS", 2000, 200)
	list := mutation.Fixtures(t, "../testdata", t.TempDir(), "tables")
	batches := 0
	for i := range n {
		rng := rand.New(rand.NewPCG(uint64(i), 17))
		s := &list[rng.IntN(len(list))]
		s.Mutate(t, i, rng)
		batches += use(t, s.Path)
		s.Restore(t)
		batches += use(t, s.Path)
	}
	t.Logf("%d mutations, %d batches", n, batches)
	if batches < 2*n {
		t.Error("too few batches could be read")
	}
}
