package links

import (
	"context"
	"crypto/rand"
	"errors"
	"net"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/sec"
	"github.com/libp2p/go-libp2p/p2p/security/noise"
	libp2ptls "github.com/libp2p/go-libp2p/p2p/security/tls"
	"github.com/multiformats/go-multistream"
)

// TestCrossed has both ends of a connection take themselves for the client, with each protocol that go-libp2p secures
// connections with: both see why that fails.
func TestCrossed(t *testing.T) {
	for name, secure := range map[string]func(crypto.PrivKey) (sec.SecureTransport, error){
		"noise": func(k crypto.PrivKey) (sec.SecureTransport, error) { return noise.New(noise.ID, k, nil) },
		"tls":   func(k crypto.PrivKey) (sec.SecureTransport, error) { return libp2ptls.New(libp2ptls.ID, k, nil) },
	} {
		var ends [2]sec.SecureTransport
		var ids [2]peer.ID
		for i := range ends {
			key, _, err := crypto.GenerateEd25519Key(rand.Reader)
			if err != nil {
				t.Fatal(err)
			}
			if ends[i], err = secure(key); err != nil {
				t.Fatal(err)
			}
			if ids[i], err = peer.IDFromPrivateKey(key); err != nil {
				t.Fatal(err)
			}
		}
		crossed(t, name, func(ctx context.Context, i int, c net.Conn) error {
			_, err := ends[i].SecureOutbound(ctx, c, ids[1-i])
			return err
		})
	}
	protocols := []string{"/a", "/b"}
	crossed(t, "protocols preferred differently", func(_ context.Context, i int, c net.Conn) error {
		_, err := multistream.SelectOneOf([]string{protocols[i], protocols[1-i]}, c)
		return err
	})
	if Crossed(nil) || Crossed(errors.New("connection refused")) {
		t.Error("what did not cross is taken for crossed")
	}
}

// crossed lets both ends of a connection shake hands, and holds them to failures that Crossed knows.
func crossed(t *testing.T, name string, shake func(ctx context.Context, end int, c net.Conn) error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	a, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = a.Close() }()
	b, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = b.Close() }()
	other := make(chan error, 1)
	go func() { other <- shake(ctx, 1, b) }()
	for end, err := range []error{shake(ctx, 0, a), <-other} {
		if !Crossed(err) {
			t.Errorf("%s, end %d: %v", name, end, err)
		}
	}
}

// TestTurn: of two peers one waits.
func TestTurn(t *testing.T) {
	if Turn("a", "b") != 0 || Turn("b", "a") != crossTime {
		t.Error(Turn("a", "b"), Turn("b", "a"))
	}
}
