package node

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/venn-p2p/venn/node/keystore"
	"github.com/venn-p2p/venn/overlay/rank"
)

// boast are keys that are published, and not held.
type boast struct{ keystore.Memory }

func (*boast) Has([]byte) (bool, error) { return false, nil }

// agreeing are keys that are published, and held like all others.
type agreeing struct{ keystore.Memory }

func (*agreeing) Has([]byte) (bool, error) { return true, nil }

// TestAudit: a peer that claims our whole collection, and says no or yes to all keys, loses its place among the
// neighbours by overlap, also while only its seed is the previous one. A node whose keys cannot be listed asks for none,
// and keeps it.
func TestAudit(t *testing.T) {
	t.Parallel()
	var keys [][]byte
	for i := range 1000 {
		sum := sha256.Sum256([]byte{byte(i >> 8), byte(i)})
		keys = append(keys, sum[:])
	}
	beside := func(network string, k, liars keystore.Keys, opts ...Option) (n, boaster *Node) { // in a network of two
		n = newNode(t, append([]Option{WithNetwork(network, 0), WithKeys(k)}, opts...)...)
		boaster = newNode(t, WithNetwork(network, 0), WithKeys(liars))
		add(t, n, keys...)
		add(t, boaster, keys...)
		connect(t, n, boaster)
		return n, boaster
	}
	careful, boaster := beside("careful", &keystore.Memory{}, &boast{})
	careless, other := beside("careless", unlisted{&keystore.Memory{}}, &boast{})
	wary, agrees := beside("wary", &keystore.Memory{}, &agreeing{})
	rotating, behind := beside("rotating", &keystore.Memory{}, &boast{}, WithNetwork("rotating", 1), WithPreviousSeed(0, time.Now().Add(time.Hour)))
	for n, liar := range map[*Node]*Node{careful: boaster, wary: agrees, rotating: behind} {
		eventually(t, fmt.Sprint(n.cfg.seed, ": it has found out"), func() bool {
			misses := 0
			look(t, n, func(l *loop) {
				for _, c := range l.core.Overlay.Candidates(keys[0], n.hasher.Fingerprint(keys[0])) {
					misses = c.Misses
				}
			})
			return misses == rank.AuditKeys && !byOverlap(t, n, liar.ID())
		})
	}
	eventually(t, "the careless one has not", func() bool { return byOverlap(t, careless, other.ID()) })
}

// byOverlap says whether p is a neighbour of n by overlap.
func byOverlap(t *testing.T, n *Node, p peer.ID) bool {
	t.Helper()
	all, err := n.Neighbours(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return slices.ContainsFunc(all, func(nb Neighbour) bool {
		return nb.Peer == p && nb.Kind == KindOverlap
	})
}
