package daemon

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
	"unicode"

	lru "github.com/hashicorp/golang-lru/v2"
	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"

	"github.com/venn-p2p/venn/cmd/venn/repo"
	"github.com/venn-p2p/venn/node"
)

// servingID is the protocol by which a daemon names the peers that serve the content of its keys. These may be other
// programs, such as the IPFS node from which the keys were taken. The answer has multiaddrs with /p2p/ID, one on
// each line. It is empty if the daemon serves the content itself.
const servingID protocol.ID = "/venn/serving/1.0.0"

const (
	maxServing  = 8 << 10          // most bytes of an answer
	maxServers  = 8                // most peers in an answer
	servingTime = time.Second      // longest time of a question and its answer
	servingKept = 30 * time.Second // time for which a peer's answer is kept, or that it gave none
	servingOwn  = time.Second      // time for which the daemon's own answer is kept, because files are read for it
	servingMost = 1024             // most answers kept
)

// serving tells other peers who serves this daemon's content, and asks them who serves theirs. It is safe for
// concurrent use.
type serving struct {
	host host.Host
	own  func() []string             // returns multiaddrs with /p2p/ID; none: the daemon serves its content itself
	kept *lru.Cache[peer.ID, answer] // answers of peers, and the daemon's own
}

type answer struct {
	text  string
	until time.Time
}

func newServing(h host.Host, own func() []string) *serving {
	kept, err := lru.New[peer.ID, answer](servingMost)
	if err != nil {
		panic(err) // cannot be: servingMost is above 0
	}
	s := &serving{h, own, kept}
	h.SetStreamHandler(servingID, s.handle)
	return s
}

// servedBy returns the addresses of the content's servers: those configured, and the present ones of each source. If
// a source has addresses of a configured peer, they replace the configured ones. The result fits in an answer.
func servedBy(r repo.Repo, configured []string) []string {
	sources, _ := r.Sources() // an unreadable source counts as absent; status reports it
	now := make(map[peer.ID][]string)
	var order []peer.ID
	add := func(addresses []string) {
		fresh := make(map[peer.ID]bool)
		for _, text := range addresses {
			info, err := peer.AddrInfoFromString(text)
			if err != nil {
				continue
			}
			if now[info.ID] == nil {
				order = append(order, info.ID)
			}
			if !fresh[info.ID] {
				fresh[info.ID], now[info.ID] = true, nil
			}
			now[info.ID] = append(now[info.ID], text)
		}
	}
	add(configured)
	for _, s := range sources {
		add(s.Servers)
	}
	var out []string
	bytes := 0
	for _, id := range order[:min(len(order), maxServers)] {
		for _, text := range now[id] {
			if bytes += len(text) + 1; bytes > maxServing {
				return out
			}
			out = append(out, text)
		}
	}
	return out
}

func (s *serving) close() error {
	s.host.RemoveStreamHandler(servingID)
	return nil
}

// handle answers another peer's question for the peers that serve this daemon's content.
func (s *serving) handle(stream network.Stream) {
	if stream.Scope().SetService(node.ServiceName) != nil {
		_ = stream.Reset()
		return
	}
	_ = stream.SetDeadline(time.Now().Add(servingTime))
	if _, err := io.WriteString(stream, s.says(context.Background(), s.host.ID())); err != nil {
		_ = stream.Reset()
		return
	}
	_ = stream.Close()
}

// servers returns the peers that serve holder's content: by default, holder itself. A peer may name any others, so
// its answer is worth no more than a provider record in a DHT. The caller must check the content.
func (s *serving) servers(ctx context.Context, holder peer.AddrInfo) []peer.AddrInfo {
	by, err := parseServers(s.says(ctx, holder.ID))
	if err != nil || len(by) == 0 {
		return []peer.AddrInfo{holder}
	}
	return by
}

// says returns the answer of a peer, or the daemon's own. It asks a peer only if nothing is kept of it. A peer that does
// not answer counts as serving its content itself, and is not waited for again for a while.
func (s *serving) says(ctx context.Context, p peer.ID) string {
	if a, ok := s.kept.Get(p); ok && time.Now().Before(a.until) {
		return a.text
	}
	text, life := "", servingKept
	if p == s.host.ID() {
		text, life = strings.Join(s.own(), "\n"), servingOwn
	} else if said, err := s.ask(ctx, p); err == nil {
		text = said
	} else if ctx.Err() != nil {
		return "" // whoever asks has gone, the peer may be about to answer
	}
	s.kept.Add(p, answer{text, time.Now().Add(life)})
	return text
}

func (s *serving) ask(ctx context.Context, p peer.ID) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, servingTime)
	defer cancel()
	stream, err := s.host.NewStream(network.WithNoDial(ctx, "a holder was just asked"), p, servingID)
	if err != nil {
		return "", err
	}
	defer func() { _ = stream.Reset() }()
	if err := stream.Scope().SetService(node.ServiceName); err != nil {
		return "", err
	}
	_ = stream.SetDeadline(time.Now().Add(servingTime))
	b, err := io.ReadAll(io.LimitReader(stream, maxServing+1)) // a longer answer is refused when it is parsed
	return string(b), err
}

// parseServers parses multiaddrs with /p2p/ID, one on each line.
func parseServers(text string) (all []peer.AddrInfo, err error) {
	if len(text) > maxServing {
		return nil, fmt.Errorf("daemon: more than %d bytes of who serves", maxServing)
	}
	for line := range strings.FieldsFuncSeq(text, func(r rune) bool { return r == '\n' || r == '\r' }) {
		if strings.ContainsFunc(line, func(r rune) bool { return !unicode.IsPrint(r) }) {
			// a DNS name in an address may have any characters
			return nil, errors.New("daemon: who serves: an address that cannot be shown")
		}
		info, err := peer.AddrInfoFromString(line)
		if err != nil {
			return nil, fmt.Errorf("daemon: who serves: %w", err)
		}
		if i := slices.IndexFunc(all, func(p peer.AddrInfo) bool { return p.ID == info.ID }); i >= 0 {
			all[i].Addrs = append(all[i].Addrs, info.Addrs...)
		} else if all = append(all, *info); len(all) > maxServers {
			return nil, fmt.Errorf("daemon: more than %d peers serve", maxServers)
		}
	}
	return all, nil
}
