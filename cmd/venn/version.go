package main

import (
	"context"
	"runtime"
	"runtime/debug"

	"github.com/urfave/cli/v3"
)

// version describes the source that the program was built from.
type version struct {
	Version  string `json:"version"`
	Revision string `json:"revision,omitempty"`
	Dirty    bool   `json:"dirty,omitempty"` // the tree had changes that the revision does not have
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

func buildVersion() version {
	v := version{Version: "(devel)", Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return v
	}
	if info.Main.Version != "" {
		v.Version = info.Main.Version
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			v.Revision = s.Value
		case "vcs.modified":
			v.Dirty = s.Value == "true"
		}
	}
	return v
}

func versionCommand() *cli.Command {
	return &cli.Command{
		Name:   "version",
		Usage:  "print the version, and what it was built with",
		Flags:  []cli.Flag{jsonFlag("as a JSON object")},
		Action: func(_ context.Context, c *cli.Command) error { return printVersion(c) },
	}
}

func printVersion(c *cli.Command) error {
	v := buildVersion()
	built := ""
	if v.Revision != "" {
		built = " " + v.Revision
	}
	if v.Dirty {
		built += " with changes"
	}
	return say(c, v, "venn %s%s %s %s", v.Version, built, v.Go, v.Platform)
}
