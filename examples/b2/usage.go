package main

import (
	"fmt"
	"strings"
)

// verb is a subcommand of b2.
type verb struct {
	name  string
	args  string // synopsis of the arguments
	short string // one line for the overview
	text  string // for b2 help NAME
	run   func(e *env, args []string) error
}

// verbs returns all verbs in the order of the overview.
func verbs() []verb {
	return []verb{
		{"info", "[-json] PATH", "print sizes, codec, shape and metalayers from the headers", infoText, runInfo},
		{"dump", "[-npy] PATH", "write all decoded bytes to standard output", dumpText, runDump},
		{"slice", "[-npy] PATH SEL", "write the decoded bytes of a selection of an array", sliceText, runSlice},
		{"ls", "[-json] STORE[/KEY]", "list the leaves of a store", lsText, runLs},
		{"table", "[-json | -csv] PATH", "print the values of a table", tableText, runTable},
		{"objects", "PATH", "print the items of an object, batch or list array", objectsText, runObjects},
		{"create", "[OPTIONS] OUT [IN]", "create an array or a super-chunk from a .npy file or raw bytes", createText, runCreate},
		{"append", "[-axis N] PATH [IN]", "append items to an array, or a chunk to a super-chunk", appendText, runAppend},
		{"resize", "PATH SHAPE", "change the shape of an array", resizeText, runResize},
		{"set", "PATH SEL [IN | -value X]", "write to a selection of an array", setText, runSet},
		{"vlmeta", "PATH [list | get NAME | set NAME JSON | delete NAME] [-hex]", "print and change variable-length metalayers", vlmetaText, runVLMeta},
		{"copy", "[OPTIONS] FROM TO", "copy, optionally with another partition, compression or storage", copyText, runCopy},
		{"compact", "[-n] PATH", "release the dead bytes that edits leave", compactText, runCompact},
		{"repair", "[OPTIONS] DAMAGED NEW", "create a frame from the intact parts of a damaged one", repairText, runRepair},
		{"verify", "[-require-checksums] PATH", "decode everything and report each fault", verifyText, runVerify},
	}
}

// verbNamed returns the verb with a name, or nil.
func verbNamed(name string) *verb {
	for _, v := range verbs() {
		if v.name == name {
			return &v
		}
	}
	return nil
}

// overview returns the text of b2 help.
func overview() string {
	var b strings.Builder
	b.WriteString("b2 works with Blosc2 frames and N-dimensional arrays.\n\nusage: b2 VERB ARGUMENTS\n\n")
	for _, v := range verbs() {
		fmt.Fprintf(&b, "  %-7s %s\n", v.name, v.short)
	}
	b.WriteString(`
PATH is a contiguous file or a sparse directory. info, dump and verify also accept a file with a single chunk. Verbs
that only read PATH also accept a URL of a contiguous file or of a store in one file that starts with http:// or
https://. STORE/KEY is a leaf of a store, such as tree.b2z/img/level0. Leaves in files of their own (tree.b2d) can be
edited, all others only read.
Options may come before or after other arguments. Data is written to standard output. If IN is missing or "-", b2
reads standard input.

The exit status is 0 for success, 1 for an invalid file or request, with one line on standard error, or 2 for invalid
usage.

"b2 help VERB" describes a verb.
`)
	return b.String()
}

const infoText = `
Prints the contents of the header and the trailer. It decodes no chunk.

  -json   print one JSON object with the keys path nbytes cbytes nchunks typesize chunksize blocksize compcode clevel
          filters filters_meta metalayers vlmeta, and for arrays also ndim shape chunks blocks dtype dtype_format.
          Metalayers are in hexadecimal: fixed-length ones as stored, variable-length ones decompressed.
`

const dumpText = `
Writes the decoded bytes: the items of an array in C order, the chunks of a super-chunk one after the other, or the
contents of a single chunk. Its memory use does not grow with the data.

  -npy    write a NumPy header first, so that numpy.load reads the result. A super-chunk or a single chunk becomes an
          array of one dimension: of raw items if its item size is more than one byte and divides the data, otherwise
          of bytes.

  b2 dump -npy a.b2nd > a.npy
`

const sliceText = `
Writes the items of a selection in C order. It decodes only the blocks that hold selected items. SEL is in NumPy's
notation: integers, slices, ..., None, and lists of integers or booleans. SEL may start with a minus sign and a digit.
If SEL contains lists, the selected items are held in memory.

  -npy    write a NumPy header first

  b2 slice a.b2nd '0, 2:5, ::-1' > part
  b2 slice -npy a.b2nd '..., -1' > last.npy
  b2 slice a.b2nd '[3, 1, 2], :' > rows
`

const paramsText = `
  -chunks 100,100      chunk shape in items (default: the one that python-blosc2 chooses)
  -blocks 10,100       block shape in items (default: the one that python-blosc2 chooses)
  -codec zstd          blosclz lz4 lz4hc zlib zstd ndlz zfp_acc zfp_prec zfp_rate
  -codec-meta N        parameter of the codec
  -level 5             0 (no compression) to 9 (smallest)
  -filters shuffle     none shuffle bitshuffle delta trunc_prec bytedelta int_trunc ndcell ndmean: up to six, separated
                       by commas, in the order in which they are applied; '' for none
  -filters-meta 0      the parameters of the filters, separated by commas
  -split auto          compress each byte plane of a block as its own stream: auto always never forward
  -dict                train a dictionary for each chunk
  -checksums           store CRC-32C checksums of chunks, index and metalayers, which b2 verify compares
  -overwrite           replace an existing file or directory
`

const createText = `
Creates an array in the file OUT from IN or standard input. The input is a .npy file, recognized by its name or its
first bytes, or raw bytes. The memory use of create does not grow with the data. OUT appears only when it is complete.

  -shape 3,4           shape of the array; '' for an array without dimensions. The default is the shape of the .npy
                       file, or one axis for raw bytes
  -dtype '<f4'         NumPy dtype of the items. The default is the dtype of the .npy file, or '|u1' for raw bytes
  -chunksize N         create a plain super-chunk with chunks of N bytes instead of an array
  -typesize N          item size of a plain super-chunk. The default is the item size of the dtype
  -sparse              create a directory with a file for each chunk
  -meta name=json      add a metalayer, stored as MessagePack; may be repeated
  -vlmeta name=json    add a variable-length metalayer, which can be changed later; may be repeated
` + paramsText + `
  b2 create -chunks 64,64 -codec lz4 -filters bitshuffle out.b2nd in.npy
  head -c 4000 /dev/urandom | b2 create -shape 1000 -dtype '<i4' out.b2nd
`

const appendText = `
Appends the items of IN or standard input at the end of an axis of an array, in one commit. The input is a .npy file
with the dtype of the array, or raw bytes in C order. If PATH is a super-chunk, the input is appended as one chunk. The
input is held in memory.

  -axis N              the axis (default 0)
`

const resizeText = `
Changes the shape of an array to SHAPE, for example 3,4. Each axis grows or shrinks at its end. New items are zeros.
`

const setText = `
Writes to the selection SEL (see "b2 help slice") in one commit. IN or standard input is a .npy file with the shape of
the selection and the dtype of the array, or raw bytes in C order. The input is held in memory.

  -value X             write X to all selected items. X is a number (1 -2.5e3 nan inf 1+2j), true or false, a string
                       (padded with zeros), a count of units or NaT for dates and timedeltas, or for raw bytes and
                       structures the bytes of an item in hexadecimal

  b2 set a.b2nd '0, :' row.npy
  b2 set a.b2nd '2:5, 3' -value nan
`

const vlmetaText = `
Variable-length metalayers are values with a name, in MessagePack by convention.

  list                 print every metalayer as "name: JSON", one per line (the default action)
  get NAME             print the value as JSON; a value that JSON cannot express becomes a descriptive string
  set NAME JSON        add or replace a metalayer
  delete NAME          delete a metalayer
  -hex                 values are bytes in hexadecimal instead of JSON

  b2 vlmeta a.b2nd set author '{"name": "Ada", "year": 1843}'
`

const copyText = `
Copies an array or a super-chunk without the dead bytes that edits leave, and with its metalayers. Parameters without
an option stay the same. Chunks are compressed again only if the options require it.

  -chunksize N         chunk size of a plain super-chunk in bytes
  -sparse              create a directory with a file for each chunk
  -contiguous          create a file
` + paramsText

const compactText = `
Releases dead bytes, and prints their number. For a file, it writes a copy of PATH without dead bytes, then renames it
to PATH. A crash leaves either the old file or the new one. In a sparse directory, it removes the chunk files that the
index does not reference. It does not compress chunks again.

  -n      only print the number of dead bytes

  b2 compact a.b2nd
`

const repairText = `
Creates the frame NEW from the intact chunks and metalayers of DAMAGED, whose header, index or trailer may be lost.
Prints a line for each part that is lost, and the number of intact chunks. If the index is intact, lost chunks become
zeros. Otherwise repair searches the whole file for chunks, and may also find deleted ones. An array remains an array
if the chunks match its shape.

  -sparse              create a directory with a file for each chunk
  -checksums           store CRC-32C checksums of chunks, index and metalayers
  -overwrite           replace an existing file or directory NEW
`

const verifyText = `
Reads all parts of PATH, decodes everything, and compares it with its checksums if it has any (see -checksums of b2
create). Another library may have edited PATH without updating the checksums. Each fault is a line on standard output
with its location, and the exit status is then 1. For an intact PATH, nothing is written to standard output. If a frame
has no checksums, a note on standard error says so: damage to data that still decodes is then not detected.

  -require-checksums   report missing checksums as a fault
`
