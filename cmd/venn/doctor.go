package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"runtime/debug"
	"strings"
	"time"

	"github.com/multiformats/go-multiaddr"
	manet "github.com/multiformats/go-multiaddr/net"
	"github.com/urfave/cli/v3"

	"github.com/venn-p2p/venn/cmd/venn/repo"
	"github.com/venn-p2p/venn/node/httpapi"
)

// finding is what one check has found.
type finding struct {
	Check  string `json:"check"`
	Fine   bool   `json:"fine"`
	Found  string `json:"found"`
	Advice string `json:"advice,omitempty"` // what to do, if it is not fine
}

func doctorCommand() *cli.Command {
	return &cli.Command{
		Name: "doctor", Usage: "look for what keeps the peer from working, and say what to do; the exit code is 1 if there is something",
		Flags: []cli.Flag{jsonFlag("a JSON object a line: check, fine, found, advice")},
		Action: func(ctx context.Context, c *cli.Command) error {
			if err := noArguments(c); err != nil {
				return err
			}
			cl, err := newClient(c)
			if err != nil {
				return err
			}
			ill := 0
			for _, f := range examine(ctx, cl) {
				if !f.Fine {
					ill++
				}
				if err := show(c, f, func(w io.Writer) error { return printFinding(w, f) }); err != nil {
					return err
				}
			}
			if ill > 0 {
				return fmt.Errorf("%d things are not as they should be", ill)
			}
			return nil
		},
	}
}

func printFinding(w io.Writer, f finding) error {
	mark := "ok"
	if !f.Fine {
		mark = "!!"
	}
	_, err := fmt.Fprintf(w, "%s  %-14s %s\n", mark, f.Check, f.Found)
	if err == nil && f.Advice != "" {
		_, err = fmt.Fprintf(w, "    %-14s %s\n", "", f.Advice)
	}
	return err
}

// examine looks at the repository and, if one runs, at the daemon.
func examine(ctx context.Context, cl *client) []finding {
	out := []finding{clock(time.Now())}
	cfg, err := cl.repo.Config()
	if err != nil {
		return append(out, finding{"configuration", false, err.Error(), "mend it with `venn config edit" + cl.repo.Option() + "`"})
	}
	out = append(out, finding{"configuration", true, cl.repo.ConfigPath() + " is right", ""}, disk(cl.repo))
	var s httpapi.Status
	if err := cl.get(ctx, "/api/v1/status", nil, &s); err != nil {
		return append(out, finding{"daemon", false, err.Error(), ""})
	}
	out = append(out, finding{"daemon", true, "runs as " + s.ID + ", version " + s.Version, ""})
	var id httpapi.ID
	if err := cl.get(ctx, "/api/v1/id", nil, &id); err == nil {
		out = append(out, reachable(id.Addresses))
	}
	out = append(out, links(s), ownSummary(s), losses(s))
	if cfg.HTTP.Listen != "" && !strings.HasSuffix(cfg.HTTP.Listen, ":0") {
		out = append(out, port(ctx, cfg.HTTP.Listen))
	}
	return out
}

// clock holds the system's clock against the time that the program was built from.
func clock(now time.Time) finding {
	f := finding{"clock", true, now.Format(time.RFC3339), ""}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return f
	}
	for _, s := range info.Settings {
		if built, err := time.Parse(time.RFC3339, s.Value); s.Key == "vcs.time" && err == nil && now.Before(built) {
			return finding{"clock", false, now.Format(time.RFC3339) + " is before this program was written", "set the clock: signed summaries and records carry times"}
		}
	}
	return f
}

// little is how much room on the disk is too little.
const little = 256 << 20

func disk(r repo.Repo) finding {
	free, err := r.Free()
	switch {
	case err != nil:
		return finding{"disk", false, err.Error(), ""}
	case free < little:
		return finding{"disk", false, fmt.Sprintf("%d MiB are free below %s", free>>20, r.Dir), "make room: keys cannot be added when the disk is full"}
	}
	return finding{"disk", true, fmt.Sprintf("%d MiB are free below %s", free>>20, r.Dir), ""}
}

// reachable says whether any address is one that others can dial.
func reachable(addresses []string) finding {
	public, private := 0, 0
	for _, text := range addresses {
		a, err := multiaddr.NewMultiaddr(text)
		switch {
		case err != nil || manet.IsIPLoopback(a):
		case manet.IsPublicAddr(a):
			public++
		default:
			private++
		}
	}
	switch {
	case public > 0:
		return finding{"addresses", true, fmt.Sprintf("%d are public", public), ""}
	case private > 0:
		return finding{"addresses", true, "peers of the local network can dial this one, others cannot", ""}
	}
	return finding{"addresses", true, "only peers on this machine can dial this one", ""}
}

func links(s httpapi.Status) finding {
	if s.Peers == 0 {
		return finding{"peers", false, "linked with nobody", "name a peer: `venn connect MULTIADDR`, or `venn config set discovery.bootstrap MULTIADDR`; is network.name the same there?"}
	}
	return finding{"peers", true, fmt.Sprintf("linked with %d, summaries of %d are held", s.Peers, s.Summaries), ""}
}

func ownSummary(s httpapi.Status) finding {
	switch {
	case s.Keys == 0:
		return finding{"keys", true, "none are held: this peer only asks", ""}
	case s.Epoch == "":
		return finding{"keys", false, fmt.Sprintf("%d are held, but their summary is not made yet", s.Keys), "wait a moment; if it stays so, the daemon's log says why"}
	}
	return finding{"keys", true, fmt.Sprintf("%d, in summary %s", s.Keys, s.Epoch), ""}
}

// losses are what was dropped or refused: the larger ones mean something.
func losses(s httpapi.Status) finding {
	var dropped, refused uint64
	for _, n := range s.Dropped {
		dropped += n
	}
	for _, n := range s.Refused {
		refused += n
	}
	return finding{"losses", true, fmt.Sprintf("%d messages dropped for full queues, %d of others refused", dropped, refused), ""}
}

// port asks the public listener whether the daemon lives.
func port(ctx context.Context, listen string) finding {
	ctx, cancel := context.WithTimeout(ctx, 3*time.Second)
	defer cancel()
	url := "http://" + strings.Replace(listen, "0.0.0.0:", "127.0.0.1:", 1) + "/health/live"
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return finding{"http", false, err.Error(), ""}
	}
	resp, err := http.DefaultClient.Do(req)
	if err == nil {
		defer func() { _ = resp.Body.Close() }()
		if resp.StatusCode != http.StatusOK {
			err = errors.New(resp.Status)
		}
	}
	if err != nil {
		return finding{"http", false, err.Error(), "is http.listen that of the running daemon? It is read at the start"}
	}
	return finding{"http", true, "answers on " + listen, ""}
}
