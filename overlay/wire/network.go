package wire

import (
	"encoding/base32"
	"strings"

	"github.com/venn-p2p/venn/summary"
)

// ProtocolIn returns the id on the wire of a stream protocol in a network. It ends with 25 bits of a hash of the
// network's name, in base 32, so peers of another network do not speak the protocol. Every stream begins with the id,
// so it is short.
func ProtocolIn[ID ~string](network string, id ID) ID {
	tag := summary.Seed{Network: network}.Tag().Network
	return id + "/" + ID(strings.ToLower(base32.StdEncoding.EncodeToString(tag[:5]))[:5])
}
