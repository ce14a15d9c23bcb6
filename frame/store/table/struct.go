package table

import (
	"context"
	"fmt"
	"iter"
	"reflect"

	"github.com/goblosc/blosc2/frame/store/internal/faults"
)

// structWindow is the largest number of rows that Rows holds at a time.
const structWindow = 4096

// Rows ranges over the rows start to stop-1 as values of the struct type T. An exported field holds the column in its
// tag `b2:"name"`, or without a tag the column of its own name. Unlike fields of ndarray, the case of the name counts.
// The tag "-" omits a field. T may have some of the columns.
//
// A field has the type that Read lists for the kind and the size of the column, or type any. For values of any size, it
// may have any type that they fit by the rules of meta.Unmarshal. A pointer to such a type is nil for a null; other
// fields are then zero. Rows holds up to 4096 rows at a time, and fewer if the values of a column would take more
// memory than its stored bytes or MaxBytes allow. It also holds decoded blocks, so that each is read once: up to 8 MiB
// of an array and for all columns about 64 MiB, or one block of each. The error wraps ErrType for another type,
// fs.ErrNotExist for a column that does not exist, and ErrTooLarge for a single value that is too large.
func Rows[T any](ctx context.Context, t *Table, start, stop int64) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		fields, err := structFields(ctx, t, reflect.TypeFor[T]())
		defer closeAll(fields)
		if err == nil && (start < 0 || stop < start || stop > t.Rows()) {
			err = fmt.Errorf("table: rows %d to %d of %d: %w", start, stop, t.Rows(), ErrBounds)
		}
		if err != nil {
			yield(*new(T), err)
			return
		}
		for i, f := range fields {
			fields[i].c = f.c.ahead(start, stop, min(mostColumn, mostAhead/int64(len(fields))))
		}
		rows := make([]T, min(stop-start, structWindow))
		err = inWindows(start, stop, structWindow, structWindow, nil, func(from, to int64) error {
			part := rows[:to-from]
			clear(part)
			if err := fillAll(ctx, fields, reflect.ValueOf(part), from); err != nil {
				return err
			}
			for _, row := range part {
				if !yield(row, nil) {
					return faults.ErrStop
				}
			}
			return nil
		})
		if err != nil && err != faults.ErrStop {
			yield(*new(T), err)
		}
	}
}

// fillAll sets all fields in all structs of a slice to the values of rows, starting at start.
func fillAll(ctx context.Context, fields []structField, to reflect.Value, start int64) error {
	for _, f := range fields {
		if err := f.fill(ctx, to, start); err != nil {
			return f.c.wrap(err)
		}
	}
	return nil
}

// structField is a field of a struct with its column.
type structField struct {
	c     *Column
	index int
	typ   reflect.Type
}

// closeAll closes the columns of fields.
func closeAll(fields []structField) {
	for _, f := range fields {
		f.c.Close()
	}
}

// structFields opens the columns of a struct type. The caller closes those that it returns, also with an error.
func structFields(ctx context.Context, t *Table, s reflect.Type) ([]structField, error) {
	if s.Kind() != reflect.Struct {
		return nil, fmt.Errorf("table: rows as %v, want a struct: %w", s, ErrType)
	}
	var fields []structField
	for i := range s.NumField() {
		f := s.Field(i)
		name, tagged := f.Tag.Lookup("b2")
		if !f.IsExported() || name == "-" {
			continue
		}
		if !tagged {
			name = f.Name
		}
		c, err := t.Column(ctx, name)
		if err != nil {
			return fields, err
		}
		fields = append(fields, structField{c, i, f.Type})
	}
	return fields, nil
}

// fill sets the field in all structs of a slice to the values of rows, starting at start.
func (f structField) fill(ctx context.Context, to reflect.Value, start int64) error {
	stop := start + int64(to.Len())
	if f.c.items != nil {
		i, m := 0, memory{ctx: ctx, f: f.c.items.Frame()}
		return f.c.eachItem(ctx, start, stop, func(raw []byte) error {
			field := to.Index(i).Field(f.index)
			i++
			return m.unmarshal(raw, field.Addr().Interface(), 0) // nil sets the zero value
		})
	}
	if f.c.info.Kind != "timestamp" && f.c.info.Kind != "ndarray" { // whose nulls and elements differ
		field := func(i int) any { return to.Index(i).Field(f.index).Addr().Interface() }
		r, err := f.c.reader()
		if err != nil {
			return err
		}
		if ok, err := r.fill(ctx, f.c, start, stop, field); ok {
			return err
		}
	}
	values, err := f.c.readAny(ctx, start, stop)
	if err != nil {
		return err
	}
	for i, v := range values {
		if v == nil {
			continue
		}
		field := to.Index(i).Field(f.index)
		if f.typ.Kind() == reflect.Pointer {
			field.Set(reflect.New(f.typ.Elem()))
			field = field.Elem()
		}
		value := reflect.ValueOf(v)
		if !value.Type().AssignableTo(field.Type()) {
			return fmt.Errorf("values of type %T in a field of type %v: %w", v, f.typ, ErrType)
		}
		field.Set(value)
	}
	return nil
}
