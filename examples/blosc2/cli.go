package main

import (
	"errors"
	"fmt"
	"reflect"
	"regexp"

	"github.com/alecthomas/kong"
)

// grammar lists the verbs in the order of the overview. The options and arguments of a verb are the fields of its
// struct. Help, man page and completions are made from their tags.
type grammar struct {
	Info       infoCmd       `cmd:"" help:"print sizes, codec, shape and metalayers from the headers"`
	Dump       dumpCmd       `cmd:"" help:"write all decoded bytes to standard output"`
	Slice      sliceCmd      `cmd:"" help:"print a selection of an array, or write it as text, CSV, .npy or bytes"`
	Ls         lsCmd         `cmd:"" help:"list the leaves of a store"`
	Table      tableCmd      `cmd:"" help:"print the values of a table"`
	Objects    objectsCmd    `cmd:"" help:"print the items of an object, batch or list array"`
	Stats      statsCmd      `cmd:"" help:"print minimum, maximum, mean, NaNs, zeros and a histogram"`
	Diff       diffCmd       `cmd:"" help:"compare two arrays"`
	Bench      benchCmd      `cmd:"" help:"measure codecs and filters with this data, and recommend one"`
	Plot       plotCmd       `cmd:"" help:"draw a heat map, a line or a histogram as PNG or SVG"`
	View       viewCmd       `cmd:"" help:"show an array or a store on the terminal"`
	Serve      serveCmd      `cmd:"" help:"serve a folder over HTTP: files, listings and selections of arrays"`
	Create     createCmd     `cmd:"" help:"create an array or a super-chunk from a .npy file or raw bytes"`
	Append     appendCmd     `cmd:"" help:"append items to an array, or a chunk to a super-chunk"`
	Resize     resizeCmd     `cmd:"" help:"change the shape of an array"`
	Set        setCmd        `cmd:"" help:"write to a selection of an array"`
	VLMeta     vlmetaCmd     `cmd:"" name:"vlmeta" help:"print and change variable-length metalayers"`
	Copy       copyCmd       `cmd:"" help:"copy, optionally with another partition, compression or storage"`
	Compact    compactCmd    `cmd:"" help:"release the dead bytes that edits leave"`
	Repair     repairCmd     `cmd:"" help:"create a frame from the intact parts of a damaged one"`
	Verify     verifyCmd     `cmd:"" help:"decode everything and report each fault"`
	Version    versionCmd    `cmd:"" help:"print the version"`
	Completion completionCmd `cmd:"" help:"print a script for completion in bash, zsh or fish"`
	Man        manCmd        `cmd:"" help:"print the man page"`
}

// argumentName finds the name of an argument as kong writes it.
var argumentName = regexp.MustCompile(`^<([^>]+)>:`)

// doubleDash finds options as kong writes them.
var doubleDash = regexp.MustCompile(`(^| )--`)

// runner is the struct of a verb, with its options and arguments.
type runner interface{ Run(e *env) error }

// cli is a parser of command lines. It parses one.
type cli struct{ k *kong.Kong }

// newCLI returns a parser.
func newCLI() *cli {
	return &cli{kong.Must(&grammar{}, kong.Name("blosc2"), kong.NoDefaultHelp(), kong.KindMapper(reflect.String, kong.MapperFunc(setString)))}
}

// setString sets a string to the next value. The mapper of kong converts strings to JSON, which replaces bytes that are
// not UTF-8, as names of files may have them.
func setString(ctx *kong.DecodeContext, target reflect.Value) error {
	t, err := ctx.Scan.PopValue("string")
	if err != nil {
		return err
	}
	text, ok := t.Value.(string)
	if !ok {
		return fmt.Errorf("want a string, got %v", t.Value)
	}
	target.SetString(text)
	return nil
}

// node returns the root of the grammar.
func (c *cli) node() *kong.Node { return c.k.Model.Node }

// verb returns the verb with a name, or nil.
func (c *cli) verb(name string) *kong.Node {
	for _, n := range c.node().Children {
		if n.Name == name {
			return n
		}
	}
	return nil
}

// dispatch runs a verb, or prints its help.
func (c *cli) dispatch(e *env, args []string) error {
	name, rest := args[0], args[1:]
	switch name {
	case "help", "-h", "-help", "--help":
		return c.help(e, rest)
	case "-version", "--version":
		name = "version"
	}
	v := c.verb(name)
	if v == nil {
		return usagef("unknown verb %q", name)
	}
	ordered, err := arrange(v, rest)
	if errors.Is(err, errHelp) {
		return c.help(e, args[:1])
	}
	if err != nil {
		return err
	}
	if _, err := c.k.Parse(append([]string{name}, ordered...)); err != nil {
		text := doubleDash.ReplaceAllString(err.Error(), "$1-")
		return usagef("%s", argumentName.ReplaceAllString(text, "argument $1:"))
	}
	return v.Target.Addr().Interface().(runner).Run(e)
}

// help prints the overview, or the help of a verb.
func (c *cli) help(e *env, args []string) error {
	switch len(args) {
	case 0:
		e.out.WriteString(overview(c.node(), e.textWidth()))
		return nil
	case 1:
		if v := c.verb(args[0]); v != nil {
			e.out.WriteString(verbHelp(v, e.textWidth()))
			return nil
		}
		if args[0] == "help" {
			e.out.WriteString(reflow(helpHelp, e.textWidth()))
			return nil
		}
		return usagef("unknown verb %q", args[0])
	}
	return usagef("help takes at most one verb")
}
