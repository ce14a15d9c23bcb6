// Package b2arrow turns tables and arrays of Blosc2 into those of Apache Arrow.
//
//	s, err := store.Open(ctx, "trips.b2z", nil)
//	defer s.Close()
//	t, err := table.Open(ctx, s, "/")
//	for batch, err := range b2arrow.Batches(ctx, t, nil) { // up to 65,536 rows at a time
//		...
//	}
//
// NewReader returns the same batches as an array.RecordReader, which writers of Arrow streams, Parquet and others take.
// Column returns rows of one column, Array an array of one dimension, and Tensor one of any number of dimensions:
//
//	column, err := b2arrow.Column(ctx, c, 0, t.Rows(), nil) // c is a *table.Column
//	defer column.Release()
//	x, err := b2arrow.Tensor(ctx, a, nil) // a is an *ndarray.Array
//	defer x.Release()
//
// Batches and Column return ranges of rows. To keep the rows that meet a condition, filter each batch with
// compute.FilterRecordBatch of Arrow. To keep the rows that table.Find returns, count the rows of the batches: the
// number of the first row of a batch is that of all rows in the batches before it.
//
// Items returns the items of batch arrays (.b2b) whose blocks are Arrow streams.
//
// This package is a module of its own, so that programs without Arrow do not download it.
//
// # Types
//
// The kinds of columns have the types that python-blosc2 exports, and types for complex numbers and objects:
//
//	int8 to uint64, float32, float64, bool     the same
//	complex64, complex128                      fixed_size_list of the real and the imaginary part
//	string, vlstring                           utf8
//	utf8                                       large_utf8
//	bytes, vlbytes                             large_binary
//	dictionary                                 dictionary of int32 and utf8
//	timestamp                                  timestamp of the unit and the time zone
//	ndarray                                    fixed_size_list of all elements of a row in C order. The metadata of
//	                                           the field has the shape, "blosc2:ndarray_shape"
//	list, struct                               list, struct; lists in Arrow streams have their own type
//	object                                     large_binary: a MessagePack value, see meta.Unmarshal
//
// A nested column keeps its name with dots, as in python-blosc2, or becomes a field of a structure: Options.Structs.
//
// Computed columns are left out. A stale one is an error unless Options.Columns leaves it out: see table.Table.Column.
//
// Nulls are in validity bitmaps, whatever the table uses: a mask, a value, or a code. A timestamp that is NaT is null,
// also inside lists and structures. Deleted rows are left out.
//
// # Memory
//
// All memory of the results is from the allocator of the caller, who must release them. Numbers, timestamps, codes,
// elements of arrays and the text of utf8 columns are decoded straight into it. Rows around deleted ones are copied,
// 512 KiB at a time. Booleans, text of fixed size, and values of any size are converted.
//
// A file may be corrupt, or made to do harm. Batches have a bounded number of rows. Memory is allocated only if the
// stored bytes justify it, by the rule of frame.OpenOptions.MaxBytes: those of each column for its values, and those of
// all columns together for a batch. The categories of dictionaries, which the first batch reads, are part of both. Rows
// that are read ahead take up to 64 MiB more, or MaxBytes if that is less.
package b2arrow
