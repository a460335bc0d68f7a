package daemon

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	"syscall"

	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/peer"
	ma "github.com/multiformats/go-multiaddr"
	manet "github.com/multiformats/go-multiaddr/net"

	"github.com/venn-p2p/venn/cmd/venn/repo"
)

// choosePorts sets the addresses to listen on: those of the configuration. If they are on the default port and
// another program has it, they get a port of the peer's own.
func (d *daemon) choosePorts(id peer.ID) error {
	d.listen = d.cfg.Addresses.Listen
	err := portsFree(d.listen)
	if errors.Is(err, syscall.EADDRINUSE) && onPort(d.listen, repo.DefaultPort) {
		return d.useFallbackPort(id)
	}
	if err != nil {
		return fmt.Errorf("addresses.listen: %w; choose others with `venn config set addresses.listen MULTIADDR,…%s`", err, d.repo.Option())
	}
	return nil
}

// useFallbackPort sets the addresses to the first free of the ports that follow from the peer's id, so that it is
// mostly the same at each start.
func (d *daemon) useFallbackPort(id peer.ID) error {
	var err error
	for _, port := range ownPorts(id) {
		listen := withPort(d.cfg.Addresses.Listen, port)
		if err = portsFree(listen); err == nil {
			d.listen = listen
			d.log.Warn("the default port is taken: listening on another", "default", repo.DefaultPort, "port", port)
			return nil
		}
	}
	return fmt.Errorf("addresses.listen: the default port %d is taken, and so are the others tried: %w", repo.DefaultPort, err)
}

// ownPorts returns the eight ports that a peer tries in place of the default one. They follow from its id.
func ownPorts(id peer.ID) (ports []int) {
	h := sha256.Sum256([]byte(id))
	for i := range 8 {
		ports = append(ports, repo.FirstPort+(int(binary.BigEndian.Uint16(h[:]))+i)%(repo.EndPort-repo.FirstPort))
	}
	return ports
}

// onPort reports whether all addresses, but those through relays, are on a port.
func onPort(listen []string, port int) bool {
	return !slices.ContainsFunc(listen, func(a string) bool {
		return !strings.Contains(a, "/p2p-circuit") && !strings.Contains(a+"/", fmt.Sprintf("/tcp/%d/", port)) && !strings.Contains(a+"/", fmt.Sprintf("/udp/%d/", port))
	})
}

// withPort returns the addresses with port in place of the default one.
func withPort(listen []string, port int) (out []string) {
	for _, a := range listen {
		for _, transport := range []string{"tcp", "udp"} {
			from, to := fmt.Sprintf("/%s/%d", transport, repo.DefaultPort), fmt.Sprintf("/%s/%d", transport, port)
			a = strings.TrimSuffix(strings.Replace(a+"/", from+"/", to+"/", 1), "/")
		}
		out = append(out, a)
	}
	return out
}

// sharesPort reports whether a host listens by TCP on a port, while another program has the same port by UDP. That
// happens when both start at the same time, because libp2p shares TCP ports.
func sharesPort(h host.Host, listen []string) bool {
	listens := func(a string) bool {
		return slices.ContainsFunc(h.Network().ListenAddresses(), func(l ma.Multiaddr) bool { return l.String() == a })
	}
	for _, a := range listen {
		port, quic := strings.CutSuffix(a, "/quic-v1")
		if quic && !strings.HasSuffix(port, "/0") && !listens(a) && listens(strings.Replace(port, "/udp/", "/tcp/", 1)) {
			return true
		}
	}
	return false
}

// portsFree returns an error if the port of an address is in use, or if no address can be listened on. libp2p would
// not notice: it shares TCP ports with other programs that do so, too, and is content with one working address.
func portsFree(listen []string) error {
	var failed error
	works := false
	for _, text := range listen {
		a, err := ma.NewMultiaddr(text)
		if err != nil {
			return err
		}
		a, _ = ma.SplitFunc(a, func(c ma.Component) bool { // the system knows only the parts up to TCP or UDP
			code := c.Protocol().Code
			return code != ma.P_TCP && code != ma.P_UDP && code != ma.P_IP4 && code != ma.P_IP6
		})
		if len(a) == 0 { // the address goes through a relay
			works = true
			continue
		}
		switch err := tryListen(a); {
		case err == nil:
			works = true
		case errors.Is(err, syscall.EADDRINUSE):
			return fmt.Errorf("%s: %w", text, err)
		default:
			failed = fmt.Errorf("%s: %w", text, err)
		}
	}
	if works {
		return nil
	}
	return failed
}

// tryListen returns an error if an address cannot be listened on, by UDP if it names UDP, else by TCP.
func tryListen(a ma.Multiaddr) error {
	if _, err := a.ValueForProtocol(ma.P_UDP); err == nil {
		l, err := manet.ListenPacket(a)
		if err == nil {
			err = l.Close()
		}
		return err
	}
	l, err := manet.Listen(a)
	if err == nil {
		err = l.Close()
	}
	return err
}
