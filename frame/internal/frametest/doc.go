// Package frametest tests package frame by its public interface: files of other libraries, options, goals, data that is
// stored elsewhere, links and pipes in the place of files, and what Salvage finds in damaged frames.
package frametest
