// Package attack tests packages frame, ndarray and chunk, and the command b2, with hostile input, and all packages with
// odd arguments. Only tests import it.
//
// # Mutants
//
// A mutant is a stored frame, array or chunk that is changed in a way that follows from a number, its seed. The
// mutations know the format. They take a frame apart, set fields of the header, the index, the trailer, the metalayers,
// the chunk headers and the blocks to extremes, and put it together with lengths that are consistent, so that most
// mutants pass the first checks. Sparse frames also get links, pipes, devices, directories, and files with holes. Half
// of the mutants of frames with checksums get checksums that match.
//
// [Check] does with a mutant what programs do: it opens, describes, reads, verifies, copies, repairs and edits it. Each
// step must give data or one clear error. Check also compares the steps: what reads without an error although checksums
// are required equals the original, a mutant that passes Verify can be read and copied as a whole, a copy equals its
// source, and what Salvage makes passes Verify. Reading changes no file, and nothing outside the folder of the mutant
// is created or changed.
//
// [Run] checks many mutants in child processes, whose memory the operating system limits to 256 MiB, and which have 5 s
// for each mutant. The parent process watches them: it reports the seed of a mutant whose check fails, crashes or takes
// too long, and goes on with a new child. Where programs cannot start others the mutants are checked in the process
// itself.
//
// # Long runs
//
// 500,000 mutants, the same for the command, one mutant again with its description, and processes that are killed:
//
//	ATTACK_MUTANTS=500000 go test -timeout 6h -run TestMutants ./internal/attack
//	ATTACK_MUTANTS=100000 go -C examples/blosc2 test -timeout 6h -run TestAttack .
//	ATTACK_FIRST=1234 ATTACK_MUTANTS=1 go test -v -run TestMutants ./internal/attack
//	ATTACK_KILLS=10m go test -timeout 1h -run TestKills ./internal/attack
//	ATTACK_REGIONS=1000 go test -timeout 1h -run TestRegionKills ./internal/attack
//
// GOARCH=386 makes any of them one for 386.
package attack
