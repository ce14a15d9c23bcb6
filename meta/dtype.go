package meta

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/goblosc/blosc2/internal/errs"
)

// Limits on dtypes. They are far above what NumPy programs use.
const (
	MaxDTypeText  = 1 << 20       // bytes of text that ParseDType reads
	MaxDTypeDepth = 32            // nested structured dtypes and sub-arrays
	maxDTypeSize  = math.MaxInt32 // bytes of an item, as in NumPy
	maxSubDims    = 64            // dimensions of a sub-array, as in NumPy
)

// DType describes an item in NumPy's terms. It is one of three things:
//
//   - a simple dtype: Elem and Fields are nil;
//   - a structured dtype: Fields is not nil, but may be empty;
//   - a sub-array: Elem is not nil, and each item is an array of elements of type Elem, in C order.
//
// Two dtypes are the same if their String is. A DType is plain data. Copies share Fields, Shape and Elem, so treat
// these as read-only.
type DType struct {
	// Kind is 'b' bool, 'i' signed and 'u' unsigned integer, 'f' float, 'c' complex, 'S' bytes, 'U' Unicode text, 'M'
	// datetime, 'm' timedelta, 'O' Python object, or 'V' for raw bytes, structured dtypes and sub-arrays. It is 0 only
	// in the zero DType, which represents no type.
	Kind byte
	// Order is '<' little-endian, '>' big-endian, or '|' if there is no byte order.
	Order byte
	// Size is the length of an item in bytes. Text of kind 'U' has four bytes per character.
	Size int

	Unit  string // of kinds 'M' and 'm': Y M W D h m s ms us ns ps fs as, or "" for none
	Count int    // units per step: 25 for M8[25s]; 0 if Unit is ""

	Fields []Field // of a structured dtype, in order of declaration
	// Aligned marks a structured dtype with the layout of C compilers for 64 bits, and all structured dtypes inside it.
	// A structured dtype inside one without the mark has no mark either: its offsets describe the layout.
	Aligned bool

	Elem  *DType // of a sub-array
	Shape []int  // of a sub-array, outermost dimension first, never empty
}

// Field is a field of a structured dtype.
type Field struct {
	Name   string
	Title  string // second name, usually ""
	Offset int    // bytes from the start of the item; fields may overlap
	Type   DType
}

// Of returns the simple little-endian dtype of a kind and a size in bytes: Of('f', 8) is "<f8". A datetime or timedelta
// has no unit. Of returns the zero DType if NumPy has no such dtype.
func Of(kind byte, size int) DType {
	if size < 0 || size > maxDTypeSize || !sizeFits(kind, size) {
		return DType{}
	}
	d := DType{Kind: kind, Order: '<', Size: size}
	if kind != 'U' && (size == 1 || strings.IndexByte("SVO", kind) >= 0) {
		d.Order = '|'
	}
	return d
}

// sizeFits reports whether a kind exists in a size. Long doubles are those of 64-bit Linux and macOS.
func sizeFits(kind byte, size int) bool {
	switch kind {
	case 'b':
		return size == 1
	case 'i', 'u':
		return size == 1 || size == 2 || size == 4 || size == 8
	case 'f':
		return size == 2 || size == 4 || size == 8 || size == 16
	case 'c':
		return size == 8 || size == 16 || size == 32
	case 'M', 'm', 'O':
		return size == 8
	case 'U':
		return size%4 == 0
	case 'S', 'V':
		return true
	}
	return false
}

// codeOfName returns the kind and size of a name or one-letter code that np.dtype accepts on 64-bit Linux, or "" for
// other names.
func codeOfName(name string) string {
	switch name {
	case "?", "bool", "bool_":
		return "b1"
	case "b", "byte", "int8":
		return "i1"
	case "B", "ubyte", "uint8":
		return "u1"
	case "h", "short", "int16":
		return "i2"
	case "H", "ushort", "uint16":
		return "u2"
	case "i", "intc", "int32":
		return "i4"
	case "I", "uintc", "uint32":
		return "u4"
	case "l", "q", "p", "n", "int", "int_", "intp", "long", "longlong", "int64":
		return "i8"
	case "L", "Q", "P", "N", "uint", "uintp", "ulong", "ulonglong", "uint64":
		return "u8"
	case "e", "half", "float16":
		return "f2"
	case "f", "single", "float32":
		return "f4"
	case "d", "float", "double", "float64":
		return "f8"
	case "float128":
		return "f16"
	case "F", "csingle", "complex64":
		return "c8"
	case "D", "complex", "cdouble", "complex128":
		return "c16"
	case "complex256":
		return "c32"
	case "S", "bytes", "bytes_":
		return "S0"
	case "c":
		return "S1"
	case "U", "str", "str_", "unicode":
		return "U0"
	case "V", "void":
		return "V0"
	case "O", "object", "object_":
		return "O8"
	case "M", "datetime64":
		return "M8"
	case "m", "timedelta64":
		return "m8"
	}
	return ""
}

// parseSimple reads a simple dtype.
func parseSimple(s string) (DType, error) {
	bad := func() (DType, error) {
		return DType{}, fmt.Errorf("meta: dtype %s is not one of NumPy, such as <f4 for floats of 4 bytes: %w", clip(s), ErrType)
	}
	switch s {
	case "g", "G", "longdouble", "clongdouble", "T", "StringDType()":
		return DType{}, fmt.Errorf("meta: dtype %s: %w", clip(s), errs.ErrUnsupported)
	}
	order, code := byte('='), s
	if s != "" && strings.IndexByte("<>=|", s[0]) >= 0 {
		order, code = s[0], s[1:]
	}
	code, unit, hasUnit := strings.Cut(code, "[")
	if code == "" {
		return bad()
	}
	// Names take no byte order; one-letter codes do.
	if hasUnit && len(code) == 1 {
		return bad() // M[ns]
	}
	if known := codeOfName(code); known != "" && (len(code) == 1 || s[0] == code[0]) {
		code = known
	}
	n, err := strconv.ParseUint(code[1:], 10, 31)
	long := errors.Is(err, strconv.ErrRange) && strings.IndexByte("SVU", code[0]) >= 0
	if err != nil && !long {
		return bad()
	}
	if code[0] == 'U' {
		n *= 4
	}
	if long || n > maxDTypeSize {
		return DType{}, fmt.Errorf("meta: dtype %s is larger than %d bytes: %w", clip(s), maxDTypeSize, ErrTooLarge)
	}
	d := Of(code[0], int(n))
	if d.Kind == 0 || hasUnit && d.Kind != 'M' && d.Kind != 'm' {
		return bad()
	}
	if order == '>' && d.Order == '<' {
		d.Order = '>'
	}
	if hasUnit {
		if d.Unit, d.Count = parseUnit(unit); d.Count == 0 && d.Unit != "generic" {
			return bad()
		}
		if d.Unit == "generic" {
			d.Unit, d.Count = "", 0
		}
	}
	return d, nil
}

// parseUnit reads what follows the bracket in M8[25s]. The count is 0 if it is not a unit of NumPy.
func parseUnit(s string) (unit string, count int) {
	s, ok := strings.CutSuffix(s, "]")
	unit = strings.TrimLeft(s, "0123456789")
	count = 1
	if digits := s[:len(s)-len(unit)]; digits != "" {
		n, err := strconv.ParseUint(digits, 10, 31)
		if err != nil {
			return "", 0
		}
		count = int(n)
	}
	switch unit {
	case "μs": // U+03BC, which NumPy takes as well
		unit = "us"
	case "Y", "M", "W", "D", "h", "m", "s", "ms", "us", "ns", "ps", "fs", "as", "generic":
	default:
		ok = false
	}
	if !ok {
		return "", 0
	}
	return unit, count
}

// clip quotes text for an error, shortened.
func clip(s string) string {
	if len(s) > 80 {
		return fmt.Sprintf("%q...", s[:80])
	}
	return fmt.Sprintf("%q", s)
}
