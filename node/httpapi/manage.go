package httpapi

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/libp2p/go-libp2p/core/event"
	"github.com/libp2p/go-libp2p/p2p/host/eventbus"

	"github.com/venn-p2p/venn/node"
)

// Ping is the result of a round trip to a peer.
type Ping struct {
	Peer string  `json:"peer"`
	RTT  float64 `json:"rtt_ms"`
}

func (a *api) ping(w http.ResponseWriter, r *http.Request) error {
	p, err := peerParameter(r, "peer")
	if err != nil {
		return err
	}
	rtt, err := a.Node.Ping(r.Context(), p)
	if errors.Is(err, node.ErrUnknown) {
		return fault{http.StatusNotFound, fmt.Errorf("no address of %s is known", p)}
	} else if err != nil {
		return fault{http.StatusBadGateway, errors.New(strings.Join(strings.Fields(err.Error()), " "))}
	}
	return writeJSON(w, Ping{p.String(), milliseconds(rtt)})
}

func (a *api) disconnect(w http.ResponseWriter, r *http.Request) error {
	p, err := peerParameter(r, "peer")
	if err != nil {
		return err
	}
	if err := a.Node.Disconnect(r.Context(), p); errors.Is(err, node.ErrUnknown) {
		return fault{http.StatusNotFound, fmt.Errorf("no connection to %s", p)}
	} else if err != nil {
		return err
	}
	return writeJSON(w, map[string]string{"disconnected": p.String()})
}

// backup answers with a backup (package store). If the answer breaks off, it lacks the checksum at the end.
func (a *api) backup(w http.ResponseWriter, r *http.Request) error {
	if a.Backup == nil {
		return fault{http.StatusNotImplemented, errors.New("this program keeps nothing")}
	}
	w.Header().Set("Content-Type", "application/octet-stream")
	return a.Backup(r.Context(), w)
}

// shutdown announces in its answer that the program ends, and then ends it.
func (a *api) shutdown(w http.ResponseWriter, _ *http.Request) error {
	if a.Shutdown == nil {
		return fault{http.StatusNotImplemented, errors.New("this program does not end on request")}
	}
	err := writeJSON(w, map[string]bool{"ending": true})
	_ = http.NewResponseController(w).Flush()
	a.Shutdown()
	return err
}

// logLevel sets the level of the program's log, if the request has one, and answers with the level.
func (a *api) logLevel(w http.ResponseWriter, r *http.Request) error {
	if a.Level == nil {
		return fault{http.StatusNotImplemented, errors.New("this program's log has one level")}
	}
	var level slog.Level
	if text := r.FormValue("level"); text != "" {
		if err := level.UnmarshalText([]byte(text)); err != nil {
			return fault{http.StatusBadRequest, fmt.Errorf("level: %q, must be debug, info, warn or error", text)}
		}
		a.Level.Set(level)
	}
	return writeJSON(w, map[string]string{"level": strings.ToLower(a.Level.Level().String())})
}

// Event is something that happened to the node.
type Event struct {
	// Linked, unlinked, chosen (as a neighbour), dropped (as a neighbour), learned, tail or published
	Type  string    `json:"type"`
	Time  time.Time `json:"time"`
	Peer  string    `json:"peer,omitempty"`  // the other end of the link, or the origin of what was learned
	Epoch string    `json:"epoch,omitempty"` // epoch of the summary
	Parts int       `json:"parts,omitempty"` // parts of the summary that are held, or were published
	Keys  int       `json:"keys,omitempty"`  // keys in the published summary
	Bytes int       `json:"bytes,omitempty"` // bytes of the published summary

	Number  uint32 `json:"number,omitempty"`  // number of the tail, from 1 in each epoch
	Added   int    `json:"added,omitempty"`   // keys that the origin's tails have added since the summary
	Removed int    `json:"removed,omitempty"` // keys that they have removed since the summary
}

// events answers with a line for each peer that is linked now, and then with a line for each event. It ends after
// count lines, if count is above 0, or when the client closes the connection.
func (a *api) events(w http.ResponseWriter, r *http.Request) error {
	count, err := numberParameter(r, "count")
	if err != nil {
		return err
	}
	types := []any{new(node.EvtLinkOpened), new(node.EvtLinkClosed), new(node.EvtNeighbourChosen), new(node.EvtNeighbourDropped), new(node.EvtSummaryLearned), new(node.EvtTailLearned), new(node.EvtSummaryPublished)}
	events, err := a.Node.Host().EventBus().Subscribe(types, eventbus.BufSize(eventQueue))
	if err != nil {
		return err
	}
	defer func() { _ = events.Close() }()
	feed := drained(events)
	peers, err := a.Node.Peers(r.Context())
	if err != nil {
		return err
	}
	write, n := lines(w), 0
	send := func(e Event) bool {
		e.Time = time.Now().UTC()
		n++
		return write(e) == nil && n != count
	}
	for _, p := range peers {
		if p.Linked && !send(Event{Type: "linked", Peer: p.ID.String()}) {
			return nil
		}
	}
	for {
		select {
		case <-r.Context().Done():
			return nil
		case e, more := <-feed:
			if !more || !send(eventOf(e)) {
				return nil
			}
		}
	}
}

// eventQueue is the most events that wait for a client. Further ones are dropped.
const eventQueue = 1024

// drained returns a channel with the subscription's events, until the subscription is closed. When the channel is full
// it drops events, so that the bus never waits.
func drained(events event.Subscription) <-chan any {
	feed := make(chan any, eventQueue)
	go func() {
		defer close(feed)
		for e := range events.Out() {
			select {
			case feed <- e:
			default:
			}
		}
	}()
	return feed
}

func eventOf(e any) Event {
	switch e := e.(type) {
	case node.EvtLinkOpened:
		return Event{Type: "linked", Peer: e.Peer.String()}
	case node.EvtLinkClosed:
		return Event{Type: "unlinked", Peer: e.Peer.String()}
	case node.EvtNeighbourChosen:
		return Event{Type: "chosen", Peer: e.Peer.String()}
	case node.EvtNeighbourDropped:
		return Event{Type: "dropped", Peer: e.Peer.String()}
	case node.EvtSummaryLearned:
		return Event{Type: "learned", Peer: e.Origin.String(), Epoch: e.Epoch.String(), Parts: e.Parts}
	case node.EvtTailLearned:
		return Event{Type: "tail", Peer: e.Origin.String(), Epoch: e.Epoch.String(), Number: e.Number, Added: e.Added, Removed: e.Removed}
	case node.EvtSummaryPublished:
		return Event{Type: "published", Epoch: e.Epoch.String(), Parts: e.Parts, Keys: e.Keys, Bytes: e.Bytes}
	}
	return Event{Type: fmt.Sprintf("%T", e)}
}
