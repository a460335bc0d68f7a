package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/urfave/cli/v3"

	"github.com/venn-p2p/venn/cmd/venn/repo"
	"github.com/venn-p2p/venn/node/httpapi"
)

func mirrorCommand() *cli.Command {
	return &cli.Command{
		Name: "mirror", Usage: "show where clients ask the mirror, what it holds, and where what they asked for came from",
		Description: "A mirror fetches container images, Go modules, Debian and Nix packages and models from peers that have them, else\n" +
			"from the origin. It is part of the daemon, and off by default. To have one, name an address for clients and origins,\n" +
			"and start the daemon again:\n\n" +
			"    venn config set mirror.listen 127.0.0.1:5005\n" +
			"    venn config set mirror.upstream.go URL\n\n" +
			"`venn config show` explains the keys below [mirror].",
		Flags: []cli.Flag{jsonFlag("as a JSON object")},
		Action: onDaemon(func(ctx context.Context, c *cli.Command, cl *client) error {
			s, err := get[httpapi.Status](ctx, cl, "status", nil)
			if err != nil {
				return err
			}
			if s.Mirror == nil {
				return fmt.Errorf("the daemon has no mirror: `venn config set mirror.listen 127.0.0.1:5005%s`, then start it again", cl.repo.Option())
			}
			cfg, err := cl.repo.Config()
			if err != nil {
				return err
			}
			return show(c, s.Mirror, func(w io.Writer) error { return printMirror(w, s.Mirror, cfg.Mirror) })
		}),
	}
}

func printMirror(w io.Writer, m *httpapi.Mirror, cfg repo.Mirror) error {
	for _, f := range mirrorFronts(m.Listen, cfg) {
		fmt.Fprintln(w, f)
	}
	fmt.Fprintf(w, `cache       %d contents, %s of %s
from peers  %s
from origin %s
from cache  %s
to peers    %s
`, m.Files, mebibytes(m.Bytes), mebibytes(m.Limit), mebibytes(m.FromPeers), mebibytes(m.FromOrigin), mebibytes(m.FromCache), mebibytes(m.ToPeers))
	if len(m.Recent) == 0 {
		return nil
	}
	return tableOf(w, "ENDED|FROM PEERS|FROM ORIGIN|TOOK|CONTENT AND WHAT WENT WRONG", m.Recent, func(f httpapi.Fetch) []any {
		why := f.Tried
		if f.Error != "" {
			why = []string{"failed: " + f.Error}
		}
		what := strings.Join(append([]string{f.Name}, why...), "; ") // as one: names are long, and few need room for more
		return []any{f.Ended.Local().Format(time.TimeOnly), mebibytes(f.FromPeers), mebibytes(f.FromOrigin), fmt.Sprintf("%.0f ms", f.Took), what}
	})
}

// mirrorFronts lists the URLs for clients, each with the origin behind it.
func mirrorFronts(listen string, cfg repo.Mirror) (out []string) {
	for _, f := range []struct{ path, upstream string }{
		{"/v2/", strings.Join(cfg.Upstream.OCI, ", ")}, {"/go", cfg.Upstream.Go}, {"/nix", cfg.Upstream.Nix}, {"/hf", cfg.Upstream.HF}, {"/apt", cfg.Upstream.Apt},
	} {
		if f.upstream != "" {
			out = append(out, fmt.Sprintf("http://%s%s  for %s", listen, f.path, f.upstream))
		}
	}
	return out
}

func mebibytes(n int64) string { return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20)) }

// mirrorFinding checks the mirror, for venn doctor.
func mirrorFinding(cfg repo.Mirror, m *httpapi.Mirror) finding {
	switch {
	case m == nil && cfg.Listen == "":
		return finding{"mirror", true, "there is none", ""}
	case m == nil:
		return finding{"mirror", false, "mirror.listen is set, and the daemon has no mirror", "start the daemon again: it reads its configuration then"}
	case len(mirrorFronts(m.Listen, cfg)) == 0:
		return finding{"mirror", false, "nothing is mirrored", "name an origin: `venn config set mirror.upstream.go URL`, or one of the others there"}
	}
	failed := 0
	for _, f := range m.Recent {
		if f.Error != "" {
			failed++
		}
	}
	found := fmt.Sprintf("answers on %s; %d of the last %d fetches failed", m.Listen, failed, len(m.Recent))
	if 2*failed > len(m.Recent) {
		return finding{"mirror", false, found, "are the origins of mirror.upstream right, and reached from here? `venn mirror` says what went wrong"}
	}
	return finding{"mirror", true, found, ""}
}
