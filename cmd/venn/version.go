package main

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/urfave/cli/v3"
)

// version is what the program was built from.
type version struct {
	Version  string `json:"version"`
	Revision string `json:"revision,omitempty"`
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
		if s.Key == "vcs.revision" {
			v.Revision = s.Value
		}
	}
	return v
}

func versionCommand() *cli.Command {
	return &cli.Command{
		Name:  "version",
		Usage: "print the version, and what it was built with",
		Flags: []cli.Flag{&cli.BoolFlag{Name: "json", Usage: "as a JSON object"}},
		Action: func(_ context.Context, c *cli.Command) error {
			if err := noArguments(c); err != nil {
				return err
			}
			v := buildVersion()
			if c.Bool("json") {
				return json.NewEncoder(c.Root().Writer).Encode(v)
			}
			_, err := fmt.Fprintf(c.Root().Writer, "venn %s %s %s\n", v.Version, v.Go, v.Platform)
			return err
		},
	}
}
