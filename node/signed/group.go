package signed

import (
	"path"

	manet "github.com/multiformats/go-multiaddr/net"

	"github.com/venn-p2p/venn/overlay/admission"
	"github.com/venn-p2p/venn/overlay/wire"
)

// AddressGroup returns the address group of a peer by its verified record: the /24 of its first public IPv4 address,
// or the /48 of its first public IPv6 address. It returns "" without a public address, as in private networks. A peer
// that claims another's addresses cannot be reached at them, and soon ranks last.
func AddressGroup(r wire.Record) string {
	for _, a := range content(r.Envelope).Addrs {
		ip, err := manet.ToIP(a)
		if err != nil || !manet.IsPublicAddr(a) {
			continue
		}
		return path.Dir(admission.Group(ip))
	}
	return ""
}
