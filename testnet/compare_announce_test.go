package testnet

import (
	"context"
	"math"
	"testing"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/protocol"
)

const visitID protocol.ID = "/visits/1"

// visitor announces by one visit of 50,000 bytes, whatever it is for, and 10 bytes a key.
type visitor struct{ Place }

func (v visitor) Join(ctx context.Context) error {
	for _, p := range v.Begin {
		if err := v.Host.Connect(ctx, p); err != nil {
			return err
		}
	}
	return nil
}

func (v visitor) Announce(ctx context.Context, keys [][]byte) error {
	s, err := v.Host.NewStream(ctx, v.Host.Network().Peers()[0], visitID)
	if err != nil {
		return err
	}
	defer s.Close()
	_, err = s.Write(make([]byte, 50_000+10*len(keys)))
	return err
}

func (visitor) Find(context.Context, []byte, bool) (Answer, error) { return Answer{}, nil }
func (visitor) Close() error                                       { return nil }

// What a holding costs more is the slope between two announcements, not the mean of one.
func TestAnnouncingCostsTheSlope(t *testing.T) {
	visits := func(id protocol.ID) bool { return id == visitID }
	s := System{
		Name: "visits", Announce: 1 << 30, Marginal: true, Upkeep: visits, Query: visits,
		Open: func(p Place) (Peer, error) {
			p.Host.SetStreamHandler(visitID, func(s network.Stream) { _ = s.CloseRead() })
			return visitor{p}, nil
		},
	}
	cfg := few(TCP)
	cfg.Queries = 1
	for _, marginal := range []bool{true, false} {
		s.Marginal = marginal
		c, err := Compare(t.Context(), cfg, s)
		if err != nil {
			t.Fatal(err)
		}
		r, want := c.Rows[0], 10.0
		if !marginal {
			want = 10 + 50_000*float64(c.Peers)/float64(r.Announced)
		}
		if r.Announced != c.Holdings || math.Abs(r.AnnounceBytes-want) > 1 {
			t.Errorf("marginal %v: %d of %d announced at %v bytes each, want %v", marginal, r.Announced, c.Holdings, r.AnnounceBytes, want)
		}
	}
}
