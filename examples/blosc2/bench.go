package main

import (
	"bytes"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/codec"
	"github.com/goblosc/blosc2/frame"
	"github.com/goblosc/blosc2/meta"
	"github.com/goblosc/blosc2/ndarray"
)

// benchCmd measures codecs and filters with the data of a file.
type benchCmd struct {
	Codecs    benchCodecs  `placeholder:"lz4:5,zstd:9" help:"codecs with their levels (default: blosclz:5 lz4:5 lz4hc:9 zlib:5 zstd:1 zstd:5 zstd:9)"`
	Filters   benchFilters `placeholder:"shuffle,delta+shuffle" help:"filters, several joined by +, with a parameter as in trunc_prec:12+shuffle (default: none shuffle bitshuffle shuffle+bytedelta)"`
	Sample    int64        `placeholder:"16" default:"16" help:"MiB of data to use, in chunks from the whole file"`
	Goal      goalName     `placeholder:"balanced" help:"print what -goal of create and copy tries on the first chunk of the sample, and its choice"`
	Bandwidth float64      `placeholder:"500" default:"500" help:"MB per second of the storage, for the recommendation"`
	JSON      bool         `name:"json" help:"print a JSON object for each combination"`
	progressOption
	Path string `arg:"" name:"PATH"`
}

// Help describes the verb.
func (benchCmd) Help() string {
	return `
Compresses the chunks of PATH, a sample of them if it is large, with each combination of codecs and filters, and prints
sizes and speeds. PATH may also be a .npy file. Speeds are in MB of data per second on this machine. It recommends the
combination that takes the least time to read from storage of a given speed, stored bytes / bandwidth + decoding, and
names those with the smallest size and the fastest reading.

With -goal, it prints the table behind the choice of that goal instead: sizes of a sample, times by the library's table
of constants, and the cost by which the goal compares. The choice is in the first row.

Examples:
  blosc2 bench a.b2nd
  blosc2 bench -goal balanced a.b2nd
  blosc2 bench -codecs zstd:1,zstd:3 -filters bitshuffle in.npy
`
}

// benchCodecs are codecs with levels.
type benchCodecs []chunk.Params

// UnmarshalText implements encoding.TextUnmarshaler.
func (c *benchCodecs) UnmarshalText(text []byte) error {
	*c = nil
	for one := range strings.SplitSeq(string(text), ",") {
		name, levelText, hasLevel := strings.Cut(strings.TrimSpace(one), ":")
		var id codecName
		if err := id.UnmarshalText([]byte(name)); err != nil {
			return err
		}
		l := level(5)
		if hasLevel {
			if err := l.UnmarshalText([]byte(levelText)); err != nil {
				return err
			}
		}
		*c = append(*c, chunk.Params{Codec: codec.ID(id), Level: int(l)})
	}
	return nil
}

// benchFilters are lists of filters.
type benchFilters []filters

// UnmarshalText implements encoding.TextUnmarshaler.
func (f *benchFilters) UnmarshalText(text []byte) error {
	*f = nil
	for one := range strings.SplitSeq(string(text), ",") {
		var list filters
		if err := list.UnmarshalText([]byte(strings.ReplaceAll(one, "+", ","))); err != nil {
			return err
		}
		*f = append(*f, list)
	}
	return nil
}

// measurement is the result of a combination.
type measurement struct {
	params         chunk.Params
	codec, filters string
	size           int64 // stored bytes
	write, read    time.Duration
}

// Run runs the verb.
func (v *benchCmd) Run(e *env) error {
	if v.Sample < 1 || v.Sample > 1<<20 {
		return usagef("-sample: want a number of MiB from 1 to 1048576, got %d", v.Sample)
	}
	if !(v.Bandwidth > 0) {
		return usagef("-bandwidth: want a number above 0, got %v", v.Bandwidth)
	}
	if v.Goal != 0 && (v.Codecs != nil || v.Filters != nil || v.JSON) {
		return usagef("-goal is in place of -codecs, -filters and -json")
	}
	if v.Codecs == nil {
		if err := v.Codecs.UnmarshalText([]byte("blosclz:5,lz4:5,lz4hc:9,zlib:5,zstd:1,zstd:5,zstd:9")); err != nil {
			return err
		}
	}
	if v.Filters == nil {
		if err := v.Filters.UnmarshalText([]byte("none,shuffle,bitshuffle,shuffle+bytedelta")); err != nil {
			return err
		}
	}
	f, a, read, done, err := v.open(e)
	if err != nil {
		return err
	}
	defer done()
	chunks, data, err := sample(f, read, v.Sample<<20)
	if err != nil {
		return err
	}
	if data == 0 {
		return fmt.Errorf("%s: no data to compress", v.Path)
	}
	if v.Goal != 0 {
		return v.printTrials(e, f.Info(), chunks[0])
	}
	p := e.startProgress(v.progressOption, "combinations", int64(len(v.Codecs)*len(v.Filters)))
	defer p.end()
	coder := &chunk.Coder{TypeSize: f.Info().TypeSize, MaxBytes: -1}
	if a != nil {
		for _, n := range a.Blocks() {
			coder.BlockShape = append(coder.BlockShape, int32(n))
		}
	}
	var list []measurement
	for _, c := range v.Codecs {
		for _, fl := range v.Filters {
			c.Filters, c.TypeSize, c.BlockSize = fl, f.Info().TypeSize, f.Info().BlockSize
			m, err := measure(e, coder, chunks, c)
			if err != nil {
				return fmt.Errorf("%s with %s: %w", c.Codec, filterNames(fl), err)
			}
			list = append(list, m)
			p.add(1)
		}
	}
	p.end()
	if v.JSON {
		return v.printJSON(e, list, data)
	}
	v.print(e, list, data, f.Info().NBytes)
	return nil
}

// isNPY reports whether PATH is a .npy file.
func (v *benchCmd) isNPY() bool { return isNPYName(v.Path) && !isURL(v.Path) }

// open opens a frame, or that of a .npy file. read reads a chunk.
func (v *benchCmd) open(e *env) (f *frame.Frame, a *ndarray.Array, read func(i int) ([]byte, error), done func(), err error) {
	if v.isNPY() {
		c, err := openNPYChunks(e, v.Path)
		if err != nil {
			return nil, nil, nil, nil, err
		}
		read = func(i int) ([]byte, error) { return c.read(e.ctx, i) }
		return c.array.Frame(), c.array, read, c.close, nil
	}
	s, err := openFrame(e, v.Path)
	if err == nil && s.damaged != nil {
		s.close()
		err = s.damaged
	}
	if err != nil {
		return nil, nil, nil, nil, err
	}
	read = func(i int) ([]byte, error) { return s.frame.ReadChunk(e.ctx, nil, i) }
	return s.frame, s.array, read, s.close, nil
}

// sample returns decoded chunks at regular distances, with about most bytes, and their size. read reads a chunk.
func sample(f *frame.Frame, read func(i int) ([]byte, error), most int64) (chunks [][]byte, size int64, err error) {
	n := int64(f.NumChunks())
	total := max(f.Info().NBytes, 1)
	count := min(n, max(1, int64(math.Ceil(float64(n)*float64(most)/float64(total)))))
	for k := range count {
		b, err := read(int(k * n / count))
		if err != nil {
			return nil, 0, err
		}
		chunks, size = append(chunks, b), size+int64(len(b))
		if size >= most {
			break
		}
	}
	return chunks, size, nil
}

// measure compresses and decompresses chunks. It repeats that if it is fast, and takes the shortest time.
func measure(e *env, coder *chunk.Coder, chunks [][]byte, p chunk.Params) (measurement, error) {
	m := measurement{params: p, codec: fmt.Sprintf("%s:%d", p.Codec, storedLevel(p.Level)), filters: strings.ReplaceAll(filterOptions(p.Filters), ",", "+")}
	var packed, plain []byte
	var spent time.Duration
	for try := 0; try < 2 || spent < 50*time.Millisecond && try < 20; try++ {
		var write, read time.Duration
		m.size = 0
		for _, c := range chunks {
			if err := e.ctx.Err(); err != nil {
				return m, err
			}
			var err error
			start := time.Now()
			if packed, err = coder.Encode(packed[:0], c, p); err != nil {
				return m, err
			}
			write += time.Since(start)
			m.size += int64(len(packed))
			start = time.Now()
			if plain, err = coder.Decode(plain[:0], packed); err != nil {
				return m, err
			}
			read += time.Since(start)
			if lossless(p) && !bytes.Equal(plain, c) {
				return m, fmt.Errorf("the decoded data differs")
			}
		}
		if try == 0 || write < m.write {
			m.write = write
		}
		if try == 0 || read < m.read {
			m.read = read
		}
		if spent += write + read; spent > time.Second {
			break
		}
	}
	return m, nil
}

// lossless reports whether decoding gives the same bytes.
func lossless(p chunk.Params) bool {
	for _, f := range p.Filters {
		switch f.With(0) {
		case chunk.TruncPrec, chunk.IntTrunc, chunk.NDMean:
			return false
		}
	}
	return !strings.HasPrefix(p.Codec.String(), "zfp")
}

// speed returns MB of data per second.
func speed(data int64, t time.Duration) float64 {
	return float64(data) / 1e6 / max(t.Seconds(), 1e-9)
}

// cost returns the time to read the sample from storage.
func (v *benchCmd) cost(m measurement) float64 {
	return float64(m.size)/(v.Bandwidth*1e6) + m.read.Seconds()
}

// best returns the measurement with the least cost.
func best(list []measurement, cost func(m measurement) float64) measurement {
	least := list[0]
	for _, m := range list[1:] {
		if cost(m) < cost(least) {
			least = m
		}
	}
	return least
}

// print prints the table and the recommendation.
func (v *benchCmd) print(e *env, list []measurement, data, total int64) {
	fmt.Fprintf(e.out, "%s: %s of %s\n\n", visible(v.Path), shortSize(data), shortSize(total))
	rows := [][]string{{"codec", "filters", "size", "ratio", "write MB/s", "read MB/s"}}
	for _, m := range list {
		rows = append(rows, []string{m.codec, m.filters, shortSize(m.size), fmt.Sprintf("%.2f", float64(data)/float64(m.size)),
			fmt.Sprintf("%.0f", speed(data, m.write)), fmt.Sprintf("%.0f", speed(data, m.read))})
	}
	e.printTable(rows, "ttnnnn")
	smallest := best(list, func(m measurement) float64 { return float64(m.size) })
	fastest := best(list, func(m measurement) float64 { return m.read.Seconds() })
	choice := best(list, v.cost)
	fmt.Fprintf(e.out, "\nsmallest      %s %s, ratio %.2f\n", smallest.codec, smallest.filters, float64(data)/float64(smallest.size))
	fmt.Fprintf(e.out, "fastest read  %s %s, %.0f MB/s\n", fastest.codec, fastest.filters, speed(data, fastest.read))
	fmt.Fprintf(e.out, "%s   %s %s, reads %.0f MB/s from storage of %g MB/s\n", e.paint(bold, "recommended"),
		choice.codec, choice.filters, float64(data)/1e6/v.cost(choice), v.Bandwidth)
	name, l, _ := strings.Cut(choice.codec, ":")
	path := v.Path
	if isOption(path) {
		path = "./" + path
	}
	path = visible(shellQuote(path))
	verb, files := "copy", path+" NEW"
	if v.isNPY() {
		verb, files = "create", "NEW "+path
	}
	fmt.Fprintf(e.out, "\n  blosc2 %s -codec %s -level %s -filters %s %s\n", verb, name, l, strings.ReplaceAll(choice.filters, "+", ","), files)
}

// plainWord matches words that a shell does not change.
var plainWord = regexp.MustCompile(`^[-+./:=@_,%0-9A-Za-z]+$`)

// shellQuote returns an argument as a word of a POSIX shell.
func shellQuote(s string) string {
	if plainWord.MatchString(s) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// printJSON prints an object for each combination.
func (v *benchCmd) printJSON(e *env, list []measurement, data int64) error {
	choice := best(list, v.cost)
	for _, m := range list {
		name, l, _ := strings.Cut(m.codec, ":")
		n, err := strconv.ParseInt(l, 10, 64)
		if err != nil {
			return err
		}
		object := meta.Map{
			{Key: "codec", Value: name}, {Key: "level", Value: n}, {Key: "filters", Value: m.filters}, {Key: "bytes", Value: data}, {Key: "stored", Value: m.size},
			{Key: "write_mb_s", Value: speed(data, m.write)}, {Key: "read_mb_s", Value: speed(data, m.read)},
			{Key: "recommended", Value: m.codec == choice.codec && m.filters == choice.filters},
		}
		if err := e.printJSON(object); err != nil {
			return err
		}
	}
	return nil
}
