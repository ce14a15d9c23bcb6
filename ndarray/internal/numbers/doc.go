// Package numbers converts numbers and bools of NumPy dtypes: from one type to another, and from one byte order to the
// other.
package numbers
