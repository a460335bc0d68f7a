package httpapi

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/venn-p2p/venn/node"
	"github.com/venn-p2p/venn/node/bounded"
	"github.com/venn-p2p/venn/summary"
	"github.com/venn-p2p/venn/summary/estimate"
)

//go:embed openapi.json
var openapiJSON []byte

func (a *api) openapi(w http.ResponseWriter, _ *http.Request) error {
	w.Header().Set("Content-Type", "application/json")
	_, err := w.Write(openapiJSON)
	return err
}

// ID has the node's peer id and its addresses.
type ID struct {
	ID        string   `json:"id"`
	Addresses []string `json:"addresses"`
}

func (a *api) id(w http.ResponseWriter, _ *http.Request) error {
	here := *host.InfoFromHost(a.Node.Host())
	return writeJSON(w, ID{here.ID.String(), Addresses(here, here)})
}

// Status is the node's state, with its counts so far.
type Status struct {
	ID      string `json:"id"`
	Version string `json:"version,omitempty"`
	Keys    int    `json:"keys"`
	Epoch   string `json:"epoch,omitempty"` // epoch of the node's last summary
	node.Figures
	Reach     Reach             `json:"reach"`
	Bootstrap map[string]string `json:"bootstrap,omitempty"` // state of each bootstrap peer, see Standing
	Refused   map[string]uint64 `json:"refused"`
	Dropped   map[string]uint64 `json:"dropped"`
	Removals  string            `json:"removals,omitempty"` // a mark that changes when keys are removed
	Mirror    *Mirror           `json:"mirror,omitempty"`   // absent: there is no mirror
}

// Standing returns a text for the error of a bootstrap peer: that it is full, is of another network, does not answer,
// or was not tried yet. For nil it returns "linked".
func Standing(err error) string {
	if err == nil {
		return "linked"
	}
	return strings.TrimPrefix(err.Error(), "node: peer ")
}

func (a *api) status(w http.ResponseWriter, r *http.Request) error {
	s, err := a.Node.Status(r.Context())
	if err != nil {
		return err
	}
	out := Status{
		ID: a.Node.ID().String(), Version: a.Version, Keys: s.Keys, Figures: s.Figures, Reach: reach(a.Node.Host()),
		Bootstrap: make(map[string]string), Refused: s.Refused, Dropped: s.Dropped,
	}
	for p, standing := range s.Bootstrap {
		out.Bootstrap[p.String()] = Standing(standing)
	}
	if a.Removals != nil {
		out.Removals = a.Removals.Mark()
	}
	if a.Mirror != nil {
		out.Mirror = a.Mirror()
	}
	if s.Epoch.Sequence > 0 {
		out.Epoch = s.Epoch.String()
	}
	return writeJSON(w, out)
}

// Peer describes another node, as far as this node knows it.
type Peer struct {
	ID        string  `json:"id"`
	Connected bool    `json:"connected"`
	Linked    bool    `json:"linked"`
	RTT       float64 `json:"rtt_ms"` // 0: not known
	Keys      int     `json:"keys"`
	Parts     int     `json:"parts"`
	Bytes     int     `json:"bytes"`
	Rate      float64 `json:"false_positive_rate"`

	Addresses []string `json:"addresses"` // addresses of its connections; without one, those of its signed record
	// How the peer is known: inbound or outbound (the direction of a connection), hello, summary
	Known  []string `json:"known_by"`
	Chosen string   `json:"chosen_by,omitempty"` // why the peer is a neighbour: overlap, near, random, inbound, …
	Agent  string   `json:"agent,omitempty"`     // the program that the peer claims to run, with its version
}

func (a *api) peers(w http.ResponseWriter, r *http.Request) error {
	all, err := a.Node.Peers(r.Context())
	if err != nil {
		return err
	}
	neighbours, err := a.Node.Neighbours(r.Context())
	if err != nil {
		return err
	}
	chosen := make(map[peer.ID]string, len(neighbours))
	for _, n := range neighbours {
		chosen[n.Peer] = n.Kind
	}
	out := make([]Peer, len(all))
	for i, p := range all {
		out[i] = Peer{
			ID: p.ID.String(), Connected: p.Connected, Linked: p.Linked, RTT: milliseconds(p.RTT), Keys: p.Keys, Parts: p.Parts, Bytes: p.Bytes,
			Rate: p.Rate, Chosen: chosen[p.ID],
		}
		out[i].Addresses, out[i].Known = a.known(r.Context(), p)
		if agent, err := a.Node.Host().Peerstore().Get(p.ID, "AgentVersion"); err == nil {
			out[i].Agent, _ = agent.(string)
		}
	}
	return writeJSON(w, out)
}

// known returns the addresses of a peer, and how it is known.
func (a *api) known(ctx context.Context, p node.PeerStatus) (addresses, by []string) {
	addresses, by = []string{}, []string{}
	for _, c := range a.Node.Host().Network().ConnsToPeer(p.ID) {
		addresses = append(addresses, c.RemoteMultiaddr().String()+"/p2p/"+p.ID.String())
		if way := strings.ToLower(c.Stat().Direction.String()); !slices.Contains(by, way) {
			by = append(by, way)
		}
	}
	if len(addresses) == 0 {
		if info, err := a.Node.FindPeer(ctx, p.ID); err == nil {
			addresses = Addresses(info, *host.InfoFromHost(a.Node.Host()))
		}
	}
	if p.Linked {
		by = append(by, "hello")
	}
	if p.Parts > 0 {
		by = append(by, "summary")
	}
	return addresses, by
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

func (a *api) neighbours(w http.ResponseWriter, r *http.Request) error {
	all, err := a.Node.Neighbours(r.Context())
	if err != nil {
		return err
	}
	return writeJSON(w, append([]node.Neighbour{}, all...)) // [] for none
}

// similar lists the peers that hold the most of the node's keys.
func (a *api) similar(w http.ResponseWriter, r *http.Request) error {
	top, err := topParameter(r, DefaultSimilar)
	if err != nil {
		return err
	}
	all, err := a.Node.Similar(r.Context(), top)
	if err != nil {
		return err
	}
	return writeJSON(w, append([]node.Similar{}, all...)) // [] for none
}

// Overlap estimates the overlap of two nodes' collections.
type Overlap struct {
	Keys        [2]float64        `json:"keys"`   // numbers of keys of the first and the second
	Common      estimate.Interval `json:"common"` // number of keys of both
	Jaccard     float64           `json:"jaccard"`
	Containment float64           `json:"containment"` // share of the first's keys that the second has
	Saturated   bool              `json:"saturated"`   // no estimate is possible
	Method      string            `json:"method"`
}

// overlap compares a peer with this node, or with another peer.
func (a *api) overlap(w http.ResponseWriter, r *http.Request) error {
	p, err := peerParameter(r, "peer")
	if err != nil {
		return err
	}
	var o estimate.Overlap
	if r.FormValue("with") == "" {
		if o, err = a.Node.Overlap(r.Context(), p); err != nil {
			return fmt.Errorf("%s: %w", p, err)
		}
	} else {
		q, err := peerParameter(r, "with")
		if err != nil {
			return err
		}
		if o, err = a.overlapOf(r, p, q); err != nil {
			return err
		}
	}
	return writeJSON(w, Overlap{
		[2]float64{o.N1, o.N2}, o.Intersection, o.Jaccard, o.Containment, o.Intersection.Saturated, o.Method,
	})
}

func (a *api) overlapOf(r *http.Request, p, q peer.ID) (estimate.Overlap, error) {
	held := make([]*summary.Prefix, 2)
	for i, x := range []peer.ID{p, q} {
		h, err := a.Node.SummaryOf(r.Context(), x)
		if err != nil {
			return estimate.Overlap{}, fmt.Errorf("%s: %w", x, err)
		}
		held[i] = h
	}
	return summary.EstimateOverlap(held[0], held[1], 0.95)
}

func peerParameter(r *http.Request, name string) (peer.ID, error) {
	return parsePeer(name, r.FormValue(name))
}

func parsePeer(name, text string) (peer.ID, error) {
	p, err := peer.Decode(text)
	if err != nil {
		return "", fault{http.StatusBadRequest, fmt.Errorf("%s: %q is no peer id", name, text)}
	}
	return p, nil
}

// connect connects the node to the peer of a multiaddr.
func (a *api) connect(w http.ResponseWriter, r *http.Request) error {
	info, err := peer.AddrInfoFromString(r.FormValue("peer"))
	if err != nil {
		return fault{http.StatusBadRequest, fmt.Errorf("peer: %q is no multiaddr with /p2p/ID", r.FormValue("peer"))}
	}
	if err := a.Node.Connect(r.Context(), *info); err != nil {
		return fault{http.StatusBadGateway, errors.New(strings.Join(strings.Fields(err.Error()), " "))} // on one line
	}
	return writeJSON(w, map[string]string{"connected": info.ID.String()})
}

// Changed counts the keys of a request, and the keys that it added or removed.
type Changed struct {
	Keys    int `json:"keys"`    // keys in the request
	Changed int `json:"changed"` // keys that were added or removed
}

// addKeys adds the keys of a request.
func (a *api) addKeys(w http.ResponseWriter, r *http.Request) error {
	private, err := yesOrNo(r.URL.Query(), "private") // a form, which curl -d declares, would take the body
	if err != nil {
		return err
	}
	if private {
		return a.change(w, r, a.Node.AddPrivate)
	}
	return a.change(w, r, a.Add)
}

func (a *api) removeKeys(w http.ResponseWriter, r *http.Request) error {
	if a.Removals == nil {
		return a.change(w, r, a.Node.Remove)
	}
	return a.change(w, r, func(ctx context.Context, keys ...[]byte) (n int, err error) {
		err = a.Removals.Remove(func() (err error) { n, err = a.Node.Remove(ctx, keys...); return err })
		return n, err
	})
}

// change reads keys, one a line, and passes them to f together. So a malformed key leaves everything unchanged.
func (a *api) change(w http.ResponseWriter, r *http.Request, f changeFunc) error {
	keys, err := readKeys(r)
	if err != nil {
		return err
	}
	n, err := f(r.Context(), keys...)
	if err != nil {
		return err
	}
	return writeJSON(w, Changed{len(keys), n})
}

// Has says whether the node holds a key.
type Has struct {
	Key string `json:"key"`
	Has bool   `json:"has"`
}

// hasKeys answers with a line for each key of the request: whether the node holds the key.
func (a *api) hasKeys(w http.ResponseWriter, r *http.Request) error {
	keys, err := readKeys(r)
	if err != nil {
		return err
	}
	write, end := manyLines(w)
	for _, k := range keys {
		has, err := a.Node.Has(k)
		if err != nil {
			return err
		}
		if err := write(Has{FormatKey(k), has}); err != nil {
			return nil // the client is gone
		}
	}
	_ = end()
	return nil
}

// readKeys reads one key a line and skips empty lines. The parameter line is the number of the first line, for errors.
func readKeys(r *http.Request) (keys [][]byte, err error) {
	first := 1
	if text := r.URL.Query().Get("line"); text != "" {
		if first, err = strconv.Atoi(text); err != nil || first < 1 {
			return nil, fault{http.StatusBadRequest, fmt.Errorf("line: %q is no number of 1 or more", text)}
		}
	}
	err = bounded.Lines("", r.Body, func(number int, line []byte) error {
		if len(line) == 0 {
			return nil
		}
		key, err := ParseKey(string(line))
		if err != nil {
			return bounded.At("", first+number-1, err)
		}
		keys = append(keys, key)
		return nil
	})
	if errors.Is(err, bounded.ErrTooLong) {
		err = fmt.Errorf("%w: %w", ErrKeyText, err)
	}
	return keys, err
}

// Key is a key that the node holds.
type Key struct {
	Key string `json:"key"`
}

func (a *api) listKeys(w http.ResponseWriter, r *http.Request) error {
	write, end := manyLines(w)
	for k, err := range a.Keys(r.Context()) {
		if err != nil {
			return err
		}
		if err := write(Key{FormatKey(k)}); err != nil {
			return nil // the client is gone
		}
	}
	_ = end()
	return nil
}

// numberParameter returns a parameter that is a number of 0 or more; 0 if it is missing.
func numberParameter(r *http.Request, name string) (int, error) {
	text := r.FormValue(name)
	if text == "" {
		return 0, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		return 0, fault{http.StatusBadRequest, fmt.Errorf("%s: %q is no number of 0 or more", name, text)}
	}
	return n, nil
}

// yesOrNo returns a parameter that is true or false; false if it is missing.
func yesOrNo(parameters url.Values, name string) (bool, error) {
	if !parameters.Has(name) {
		return false, nil
	}
	yes, err := strconv.ParseBool(parameters.Get(name))
	if err != nil {
		return false, fault{http.StatusBadRequest, fmt.Errorf("%s: %q is neither true nor false", name, parameters.Get(name))}
	}
	return yes, nil
}

// maxMillis is the longest time that a parameter may give, in milliseconds: a year.
const maxMillis = 365 * 24 * 60 * 60 * 1000

// durationParameter returns a parameter in milliseconds; 0 if it is missing.
func durationParameter(r *http.Request, name string) (time.Duration, error) {
	ms, err := numberParameter(r, name)
	if err == nil && ms > maxMillis {
		err = fault{http.StatusBadRequest, fmt.Errorf("%s: %d is above %d, a year", name, ms, maxMillis)}
	}
	return time.Duration(ms) * time.Millisecond, err
}

// findOptions reads the key and the options of a query, and the time to wait until some peer has the key.
func findOptions(r *http.Request) (key []byte, o node.QueryOptions, wait time.Duration, err error) {
	if key, err = ParseKey(r.FormValue("key")); err != nil {
		return nil, o, 0, err
	}
	var errs [5]error
	o.Want, errs[0] = numberParameter(r, "count")
	o.Budget, errs[1] = numberParameter(r, "budget")
	o.Timeout, errs[2] = durationParameter(r, "timeout_ms")
	o.All, errs[3] = yesOrNo(r.Form, "all")
	wait, errs[4] = durationParameter(r, "wait_ms")
	o.Private = true // the control socket is the owner's
	return key, o, wait, cmp.Or(errs[:]...)
}
