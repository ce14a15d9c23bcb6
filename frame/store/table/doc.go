// Package table reads the tables of python-blosc2 (CTable): columns of the same number of rows in a store. It does not
// create or change tables: append rows with python-blosc2, and open the table again. Module
// github.com/goblosc/blosc2/b2arrow converts tables to Apache Arrow.
//
//	s, err := store.Open(ctx, "trips.b2z", nil)
//	defer s.Close()
//	t, err := table.Open(ctx, s, "/")
//	c, err := t.Column(ctx, "fare")
//	fares, err := table.Read[float64](ctx, c, 0, t.Rows())
//	nulls, err := c.Nulls(ctx, 0, t.Rows())
//
// Find the rows with a value:
//
//	rows, err := table.Find(ctx, c, table.Greater, 100.0)
//
// Rows returns rows as tagged structs. See Read for the Go type of each kind of column. Rows are numbered without the
// deleted ones, in all columns alike. A column without deleted rows is read as fast as its array.
//
// Closing the store closes its tables and columns. Close columns of a directory that are no longer needed if there are
// thousands: each has up to three open files.
//
// Columns that python-blosc2 computes on each read have no stored values. Table.Columns leaves them out, and
// Table.Column returns errors.ErrUnsupported with the expression. It also refuses a generated column that is stored but
// stale.
//
// # Format
//
// All leaves are below the key of the table:
//
//	_meta                 variable-length metalayers kind ("ctable") and schema (JSON)
//	_valid_rows           booleans: false for a deleted row
//	_cols/NAME            an array with one item for each row; for values of any size, an object array; for kind
//	                      dictionary, the codes; for kind utf8, the offset where each text ends
//	_cols/NAME_dict       the categories of a dictionary column
//	_cols/NAME.utf8       the bytes of a utf8 column
//	_cols/NAME.notnull    booleans: false for a null. Absent if no value is null
//	_vlmeta               the attributes of the table
//	_indexes/NAME/...     a summary of the column: the smallest and the largest value of each segment of rows. _meta
//	                      holds its path, and whether it is stale
//
// The schema lists the stored columns as "columns". Two keys describe those that are generated from others by an
// expression of their sources:
//
//	computed_columns      columns without stored values
//	materialized_columns  stored columns. "stale" is true after a source was modified: the values are outdated
//
// A dot in the name of a column separates nested names: "trip.start" is _cols/trip/start. Nulls are marked in an array,
// are a value that the schema names, are the code -1 of a dictionary, or nil. Arrays may be longer than the table.
package table
