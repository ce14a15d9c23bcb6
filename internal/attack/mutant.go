package attack

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
)

// Mutant is a changed frame, array or chunk.
type Mutant struct {
	Seed   uint64
	What   []string // what was changed
	Sparse bool     // a directory
	Array  bool     // the original is an array

	from  *original
	files []file // one without a name if not Sparse
	pure  bool   // the checksums are those of the original
}

// String returns the seed of the mutant and what was changed.
func (m *Mutant) String() string {
	return fmt.Sprintf("seed %d, %s: %s", m.Seed, m.from.name, strings.Join(m.What, "; "))
}

// newMutant makes the mutant of a seed. It returns nil if there is none, because a part cannot be encoded.
func newMutant(list []*original, seed uint64) *Mutant {
	rng := rand.New(rand.NewPCG(seed, 17))
	o := list[rng.IntN(len(list))]
	mu := &Mutant{Seed: seed, from: o, Array: o.array}
	if o.model == nil {
		c, what := mutateChunk(rng, o.chunk)
		mu.What = []string{what}
		for range rng.IntN(3) {
			c, what = mutateChunk(rng, c)
			mu.What = append(mu.What, what)
		}
		mu.files = []file{{kind: regular, parts: parts{head: c}}}
		return mu
	}
	m := o.model.clone()
	steps := 1 + rng.IntN(3)
	onFiles := m.sparse && rng.IntN(3) == 0 // mutations of its files alone, or after the others
	if onFiles && rng.IntN(2) == 0 {
		steps = 0
	}
	late := rng.IntN(4) == 0 // the last one changes a part that build makes
	if late && steps > 0 {
		steps--
	}
	for range steps {
		mu.What = append(mu.What, mutateModel(rng, m))
	}
	m.sign = rng.IntN(2) == 0
	p, err := m.build()
	if err != nil {
		return nil
	}
	if late {
		mu.What = append(mu.What, mutateParts(rng, p))
	}
	mu.pure = o.sealed && !m.sign && o.hasRecord(m)
	if mu.Sparse = m.sparse; !mu.Sparse {
		mu.files = []file{{kind: regular, parts: *p}}
		return mu
	}
	mu.files = m.sparseFiles(p)
	for range map[bool]int{true: 1 + rng.IntN(2)}[onFiles] {
		var what string
		mu.files, what = mutateFiles(rng, mu.files)
		mu.What = append(mu.What, what)
	}
	return mu
}

// linked reports whether a file of the mutant is a symbolic link.
func (m *Mutant) linked() bool {
	return slices.ContainsFunc(m.files, func(f file) bool { return f.kind == link })
}

// Write makes the mutant under a name. Links lead to the folder outside.
func (m *Mutant) Write(path, outside string) error {
	if m.Sparse {
		if err := os.Mkdir(path, 0o777); err != nil {
			return err
		}
	}
	for i := range m.files {
		if err := m.files[i].write(path, outside); err != nil {
			return err
		}
	}
	return nil
}

// plain reports whether the mutant has only regular files.
func (m *Mutant) plain() bool {
	return !slices.ContainsFunc(m.files, func(f file) bool { return f.kind != regular && f.kind != folder })
}

// Chunk reports whether the mutant is one of a chunk.
func (m *Mutant) Chunk() bool { return m.from.model == nil }

// Bytes returns the bytes of a mutant that is one file without a large hole, or nil.
func (m *Mutant) Bytes() []byte {
	f := &m.files[0]
	if m.Sparse || f.hole > 1<<16 {
		return nil
	}
	return slices.Concat(f.head, make([]byte, f.hole), f.tail)
}
