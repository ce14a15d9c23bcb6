package main

import (
	"fmt"
	"strings"

	"github.com/goblosc/blosc2/chunk"
	"github.com/goblosc/blosc2/frame"
)

// printTrials prints what a goal tries on a chunk.
func (v *benchCmd) printTrials(e *env, info frame.Info, data []byte) error {
	list, err := chunk.Tune(data, chunk.Params{TypeSize: info.TypeSize, BlockSize: info.BlockSize}, chunk.Goal(v.Goal))
	if err != nil {
		return err
	}
	if list == nil {
		return fmt.Errorf("%s: the sample is constant or too short to choose by", v.Path)
	}
	fmt.Fprintf(e.out, "%s: goal %v, sample of %s\n\n", visible(v.Path), chunk.Goal(v.Goal), shortSize(list[0].Bytes))
	rows := [][]string{{"codec", "filters", "split", "size", "ratio", "write ns/B", "read ns/B", "cost"}}
	for _, t := range list {
		rows = append(rows, []string{
			fmt.Sprintf("%s:%d", t.Params.Codec, storedLevel(t.Params.Level)), strings.ReplaceAll(filterNames(t.Params.Filters), ", ", "+"),
			splitText(t.Params.Split), shortSize(t.Stored), fmt.Sprintf("%.2f", float64(t.Bytes)/float64(t.Stored)),
			fmt.Sprintf("%.2f", t.Write), fmt.Sprintf("%.2f", t.Read), fmt.Sprintf("%.3f", t.Cost),
		})
	}
	e.printTable(rows, "tttnnnnn")
	return nil
}

// splitText returns the name of a split mode.
func splitText(m chunk.SplitMode) string {
	switch m {
	case chunk.SplitAlways:
		return "always"
	case chunk.SplitNever:
		return "never"
	}
	return "auto"
}
