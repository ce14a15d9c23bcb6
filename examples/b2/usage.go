package main

import (
	"fmt"
	"strings"
)

// verb is one thing that b2 does.
type verb struct {
	name  string
	args  string // what stands behind the name
	short string // one line
	text  string // for b2 help NAME
	run   func(e *env, args []string) error
}

// verbs returns all verbs in the order of the overview.
func verbs() []verb {
	return []verb{
		{"info", "[-json] PATH", "say what the headers know: sizes, codec, shape, metalayers", infoText, runInfo},
		{"dump", "[-npy] PATH", "write all decoded bytes to standard output", dumpText, runDump},
		{"slice", "[-npy] PATH SEL", "write the decoded bytes of a selection", sliceText, runSlice},
		{"create", "[OPTIONS] OUT [IN]", "make an array or a super-chunk from a .npy file or raw bytes", createText, runCreate},
		{"append", "[-axis N] PATH [IN]", "add items along an axis, or a chunk", appendText, runAppend},
		{"resize", "PATH SHAPE", "change the shape of an array", resizeText, runResize},
		{"set", "PATH SEL [IN | -value X]", "write to a selection of an array", setText, runSet},
		{"vlmeta", "PATH [list | get NAME | set NAME JSON | delete NAME] [-hex]", "look at and change user metadata", vlmetaText, runVLMeta},
		{"copy", "[OPTIONS] FROM TO", "copy, with another partition, compression or storage if wanted", copyText, runCopy},
		{"compact", "[-n] PATH", "give back the dead bytes that edits leave", compactText, runCompact},
		{"repair", "[OPTIONS] BROKEN NEW", "make a frame of what is sound in a damaged one", repairText, runRepair},
		{"verify", "[-require-checksums] PATH", "decode everything and name each fault", verifyText, runVerify},
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
PATH is a contiguous file or a sparse directory; info, dump and verify take a file with a single chunk as well.
Options may stand before or behind the other arguments. Data go to standard output, and IN is standard input when
it is missing or "-".

The exit status is 0, or 1 with one line on standard error for a bad file or request, or 2 for bad usage.
"b2 help VERB" tells more.
`)
	return b.String()
}

const infoText = `
Prints what the header and the trailer say; no chunk is decoded.

  -json   one JSON object instead: path nbytes cbytes nchunks typesize chunksize blocksize compcode clevel filters
          filters_meta metalayers vlmeta, and for arrays ndim shape chunks blocks dtype dtype_format. Metalayers are
          in hexadecimal: as stored, variable-length ones expanded.
`

const dumpText = `
Writes the decoded bytes: an array in C order, a super-chunk chunk after chunk, the content of a bare chunk. The
memory needed does not grow with the data.

  -npy    with a NumPy header, so that numpy.load reads the result. What is no array becomes a row of bytes or, if
          its items have several bytes, of raw items.

  b2 dump -npy a.b2nd > a.npy
`

const sliceText = `
Writes the items of a selection in C order, decoding only the blocks that it touches. SEL is NumPy's notation:
integers, slices, ..., None, lists of integers and of truth values. One that starts with a minus sign and a digit is
fine. What a list selects is held in memory.

  -npy    with a NumPy header

  b2 slice a.b2nd '0, 2:5, ::-1' > part
  b2 slice -npy a.b2nd '..., -1' > last.npy
  b2 slice a.b2nd '[3, 1, 2], :' > rows
`

const paramsText = `
  -chunks 100,100      items in a chunk along each axis; chosen as python-blosc2 does if not given
  -blocks 10,100       items in a block along each axis; the same
  -codec zstd          blosclz lz4 lz4hc zlib zstd ndlz zfp_acc zfp_prec zfp_rate
  -codec-meta N        parameter of the codec
  -level 5             0 (no compression) to 9 (smallest)
  -filters shuffle     none shuffle bitshuffle delta trunc_prec bytedelta int_trunc ndcell ndmean, up to six with
                       commas, in the order in which they are applied; '' for none
  -filters-meta 0      a parameter for each filter
  -split auto          a stream for each byte of an item: auto always never forward
  -dict                train a dictionary for each chunk
  -checksums           keep CRC-32Cs of chunks, index and metalayers, which b2 verify compares
  -overwrite           replace what is there under the name
`

const createText = `
Makes an array in the file OUT from IN or standard input: a .npy file, by its name or its first bytes, or raw bytes.
The memory needed does not grow with the data, and OUT appears only when it is whole.

  -shape 3,4           shape of the array; '' makes one of no dimensions. Without it, that of the .npy file, or one
                       axis for raw bytes
  -dtype '<f4'         NumPy dtype of the items; without it, that of the .npy file, or '|u1' for raw bytes
  -chunksize N         make a plain super-chunk with chunks of N bytes instead
  -typesize N          item size of a plain super-chunk; without it, that of the dtype
  -sparse              a directory with a file for each chunk
  -meta name=json      a metalayer, stored as MessagePack; may be repeated
  -vlmeta name=json    the same for a variable-length metalayer, which can be changed later
` + paramsText + `
  b2 create -chunks 64,64 -codec lz4 -filters bitshuffle out.b2nd in.npy
  head -c 4000 /dev/urandom | b2 create -shape 1000 -dtype '<i4' out.b2nd
`

const appendText = `
Adds the items of IN or standard input behind the end of an axis: a .npy file, whose dtype must be the array's, or
raw bytes in C order. To a super-chunk it adds the bytes as one chunk. The input is held in memory; the change is one
commit.

  -axis N              the axis, 0 if not given
`

const resizeText = `
Gives an array another shape, such as 3,4. Each axis grows or shrinks at its end; new items are zeros.
`

const setText = `
Writes to the selection SEL (see b2 help slice) in one commit: the items of IN or standard input, which are a .npy
file of the same shape and dtype, or raw bytes in C order. The input is held in memory.

  -value X             write X to all items instead: a number (1 -2.5e3 nan inf 1+2j), true or false, a string (which
                       is filled up with zeros), a count of units or NaT for dates, or the bytes of an item in
                       hexadecimal for raw bytes and structures

  b2 set a.b2nd '0, :' row.npy
  b2 set a.b2nd '2:5, 3' -value nan
`

const vlmetaText = `
Variable-length metalayers are named values, MessagePack by convention.

  list                 all of them as name: JSON, one a line; also when nothing is said
  get NAME             the value as JSON; what JSON has not is a string that describes it
  set NAME JSON        make or change one
  delete NAME
  -hex                 values are bytes in hexadecimal instead of JSON

  b2 vlmeta a.b2nd set author '{"name": "Ada", "year": 1843}'
`

const copyText = `
Copies an array or super-chunk, without the dead bytes that edits leave. What no option changes stays as it is; the
chunks are compressed again only if they must. Metalayers come along.

  -chunksize N         size of the chunks of a plain super-chunk in bytes
  -sparse              a directory with a file for each chunk
  -contiguous          a file
` + paramsText

const compactText = `
Writes PATH anew without the bytes that no part of it uses, beside the old file, whose name it then takes: a crash
leaves the one or the other. Of a sparse directory it removes the chunk files that are not named in the index. The
chunks stay as they are stored. Prints how many bytes that gave back.

  -n      only print how many bytes are dead

  b2 compact a.b2nd
`

const repairText = `
Makes the frame NEW of the sound chunks and metalayers of BROKEN, whose header, index or trailer may be lost. Prints a
line for each thing that is lost, and how many chunks are sound. With an index, lost chunks become zeros; without one,
the chunks are found by looking for them everywhere, and those that were deleted may turn up again. An array stays one
if the chunks fit.

  -sparse              make a directory with a file for each chunk
  -checksums           keep CRC-32Cs of chunks, index and metalayers
  -overwrite           replace what is there under the name NEW
`

const verifyText = `
Reads all parts of PATH, decodes everything, and compares it with its checksums if it has some (b2 create -checksums,
b2 copy -checksums). Another library may have edited it without updating them. Each fault is a line on standard output
that says where it is, and the exit status is then 1. For an intact PATH, nothing is written to standard output. If a
frame has no checksums, a note on standard error says so: most damage to data that still decodes then goes unnoticed.

  -require-checksums   missing checksums are a fault
`
