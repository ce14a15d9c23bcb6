package attack

import "testing"

// TestMutants checks 20,000 mutants of frames, arrays and chunks. See the comment of the package.
func TestMutants(t *testing.T) { Run(t, Count(20_000), (*Mutant).Check) }
