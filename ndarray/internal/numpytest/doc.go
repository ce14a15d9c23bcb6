// Package numpytest tests package ndarray with results of NumPy: conversions, views, index arrays, structs, ranges,
// reductions and histograms. It uses only the public interface of ndarray. Folder testdata has the results, and the
// Python scripts that compute them.
package numpytest
