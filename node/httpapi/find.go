package httpapi

import (
	"context"
	"net/http"
	"time"

	"github.com/libp2p/go-libp2p/core/host"

	"github.com/venn-p2p/venn/node"
)

type changeFunc func(context.Context, ...[]byte) (int, error)

// Provider is a peer that holds a key.
type Provider struct {
	Key       string   `json:"key"`
	Peer      string   `json:"peer"`
	Addresses []string `json:"addresses"`
}

// FindEnd is the last line of the answer to find. It tells the cost of the query.
type FindEnd struct {
	End         string  `json:"end"` // enough, exhausted, out of budget, out of time, …
	Key         string  `json:"key"`
	Found       int     `json:"found"`
	Probes      int     `json:"probes"`       // peers asked whether they hold the key
	FalseProbes int     `json:"false_probes"` // probes that were answered no
	Messages    int     `json:"messages"`     // messages sent and received for the query
	Elapsed     float64 `json:"elapsed_ms"`
	// Share of the network, in [0, 1], that this node knows or that was asked
	Covered float64 `json:"covered"`
	// Age, in ms, of the oldest statement of a linked peer that was used in place of a question; 0: none was used
	AsOf      float64 `json:"as_of"`
	Asked     []Asked `json:"asked,omitempty"` // every question about the key, in order
	Inquiries int     `json:"inquiries"`       // other peers asked for more contacts, two messages each
}

// Asked is one question of a query: the peer, the reason, and the answer.
type Asked struct {
	Peer        string  `json:"peer"`
	Why         string  `json:"why"`
	Probability float64 `json:"probability"` // estimate before the question that the peer holds the key
	Result      string  `json:"result"`
	Names       int     `json:"names,omitempty"`
	At          float64 `json:"at_ms"` // time from the beginning of the query to the question
	// Time from the question to its last answer, or until it was given up; 0: still waiting
	Took  float64 `json:"took_ms"`
	Bytes int     `json:"bytes,omitempty"` // bytes of the messages, question and answers together
	// If the peer was asked for names: the range that its answer counts for, as the first bits of its places, or all
	Range string `json:"range,omitempty"`
}

// find answers with a line for each provider as it is found, this node included, and a FindEnd.
func (a *api) find(w http.ResponseWriter, r *http.Request) error {
	key, o, wait, err := findOptions(r)
	if err != nil {
		return err
	}
	text, here := FormatKey(key), *host.InfoFromHost(a.Node.Host())
	own, err := a.Node.Has(key)
	if err != nil {
		return err
	}
	if own && !o.All && o.Want <= 1 {
		write := lines(w)
		_ = write(Provider{text, here.ID.String(), Addresses(here, here)})
		_ = write(FindEnd{Key: text, End: "enough", Found: 1, Asked: []Asked{}})
		return nil
	}
	if own && !o.All {
		o.Want--
		o.Others = true
	}
	a.waitBegun(r.Context())
	if !own {
		a.await(r, key, wait)
	}
	results, err := a.Node.Query(r.Context(), key, o)
	if err != nil {
		return err
	}
	write := lines(w)
	if own {
		_ = write(Provider{text, here.ID.String(), Addresses(here, here)})
	}
	for p := range results.Providers() {
		_ = write(Provider{text, p.ID.String(), Addresses(p, here)})
	}
	end := findEnd(results, text)
	if own {
		end.Found++
	}
	_ = write(end)
	return nil
}

// await waits until a peer is known to have a key, or until the time wait is over.
func (a *api) await(r *http.Request, key []byte, wait time.Duration) {
	if wait <= 0 {
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), wait)
	defer cancel()
	for range a.Node.Watch(ctx, key) {
		return
	}
}

// beginTime is the longest time that find and cover wait for the first connections of a node that has just started.
const beginTime = 3 * time.Second

func (a *api) waitBegun(ctx context.Context) {
	select {
	case <-a.Node.Begun():
	case <-time.After(beginTime):
	case <-ctx.Done():
	}
}

func findEnd(results *node.Results, key string) FindEnd {
	s, err := results.Stats()
	end := FindEnd{
		Key: key, End: s.End, Found: s.Found, Probes: s.Probes, FalseProbes: s.FalseProbes, Messages: s.Messages,
		Inquiries: s.Inquiries, Elapsed: milliseconds(s.Elapsed), Covered: s.Covered, AsOf: milliseconds(s.AsOf),
		Asked: make([]Asked, len(s.Explain)),
	}
	if err != nil {
		end.End = err.Error()
	}
	for i, q := range s.Explain {
		end.Asked[i] = asked(q)
	}
	return end
}

func asked(q node.Question) Asked {
	return Asked{q.Peer.String(), q.Why, q.Probability, q.Result, q.Names, milliseconds(q.At), milliseconds(q.Took), q.Bytes, q.Range}
}
