package httpapi

import (
	"strings"
	"testing"
	"time"

	"github.com/ipfs/go-cid"
	"github.com/libp2p/go-libp2p/core/peer"
	mh "github.com/multiformats/go-multihash"

	"github.com/venn-p2p/venn/node"
)

// TestPrivateKeysAreTheOwners: a private key of a peer that names this node is found over the control socket. It is not
// found over /routing/v1, which is for anybody.
func TestPrivateKeysAreTheOwners(t *testing.T) {
	a := newNode(t)
	b := newNode(t, node.WithPrivatePeers(func(p peer.ID) bool { return p == a.ID() }))
	key := must(mh.Sum([]byte("secret"), mh.SHA2_256, -1))
	must(b.AddPrivate(t.Context(), key))
	add(t, b, "x")
	if err := a.Connect(t.Context(), peer.AddrInfo{ID: b.ID(), Addrs: b.Host().Addrs()}); err != nil {
		t.Fatal(err)
	}
	open, owner := serve(t, Public(Config{Node: a})), serve(t, Control(Config{Node: a}))
	c := cid.NewCidV1(cid.Raw, key).String()
	tells := func(url string) bool {
		_, _, answer := ask(t, "GET", url, "")
		return strings.Contains(answer, b.ID().String())
	}
	for end := time.Now().Add(30 * time.Second); !tells(owner + "/api/v1/find?key=" + c); time.Sleep(100 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the owner does not find it")
		}
	}
	if tells(open + "/routing/v1/providers/" + c) {
		t.Error("anybody finds it")
	}
}
