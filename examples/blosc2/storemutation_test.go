package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/goblosc/blosc2/internal/mutation"
)

// storeVerbs are the verbs for stores, tables and arrays of objects.
func storeVerbs() [][]string {
	return [][]string{{"ls", "-json"}, {"ls"}, {"table", "-json"}, {"table", "-csv"}, {"objects"}, {"info", "-json"}, {"verify"}}
}

// TestStoreMutations runs the verbs for stores on all stores and tables of testdata, and on mutations of them, in a
// process with 256 MiB for data. The result must be data or an error of one line, within a second.
//
// BLOSC2_STORE_MUTATIONS=100000 go -C examples/blosc2 test -timeout 6h -run TestStoreMutations . tests 100,000
// mutations, and BLOSC2_STORE_FIRST is the number of the first.
func TestStoreMutations(t *testing.T) {
	if mutation.InChild(t) {
		return
	}
	stores := mutation.Fixtures(t, fixturesDir, t.TempDir(), "stores")
	list := append(stores, mutation.Fixtures(t, fixturesDir, t.TempDir(), "tables")...)
	if len(list) < 60 {
		t.Fatalf("%d stores and tables", len(list))
	}
	for i, s := range list {
		for _, verb := range storeVerbs() {
			code, err := runVerb(append(slices.Clone(verb), s.Path)...)
			if err != nil || code != 0 && (verb[0] == "ls" || verb[0] == "table" && i >= len(stores)) {
				t.Errorf("%s %s: exit status %d, %v", verb, s.Path, code, err)
			}
		}
	}
	first, _ := strconv.Atoi(os.Getenv("BLOSC2_STORE_FIRST"))
	n := mutation.Count("BLOSC2_STORE_MUTATIONS", 1000, 50)
	exits := map[string]*[2]int{}
	for i := first; i < first+n; i++ {
		rng := rand.New(rand.NewPCG(uint64(i), 15))
		s := &list[rng.IntN(len(list))]
		name := s.Mutate(t, i, rng)
		for _, verb := range storeVerbs() {
			code, err := runVerb(append(slices.Clone(verb), s.Path)...)
			if err != nil {
				t.Errorf("%s, mutation %d of %s: %v", verb, i, name, err)
				continue
			}
			key := fmt.Sprint(verb)
			if exits[key] == nil {
				exits[key] = &[2]int{}
			}
			exits[key][code]++
		}
		s.Restore(t)
	}
	for verb, e := range exits {
		t.Logf("%s: %d results with data, %d errors", verb, e[0], e[1])
		few := !strings.HasPrefix(verb, "[ls") && !strings.HasPrefix(verb, "[table") // fixtures that the verb is for
		if e[1] == 0 || e[0] == 0 && !few {
			t.Errorf("%s: %d results with data, %d errors", verb, e[0], e[1])
		}
	}
}
