package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

// versionCmd prints the version.
type versionCmd struct{}

// Help describes the verb.
func (versionCmd) Help() string {
	return `
Prints the version of the command and of the library, the revision that it was built from, and the version of Go.
`
}

// Run runs the verb.
func (versionCmd) Run(e *env) error {
	version, library := "(devel)", ""
	settings := map[string]string{}
	if info, ok := debug.ReadBuildInfo(); ok {
		if info.Main.Version != "" {
			version = info.Main.Version
		}
		for _, s := range info.Settings {
			settings[s.Key] = s.Value
		}
		for _, m := range info.Deps {
			if m.Path == "github.com/goblosc/blosc2" {
				library = m.Version
				if m.Replace != nil {
					library += " in this tree"
				}
			}
		}
	}
	fmt.Fprintf(e.out, "blosc2 %s\n", version)
	if library != "" {
		fmt.Fprintf(e.out, "library %s\n", library)
	}
	if revision := settings["vcs.revision"]; revision != "" {
		text := revision + " of " + settings["vcs.time"]
		if settings["vcs.modified"] == "true" {
			text += ", modified"
		}
		fmt.Fprintf(e.out, "revision %s\n", text)
	}
	fmt.Fprintf(e.out, "%s %s/%s\n", runtime.Version(), runtime.GOOS, runtime.GOARCH)
	return nil
}
