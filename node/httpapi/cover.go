package httpapi

import (
	"fmt"
	"net/http"
	"strconv"

	"github.com/libp2p/go-libp2p/core/host"
)

// Cover is one of the few peers that together hold most of many keys.
type Cover struct {
	Peer      string   `json:"peer"`
	Addresses []string `json:"addresses"`
	Keys      []string `json:"keys"` // the keys that this peer holds and no peer listed before it
}

// CoverEnd is the last line of the answer to cover.
type CoverEnd struct {
	End     string `json:"end"`     // done
	Asked   int    `json:"asked"`   // number of keys asked for
	Covered int    `json:"covered"` // number of these keys that the listed peers hold
}

// Default numbers of peers that cover and similar list, and the largest number that a request may ask for.
const (
	DefaultTop     = 3
	DefaultSimilar = 10
	MaxTop         = 1000
)

// topParameter returns the parameter top, the most peers to list; otherwise if it is missing.
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

// cover answers with a line for each of the peers that together hold most of the given keys, and a CoverEnd.
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
	for found, err := range a.Node.Cover(r.Context(), keys, top) {
		if err != nil {
			return err
		}
		c := Cover{Peer: found.Provider.ID.String(), Addresses: Addresses(found.Provider, here), Keys: make([]string, len(found.Keys))}
		for i, k := range found.Keys {
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
