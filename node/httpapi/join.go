package httpapi

import (
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"
)

// JoinEnd is the last line of the answer to join. It tells the bytes moved, without the overhead of the network.
type JoinEnd struct {
	End        string  `json:"end"`        // done
	Peers      int     `json:"peers"`      // number of peers whose keys were joined
	Common     int     `json:"common"`     // keys that all hold
	Candidates int     `json:"candidates"` // keys that all peers together sent
	Filters    int     `json:"filter_bytes"`
	Keys       int     `json:"key_bytes"`
	Moved      int     `json:"moved_bytes"` // bytes of filters and keys
	Shipping   int     `json:"all_bytes"`   // bytes that sending all keys would have taken
	Elapsed    float64 `json:"elapsed_ms"`
}

// join answers with a line for each key that all of the given peers hold, and a JoinEnd.
func (a *api) join(w http.ResponseWriter, r *http.Request) error {
	peers, err := joinPeers(r)
	if err != nil {
		return err
	}
	others, err := yesOrNo(r.URL.Query(), "others")
	if err != nil {
		return err
	}
	if !others && !slices.Contains(peers, a.Node.ID()) {
		peers = append(peers, a.Node.ID())
	}
	begun := time.Now()
	keys, report, err := a.Node.Join(r.Context(), peers...)
	if err != nil {
		return err
	}
	write := lines(w)
	for _, k := range keys {
		if err := write(Key{FormatKey(k)}); err != nil {
			return nil // the client is gone
		}
	}
	_ = write(JoinEnd{
		End: "done", Peers: len(peers), Common: len(keys), Candidates: report.Candidates, Filters: report.Collected + report.Returned,
		Keys: report.KeysMoved, Moved: report.Moved(), Shipping: report.Shipping, Elapsed: milliseconds(time.Since(begun)),
	})
	return nil
}

// maxJoined is the most peers of a join, because the filters of all are in memory at the same time.
const maxJoined = 32

// joinPeers returns the peers that a request names, each once.
func joinPeers(r *http.Request) (out []peer.ID, err error) {
	texts := r.URL.Query()["peer"]
	if len(texts) == 0 || len(texts) > maxJoined {
		return nil, fault{http.StatusBadRequest, errors.New("peer: 1 to 32 must be named")}
	}
	for _, text := range texts {
		p, err := parsePeer("peer", text)
		if err != nil {
			return nil, err
		}
		if !slices.Contains(out, p) {
			out = append(out, p)
		}
	}
	return out, nil
}
