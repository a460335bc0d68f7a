package node

import (
	"testing"

	"github.com/libp2p/go-libp2p"
	rcmgr "github.com/libp2p/go-libp2p/p2p/host/resource-manager"
)

// TestServiceLimits runs a node under a resource manager whose limits let it serve no stream.
func TestServiceLimits(t *testing.T) {
	limits := rcmgr.DefaultLimits
	SetServiceLimits(&limits)
	if got := limits.AutoScale().ToPartialLimitConfig().Service[ServiceName].Streams; got < 512 {
		t.Errorf("%v streams, want 512 or more", got)
	}
	rm, err := rcmgr.NewResourceManager(rcmgr.NewFixedLimiter(rcmgr.PartialLimitConfig{
		Service: map[string]rcmgr.ResourceLimits{ServiceName: {StreamsInbound: rcmgr.BlockAllLimit}},
	}.Build(limits.AutoScale())))
	if err != nil {
		t.Fatal(err)
	}
	n := nodeOn(t, hostWith(t, libp2p.ResourceManager(rm)))
	r := &raw{t: t, h: newHost(t)}
	dialTo(t, r.h, info(n))
	if got, err := r.exchange(n, HaveID, frame([]byte{0x0a, 1, 'k'})); err == nil {
		t.Errorf("a stream over the limit is answered: % x", got)
	}
	eventually(t, "the refusal is counted", func() bool { return refusals(t, n)["resources"] > 0 })
}

// TestSilentStreams: eight peers that open as many streams as they can, and say nothing on them, leave some for another.
func TestSilentStreams(t *testing.T) {
	n := nodeOn(t, limitedHost(t, 1))
	for range 8 {
		h := newHost(t)
		dialTo(t, h, info(n))
		for range 64 {
			if _, err := h.Network().ConnsToPeer(n.host.ID())[0].NewStream(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	}
	r := &raw{t: t, h: newHost(t)}
	dialTo(t, r.h, info(n))
	if _, err := r.exchange(n, HaveID, frame([]byte{0x0a, 1, 'k'})); err != nil {
		t.Error(err)
	}
}
