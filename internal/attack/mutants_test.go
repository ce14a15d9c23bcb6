package attack

import "testing"

// TestMutants checks 8,000 mutants of frames, arrays and chunks. See the comment of the package.
func TestMutants(t *testing.T) { Run(t, Count(8_000), (*Mutant).Check) }
