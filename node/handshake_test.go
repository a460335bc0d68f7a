package node

import (
	"crypto/rand"
	"net"
	"testing"

	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/p2p/security/noise"
	manet "github.com/multiformats/go-multiaddr/net"
	"github.com/multiformats/go-multistream"
)

// halfHandshake connects as far as noise goes, by a new identity, and leaves it at that.
func halfHandshake(t testing.TB, h host.Host) {
	t.Helper()
	key, _, err := crypto.GenerateEd25519Key(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	tr, err := noise.New(noise.ID, key, nil)
	if err != nil {
		t.Fatal(err)
	}
	addr, err := manet.ToNetAddr(h.Addrs()[0])
	if err != nil {
		t.Fatal(err)
	}
	c, err := net.Dial("tcp", addr.String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	if _, err := multistream.SelectOneOf([]string{noise.ID}, c); err != nil {
		t.Fatal(err)
	}
	if _, err := tr.SecureOutbound(t.Context(), c, h.ID()); err != nil {
		t.Fatal(err)
	}
}
