package testnet

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/peer"
	ma "github.com/multiformats/go-multiaddr"

	"github.com/venn-p2p/venn/testnet/runs"
)

// Part selects the peers of a testnet that run in this process, if several processes share the testnet: the peers with
// number mod Of = I. All parts have the same Config except I, and draw the same from its seed. So each knows all peers,
// the addresses on which they listen and their queries.
type Part struct {
	runs.Part
	// At has the addresses of the parts: HOST:PORT, or several of them, separated by commas, that parts take in turns.
	// "%d" in an address stands for the part's number, "%03d" for it with three digits. A part listens on the port
	// for the others, and on the ports above it for its peers, one each. Parts with the same address take consecutive
	// ranges of ports.
	At string
}

// DefaultAt is the address of parts that all run on one machine.
const DefaultAt = "127.0.0.1:9400"

// MaxParts is the largest number of parts of a testnet: each asks all others for their progress.
const MaxParts = 1024

// peers returns the number of the part's peers in a testnet of the given number of peers.
func (p Part) peers(all int) int {
	if p.Of == 0 {
		return all
	}
	return (all - p.I + p.Of - 1) / p.Of
}

// place is the address of a part. The part listens for other parts on the port, for its peers on the ports above it.
type place struct {
	host string
	port int
}

func (p place) String() string { return net.JoinHostPort(p.host, strconv.Itoa(p.port)) }

// numbered matches the verbs in an address that stand for the part's number.
var numbered = regexp.MustCompile(`%(0[1-9])?d`)

// places returns the addresses of all parts of a testnet with the given number of peers. Errors match ErrConfig.
func (p Part) places(peers int) ([]place, error) {
	if p.Of > peers {
		return nil, fmt.Errorf("%w: %d parts for %d peers", ErrConfig, p.Of, peers)
	}
	each := (peers+p.Of-1)/p.Of + 1 // ports of a part
	items := strings.Split(p.At, ",")
	taken := make(map[place]int)
	all := make([]place, p.Of)
	for i := range all {
		item := numbered.ReplaceAllStringFunc(strings.TrimSpace(items[i%len(items)]), func(verb string) string { return fmt.Sprintf(verb, i) })
		host, text, err := net.SplitHostPort(item)
		port, portErr := strconv.ParseUint(text, 10, 16)
		if err != nil || portErr != nil || host == "" || port == 0 {
			return nil, fmt.Errorf("%w: parts at %q: %q is no HOST:PORT", ErrConfig, p.At, item)
		}
		all[i] = place{host, int(port)}
		first := all[i]
		all[i].port += taken[first] * each
		taken[first]++
		if all[i].port+each > 1<<16 {
			return nil, fmt.Errorf("%w: part %d at %s needs %d ports", ErrConfig, i, all[i], each)
		}
	}
	return all, nil
}

// resolve looks up the address of a host, IPv4 if it has one. It retries for partsCome, because the names of a cluster
// appear with its machines.
func resolve(ctx context.Context, host string) (netip.Addr, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, partsCome, fmt.Errorf("host %s is not known after %v", host, partsCome))
	defer cancel()
	for {
		all, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
		var best netip.Addr
		for _, a := range all {
			if a = a.Unmap(); !best.IsValid() || a.Is4() && !best.Is4() {
				best = a
			}
		}
		if err == nil && best.IsValid() {
			return best, nil
		}
		if sleep(ctx, time.Second) != nil {
			return best, fmt.Errorf("testnet: %w", errors.Join(context.Cause(ctx), err))
		}
	}
}

// listen returns the address on which a peer listens.
func (p *parts) listen(number int) netip.AddrPort {
	if p == nil {
		return netip.AddrPort{}
	}
	part := number % p.part.Of
	return netip.AddrPortFrom(p.addresses[part], uint16(p.places[part].port+1+number/p.part.Of))
}

// peer returns the id and address of a peer of another part.
func (p *parts) peer(number int, key crypto.PrivKey) (peer.AddrInfo, error) {
	id, err := peer.IDFromPrivateKey(key)
	if err != nil {
		return peer.AddrInfo{}, fmt.Errorf("testnet: identity of peer %d: %w", number, err)
	}
	return peer.AddrInfo{ID: id, Addrs: []ma.Multiaddr{p.transport.address(p.listen(number))}}, nil
}
