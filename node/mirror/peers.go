package mirror

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"math/bits"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"
	"github.com/libp2p/go-libp2p/p2p/net/gostream"

	"github.com/venn-p2p/venn/overlay/wire"
)

// ProtocolID is the protocol, HTTP/1.1 on a stream, by which mirrors of a network give each other content. The id on
// the wire ends with a mark of the network (wire.ProtocolIn). The path is a Sum.
const ProtocolID protocol.ID = "/venn/mirror/1.0.0"

// headerState names the header with a mirror's state of content, as JSON. In a request it has two fields of the asker's
// state: Have and Origin.
const headerState = "Venn-State"

const (
	maxBlame   = 6       // blame at which a peer is asked no more for a while, or all peers for a content
	maxHeaders = 8 << 10 // bytes of a head between mirrors
	// maxTransfers and maxProbes cap the streams to a peer. A node's host takes 32 streams from one peer, and venn's
	// own protocols use some of them. Further requests wait for a stream.
	maxTransfers, maxProbes = 18, 6
)

// state is a mirror's state of content.
type state struct {
	Whole  bool      `json:"whole,omitempty"`  // the mirror has all of it, with the right hash
	Busy   bool      `json:"busy,omitempty"`   // the mirror has no room for more transfers
	Have   int64     `json:"have"`             // bytes from the beginning on that can be given at once
	Size   int64     `json:"size"`             // bytes of the content; -1: not known yet
	Origin bool      `json:"origin,omitempty"` // the mirror has asked the origin, or does so next
	Place  string    `json:"place,omitempty"`  // label of the sender's place
	Others []peer.ID `json:"others,omitempty"` // peers that asked the sender for the content before, the last ones

	lot string // the sender's lotOf the content; only for below
}

func (s state) write(h http.Header) {
	b, _ := json.Marshal(s) // numbers and a text
	h.Set(headerState, string(b))
}

// parseState reads another mirror's state.
func parseState(h http.Header) (s state, err error) {
	err = json.Unmarshal([]byte(h.Get(headerState)), &s)
	s.Have, s.Size, s.Place = max(0, s.Have), max(-1, s.Size), s.Place[:min(len(s.Place), MaxPlace)]
	s.Others = s.Others[:min(len(s.Others), enough)]
	return s, err
}

// header returns the value of a Range header that asks for s.
func (s span) header() string {
	if s.end < 0 {
		return fmt.Sprintf("bytes=%d-", s.begin)
	}
	return fmt.Sprintf("bytes=%d-%d", s.begin, s.end-1)
}

// newTransport returns an HTTP transport with at most the given streams to a peer. The host of a URL is the peer's id.
func (m *Mirror) newTransport(streams int) *http.Transport {
	return &http.Transport{
		DialContext: func(ctx context.Context, _, addr string) (net.Conn, error) {
			ctx, cancel := context.WithTimeout(ctx, m.times.late)
			defer cancel()
			name, _, _ := strings.Cut(addr, ":")
			p, _ := peer.Decode(name) // ask wrote it
			c, err := gostream.Dial(ctx, m.cfg.Host, p, m.protocol())
			if err != nil {
				return nil, err
			}
			return resetting{c}, nil
		},
		DisableCompression: true, MaxIdleConnsPerHost: 8, MaxConnsPerHost: streams, MaxIdleConns: 256, IdleConnTimeout: time.Minute, MaxResponseHeaderBytes: maxHeaders,
	}
}

// resetting is a connection on a stream. Its Close resets the stream: a plain close would wait ten seconds for a dead
// peer to agree on the protocol.
type resetting struct{ net.Conn }

func (c resetting) Close() error { return c.Conn.(network.Stream).Reset() }

func (m *Mirror) protocol() protocol.ID { return wire.ProtocolIn(m.cfg.Network, ProtocolID) }

// ask asks a peer for the range s of the content; if s is nil, for its state of the content. It calls had when the
// request has a stream, and before if the peer must be dialled: one that cannot be reached is waited for no longer than
// one that does not answer. It has those asked that the peer names. A peer refuses by errBusy, errBehind or errLacks.
func (f *flight) ask(ctx context.Context, p peer.ID, s *span, had func()) (*http.Response, state, error) {
	over, method := f.m.probes, http.MethodHead
	if s != nil {
		over, method = f.m.peers, http.MethodGet
	}
	if f.m.cfg.Host.Network().Connectedness(p) != network.Connected {
		had()
	}
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { had() }})
	u := &url.URL{Scheme: "http", Host: p.String(), Path: "/" + string(f.sum)}
	req := (&http.Request{Method: method, URL: u, Header: http.Header{"User-Agent": {""}}}).WithContext(ctx)
	f.mu.Lock()
	state{Have: f.there, Origin: f.origin}.write(req.Header)
	f.mu.Unlock()
	if s != nil {
		req.Header.Set("Range", s.header())
	}
	resp, err := over.RoundTrip(req)
	if err != nil {
		return nil, state{}, err
	}
	said, err := parseState(resp.Header) // of any status
	for _, p := range said.Others {
		if f.m.cfg.Host.Network().Connectedness(p) == network.Connected { // another may not exist
			f.news(func(time.Time) { f.name(p, true) })
		}
	}
	switch resp.StatusCode {
	case http.StatusOK, http.StatusPartialContent:
		if err == nil {
			return resp, said, nil
		}
	case errBehind.status:
		err = errBehind
	case errBusy.status:
		err = errBusy
	default:
		err = errLacks
	}
	return nil, said, errors.Join(err, resp.Body.Close())
}

// probe asks a peer for its state of the content. The peer must answer within the given time after probe calls had, as
// ask does.
func (f *flight) probe(ctx context.Context, p peer.ID, within time.Duration, had func()) (state, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	_, said, err := f.ask(ctx, p, nil, func() { // the answer has no body
		time.AfterFunc(within, cancel)
		had()
	})
	return said, err
}

// isBlamed reports whether a peer is asked no more, or peers are asked no more for a content.
func (m *Mirror) isBlamed(who string) bool {
	much, _ := m.blamed.Get(who)
	return much >= maxBlame
}

// blame adds to the blame of a peer or a content, which is 1 at least. Of two flights at once one may go uncounted: a lock
// of the mirror is not to be taken under that of a flight.
func (m *Mirror) blame(who string, more int) {
	before, _ := m.blamed.Get(who)
	m.blamed.Add(who, max(1, before+more))
}

// look is a search for holders. The flight's lock guards it.
type look struct {
	ctx   context.Context // bounds it
	began time.Time
	ended time.Time // when all peers asked had answered, or were out of time; zero: not yet
	until time.Time // time before which the origin is not asked: a peer may answer
	near  time.Time // time before which no peer brings the first range: others as near may answer; zero: none has
	named int       // peers that are said to have the content, or to fetch it, and are asked
	asked int       // peers whose answers are awaited
	holds int       // of these, peers for whose answers the origin waits
	first bool      // the origin has waited for a peer that is said to have the content, or to fetch it
}

// lookDue reports whether a look for holders may begin. f.pause must have passed since the last one ended, and each peer
// that brings a range must have moved bytes since that one began. f.mu is held.
func (f *flight) lookDue(now time.Time) bool {
	l := f.look
	looked := func(s *span) bool { return s.from != nil && s.from.ID != "" && l.began.After(s.from.moved) }
	return !f.shut() && !l.ended.IsZero() && now.Sub(l.ended) >= f.pause && !slices.ContainsFunc(f.parts, looked)
}

// seek looks for holders while a range needs a source and no known peer can bring it. The pause between looks doubles
// until a peer gives bytes or fails.
func (f *flight) seek() {
	end := func() {}
	for f.until(f.ctx, f.turn, func() (bool, error) {
		now := time.Now()
		best, s := f.next(now)
		if best != nil || s == nil || !f.lookDue(now) {
			return false, nil
		}
		f.look, f.pause = &look{began: now, until: f.in(f.m.times.lookup)}, max(busyPause, 2*f.pause)
		f.look.ctx, end = context.WithTimeout(f.ctx, f.m.times.lookup+2*f.m.times.late) // all names, and the last answer
		return true, nil
	}) == nil {
		l := f.look
		heard, _ := f.m.askers.Get(f.sum)
		for _, p := range append(f.m.drawn(f.sum), heard...) {
			f.news(func(time.Time) { f.name(p, false) })
		}
		for p := range f.m.cfg.Router.Lookup(l.ctx, f.sum.Key()) {
			f.news(func(time.Time) { f.name(p.ID, true) })
		}
		_ = f.until(l.ctx, f.turn, func() (bool, error) { return l.asked == 0, nil })
		end()
		f.news(func(now time.Time) {
			l.ended, l.until, l.near = now, now, now
			f.in(f.pause)
		})
		f.m.metrics.lookup.Observe(time.Since(l.began).Seconds())
	}
}

// name asks a peer, unless it is not to be asked now, or the look is over. The origin waits for the answers of drawn
// mirrors, and for the first answer of a peer that is said to have the content, or to fetch it, but not for those of
// peers that are blamed for anything. f.mu is held.
func (f *flight) name(p peer.ID, said bool) {
	l := f.look
	i := slices.IndexFunc(f.known, func(s *source) bool { return s.ID == p })
	switch {
	case !l.ended.IsZero() || l.named == enough || p == f.m.cfg.Host.ID() || f.m.isBlamed(string(p)):
		return
	case i < 0:
		i, f.known = len(f.known), append(f.known, &source{ID: p, out: true})
	case f.known[i].in == l || f.known[i].out && time.Now().Before(f.known[i].again):
		return
	}
	s := f.known[i]
	_, blamed := f.m.blamed.Get(string(p))
	holds := !blamed
	if holds && l.holds == 0 && !l.first {
		l.until, _ = l.ctx.Deadline()
	}
	if holds {
		l.holds++
	}
	if l.asked++; said {
		s.in = l
		l.named, l.first = l.named+1, l.first || holds
	}
	f.under.Go(func() { f.meet(l, s, holds) })
}

// drawn returns two mirrors, of this one and those connected, by the sum. All who begin to fetch it ask the same two.
func (m *Mirror) drawn(s Sum) []peer.ID {
	all := append(slices.DeleteFunc(m.cfg.Host.Network().Peers(), func(p peer.ID) bool {
		speaks, _ := m.cfg.Host.Peerstore().SupportsProtocols(p, m.protocol())
		return len(speaks) == 0
	}), m.cfg.Host.ID())
	slices.SortFunc(all, func(p, o peer.ID) int { return cmp.Compare(lotOf(p, s), lotOf(o, s)) })
	return all[:min(len(all), 2)]
}

// asks notes that a peer fetches content, and returns the others of which it was noted.
func (m *Mirror) asks(p peer.ID, s Sum) []peer.ID {
	m.mu.Lock()
	defer m.mu.Unlock()
	before, _ := m.askers.Get(s)
	others := slices.DeleteFunc(slices.Clone(before), func(o peer.ID) bool { return o == p })
	m.askers.Add(s, append(slices.Clone(others), p)[max(0, len(others)+1-enough):])
	return others
}

// meet asks a peer. One that has the content or fetches it becomes a source. holds is set if the origin waits for it. One
// that brings nothing, later than peers are looked up, is blamed, little, if no other peer is a source: far peers, which
// answer late, are not waited for the next time.
func (f *flight) meet(l *look, p *source, holds bool) {
	begun := time.Now()
	var asked time.Time
	has, err := f.probe(l.ctx, p.ID, f.m.times.late, func() {
		f.news(func(now time.Time) {
			asked = now
			if at := f.in(f.m.times.silent); holds && at.Before(l.until) {
				l.until = at
			}
		})
	})
	f.news(func(now time.Time) {
		l.asked--
		if holds {
			l.holds--
		}
		if holds && l.holds == 0 && f.there == 0 { // with bytes here, the router may take longer to name a peer
			l.until = l.began.Add(f.m.times.lookup)
		}
		if err != nil && !asked.IsZero() && now.Sub(asked) > f.m.times.lookup && !f.found() {
			f.m.blame(string(p.ID), 0)
		}
		if err != nil || has.Whole && has.Size < 0 || p.out && now.Before(p.again) {
			return
		}
		if l.near.IsZero() {
			l.near = f.in(min(f.m.times.lookup, 2*now.Sub(l.began)))
		}
		if p.out {
			p.out = false
			f.under.Go(func() { f.serve(p, f.peerTurn) })
		}
		p.state, p.trip = has, now.Sub(begun)
		ordered(f.m.cfg.Place, f.known)
		if last := len(f.parts) - 1; last >= 0 && f.parts[last].from != nil {
			f.cut(f.parts[last].from, f.parts[last]) // while nobody else was known, it took all
		}
	})
}

// ordered sorts holders: whole ones first, then ones with room, then by round trip. Round trips within a factor of two,
// or below 2 ms, count as the same: then the place decides, then the bytes that the holders have.
func ordered(place string, all []*source) {
	last := map[bool]int{true: 1}
	slices.SortFunc(all, func(a, b *source) int {
		return cmp.Or(
			last[b.Whole]-last[a.Whole], last[a.Busy]-last[b.Busy],
			cmp.Compare(bits.Len64(uint64(a.trip.Milliseconds()/2)), bits.Len64(uint64(b.trip.Milliseconds()/2))),
			cmp.Compare(common(place, b.Place), common(place, a.Place)), cmp.Compare(b.Have, a.Have), cmp.Compare(a.trip, b.trip),
		)
	})
}

// common returns how many parts two labels such as zone/rack have in common from the beginning on.
func common(a, b string) (n int) {
	slash := func(r rune) bool { return r == '/' }
	as, bs := strings.FieldsFunc(a, slash), strings.FieldsFunc(b, slash) // none for an empty label
	for n < min(len(as), len(bs)) && as[n] == bs[n] {
		n++
	}
	return n
}

// below reports whether a mirror in the asker's state may take bytes from a mirror in state s, which takes from a peer
// that has not the whole if takes is true. A mirror takes only from one of a lower rank: one that has more bytes, or
// has as many and takes from no peer. A mirror's bytes never get fewer, and it never has more than the mirror that it
// takes from. So mirrors never wait for each other in a circle. Of mirrors that begin together the one of the lowest
// rank asks the origin, because it may take from none of the others.
func (s state) below(asker state, takes bool) bool {
	switch {
	case s.Have != asker.Have:
		return s.Have > asker.Have
	case takes || s.Origin != asker.Origin:
		return !takes && s.Origin
	}
	return s.lot < asker.lot
}

// lotOf returns a hash of a peer and content, which decides between mirrors of equal states: it spreads the work.
func lotOf(p peer.ID, s Sum) string {
	h := sha256.Sum256(append([]byte(p), s.hash()...))
	return string(h[:])
}
