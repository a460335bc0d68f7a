package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/multiformats/go-multiaddr"
	"github.com/urfave/cli/v3"

	"github.com/venn-p2p/venn/cmd/venn/repo"
	"github.com/venn-p2p/venn/node"
	"github.com/venn-p2p/venn/node/httpapi"
)

// finding is the result of one check.
type finding struct {
	Check  string `json:"check"`
	Fine   bool   `json:"fine"`
	Found  string `json:"found"`
	Advice string `json:"advice,omitempty"` // advice for the user, if the finding is not fine
}

func doctorCommand() *cli.Command {
	return &cli.Command{
		Name: "doctor", Usage: "look for what keeps the peer from working, and say what to do; the exit code is 1 if there is something",
		Flags: []cli.Flag{jsonFlag("a JSON object a line: check, fine, found, advice")},
		Action: onDaemon(func(ctx context.Context, c *cli.Command, cl *client) error {
			found := examine(ctx, cl)
			if ctx.Err() != nil {
				return ctx.Err() // what failed for that says nothing of the peer
			}
			ill := 0
			for _, f := range found {
				if !f.Fine {
					ill++
				}
				if err := show(c, f, func(w io.Writer) error { return printFinding(w, f) }); err != nil {
					return err
				}
			}
			if ill > 0 {
				return fmt.Errorf("%d of the checks found something to mend", ill)
			}
			return nil
		}),
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

// examine checks the repository and, if a daemon runs, the daemon.
func examine(ctx context.Context, cl *client) []finding {
	out := []finding{clock(time.Now())}
	cfg, err := cl.repo.Config()
	if err != nil {
		return append(out, finding{"configuration", false, err.Error(), "mend it with `venn config edit" + cl.repo.Option() + "`"})
	}
	out = append(out, finding{"configuration", true, cl.repo.ConfigPath() + " is right", ""}, disk(cl.repo))
	s, err := get[httpapi.Status](ctx, cl, "status", nil)
	if err != nil {
		return append(out, finding{"daemon", false, err.Error(), ""})
	}
	out = append(out, finding{"daemon", true, "runs as " + s.ID + ", version " + s.Version, ""})
	if id, err := get[httpapi.ID](ctx, cl, "id", nil); err == nil {
		_, key, _ := cl.repo.SwarmKey() // a daemon does not start with one that cannot be read
		out = append(out, ports(cfg.Addresses.Listen, id.Addresses, key != nil))
	}
	out = append(out, reached(s.Reach), links(s))
	if len(s.Bootstrap) > 0 {
		out = append(out, begins(s))
	}
	if peers, err := get[[]httpapi.Peer](ctx, cl, "peers", nil); err == nil {
		out = append(out, versions(s.Version, peers))
	}
	out = append(out, ownSummary(s), losses(s), mirrorFinding(cfg.Mirror, s.Mirror))
	sources, err := cl.repo.Sources()
	if err != nil {
		out = append(out, finding{"sources", false, err.Error(), ""})
	}
	for _, x := range sources {
		f := finding{"source", x.Failed == "", x.Name + ": " + sourceState(x), ""}
		if !f.Fine {
			f.Advice = "bring it back; if it has moved, end the command that follows it, and follow it where it is now"
		}
		out = append(out, f)
	}
	if cfg.HTTP.Listen != "" && !strings.HasSuffix(cfg.HTTP.Listen, ":0") {
		out = append(out, port(ctx, cfg.HTTP.Listen))
	}
	return out
}

// clock checks that the system's clock is not before the time of the commit that the program was built from.
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

// little is the free space on the disk, in bytes, below which the check fails.
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

// ports checks that the daemon listens on every port that it should. wanted and used are multiaddrs. private means that
// the network has a pre-shared key, with which libp2p has no transport over UDP.
func ports(wanted, used []string, private bool) finding {
	listened := make(map[string]bool)
	for _, text := range used {
		listened[portOf(text)] = true
	}
	var all, lost []string
	off := ""
	for _, text := range wanted {
		p := portOf(text)
		if private && strings.HasPrefix(p, "udp/") && !listened[p] {
			off = "; QUIC is off: swarm.key"
			continue
		}
		if p == "" || strings.HasSuffix(p, "/0") || slices.Contains(all, p) {
			continue
		}
		all = append(all, p)
		if !listened[p] {
			lost = append(lost, p)
		}
	}
	switch {
	case len(lost) > 0:
		return finding{"ports", false, "nothing listens on " + strings.Join(lost, ", "), "does another program have it? End that one, or change addresses.listen; then start the daemon again"}
	case len(all) == 0:
		return finding{"ports", true, "free ones are taken at every start", "others find the peer again sooner at a port that stays (addresses.listen)"}
	}
	return finding{"ports", true, "listens on " + strings.Join(all, ", ") + off, ""}
}

// portOf returns the port of a multiaddr, as "tcp/4101"; empty where it has none.
func portOf(text string) string {
	a, err := multiaddr.NewMultiaddr(text)
	if err != nil {
		return ""
	}
	for _, c := range a {
		if code := c.Protocol().Code; code == multiaddr.P_TCP || code == multiaddr.P_UDP {
			return c.Protocol().Name + "/" + c.Value()
		}
	}
	return ""
}

// reached checks whether peers elsewhere can dial this one.
func reached(r httpapi.Reach) finding {
	found := map[string]string{
		"public": "at an address of this machine", "mapped": "at a port that the router forwards", "relayed": "through a relay",
		"local": "by peers of this network only", "unknown": "nobody knows yet whether by peers elsewhere", "not": "others tried in vain",
	}[r.How]
	return finding{"reached", r.How != "not", cmp.Or(found, r.How), r.Advice}
}

// versions counts the programs of the linked peers. The finding is not fine if more than half of them run the same
// version of venn, and it is not this one's.
func versions(own string, peers []httpapi.Peer) finding {
	count, linked := make(map[string]int), 0
	for _, p := range peers {
		if p.Linked {
			linked++
			count[cmp.Or(p.Agent, "one that does not say")]++
		}
	}
	if linked == 0 {
		return finding{"versions", true, "nobody to compare with", ""}
	}
	agents := slices.SortedFunc(maps.Keys(count), func(a, b string) int { return cmp.Or(cmp.Compare(count[b], count[a]), cmp.Compare(a, b)) })
	var said []string
	for _, a := range agents[:min(len(agents), 3)] {
		said = append(said, fmt.Sprintf("%d with %.40q", count[a], a))
	}
	f := finding{"versions", true, "linked peers: " + strings.Join(said, ", "), ""}
	if most := agents[0]; strings.HasPrefix(most, "venn/") && most != "venn/"+own && 2*count[most] > linked {
		f.Fine, f.Advice = false, fmt.Sprintf("most peers run another version than this one's %s: if theirs is newer, take it", own)
	}
	return f
}

func links(s httpapi.Status) finding {
	if s.Links == 0 && len(s.Bootstrap) > 0 {
		return finding{"peers", false, "linked with nobody", "see the bootstrap peers below"}
	}
	if s.Links == 0 {
		return finding{"peers", false, "linked with nobody", "name a peer: `venn connect MULTIADDR`, or `venn config set discovery.bootstrap MULTIADDR`; is network.name the same there?"}
	}
	if s.OtherSeed > 0 {
		return finding{"peers", false, fmt.Sprintf("linked with %d, %d of them of another seed", s.Links, s.OtherSeed), "give network.seed the same number here and there; see network.previous_seed"}
	}
	return finding{"peers", true, fmt.Sprintf("linked with %d, summaries of %d are held", s.Links, s.Origins), ""}
}

// begins counts the bootstrap peers in each state. The finding is not fine if this peer has no links, or if a bootstrap
// peer belongs to another network.
func begins(s httpapi.Status) finding {
	count := make(map[string]int)
	for _, standing := range s.Bootstrap {
		count[standing]++
	}
	f := finding{Check: "bootstrap", Fine: s.Links > 0 && count[httpapi.Standing(node.ErrNetwork)] == 0}
	var said []string
	for _, c := range []struct {
		err    error
		advice string
	}{
		{nil, ""},
		{node.ErrNetwork, "give network.name the same value here and there"},
		{node.ErrFull, "name another peer besides: those that a full one names cannot be reached"},
		{node.ErrSilent, "do they run, at the addresses of discovery.bootstrap, with the same swarm.key or none?"},
		{node.ErrUntried, "wait a moment"},
	} {
		if n := count[httpapi.Standing(c.err)]; n > 0 {
			said = append(said, fmt.Sprint(httpapi.Standing(c.err), ": ", n))
			if !f.Fine {
				f.Advice = cmp.Or(f.Advice, c.advice)
			}
		}
	}
	f.Found = strings.Join(said, ", ")
	return f
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

// losses counts the messages that were dropped or refused. The finding is always fine: only large counts matter.
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
