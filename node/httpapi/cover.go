package httpapi

import (
	"fmt"
	"net/http"
	"strconv"

	"github.com/libp2p/go-libp2p/core/host"
)

// Cover is one of few peers that together hold many keys.
type Cover struct {
	Peer      string   `json:"peer"`
	Addresses []string `json:"addresses"`
	Keys      []string `json:"keys"` // that it holds and none before it
}

// CoverEnd is the last line of an answer to cover.
type CoverEnd struct {
	End     string `json:"end"`     // done
	Asked   int    `json:"asked"`   // keys
	Covered int    `json:"covered"` // of them, held by the peers named
}

// The default numbers of peers that cover and similar name, and the largest number.
const (
	DefaultTop     = 3
	DefaultSimilar = 10
	MaxTop         = 1000
)

// topParameter returns the largest number of peers to name.
func topParameter(r *http.Request, otherwise int) (int, error) {
	text := r.URL.Query().Get("top")
	if text == "" {
		return otherwise, nil
	}
	top, err := strconv.Atoi(text)
	if err != nil || top < 1 || top > MaxTop {
		return 0, fault{http.StatusBadRequest, fmt.Errorf("top: %q is not in 1 to %d", text, MaxTop)}
	}
	return top, nil
}

// cover answers with a line for each of the peers that together hold most of some keys, and one for their union.
func (a *api) cover(w http.ResponseWriter, r *http.Request) error {
	top, err := topParameter(r, DefaultTop)
	if err != nil {
		return err
	}
	keys, err := readKeys(r)
	if err != nil {
		return err
	}
	a.waitBegun(r.Context())
	here := *host.InfoFromHost(a.Node.Host())
	end := CoverEnd{End: "done", Asked: len(keys)}
	write := lines(w)
	for share, err := range a.Node.Shares(r.Context(), keys, top) {
		if err != nil {
			return err
		}
		c := Cover{Peer: share.Provider.ID.String(), Addresses: Addresses(share.Provider, here), Keys: make([]string, len(share.Keys))}
		for i, k := range share.Keys {
			c.Keys[i] = FormatKey(keys[k])
		}
		end.Covered += len(c.Keys)
		if err := write(c); err != nil {
			return nil // the client is gone
		}
	}
	_ = write(end)
	return nil
}
