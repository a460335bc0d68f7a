package mirror

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/expirable"
	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/peer"
	"golang.org/x/sync/singleflight"

	"github.com/venn-p2p/venn/node/httpapi"
	"github.com/venn-p2p/venn/node/internal/tasks"
	"github.com/venn-p2p/venn/overlay/admission"
)

// Config is a mirror's configuration. Host, Router and Dir are required.
type Config struct {
	Host     host.Host // a node's Host, which knows how to dial holders, and whom it bars; Close leaves it open
	Network  string    // name of the network: mirrors of another network do not speak the same protocol
	Router   Router
	Dir      string       // folder of the cache; one mirror uses it at a time
	Size     int64        // bytes that the cache may take, 16 MiB or more
	Place    string       // location as zone/rack; equally near peers that share more of it come first
	Upstream Upstream     // the origins
	Log      *slog.Logger // nil: slog.Default

	times times // zero: defaultTimes
}

// Upstream has the URLs of the origins, with http or https. An origin with an empty URL is not mirrored.
type Upstream struct {
	Go, Nix, HF, Apt string
	OCI              []string // registries; one without a scheme is asked by https
}

// LeastSize is the least size of a cache that is of use, and MaxPlace the longest label of a place, in bytes.
const LeastSize, MaxPlace = 16 << 20, 128

// Peers, contents and files that are blamed, names open to everybody, contents asked for: how many are noted, how long.
const maxNoted, notedTime = 4096, 10 * time.Minute

// Mirror is a mirror. It is safe for concurrent use.
type Mirror struct {
	cfg     Config
	log     *slog.Logger
	cache   *cache
	times   times
	metrics *metrics
	peers   *http.Transport // transport for transfers from peers
	probes  *http.Transport // transport for questions to peers, which do not wait for transfers
	web     *http.Client    // client for origins
	origins origins
	clients *admission.Slots               // places of clients' requests
	served  *admission.Slots               // places of peers' requests
	blamed  *expirable.LRU[string, int]    // peers, sums, and files for which the disk had no room
	open    *expirable.LRU[string, bool]   // whether the origin gives the content of a name to everybody
	askers  *expirable.LRU[Sum, []peer.ID] // peers that have asked for content, the last ones
	asked   singleflight.Group             // names that the origin is asked for now

	ctx    context.Context // ends with Close
	cancel context.CancelFunc
	closed sync.Once
	tasks  tasks.Group

	mu      sync.Mutex
	flights map[Sum]*flight
	recent  []httpapi.Fetch // the last fetches, the newest first
}

// New opens a mirror's cache, advertises its content, and serves peers. The error names every fault of cfg, or matches
// ErrInUse, or is the disk's or the router's.
func New(cfg Config) (*Mirror, error) {
	origins, err := cfg.Upstream.parse()
	if cfg.Host == nil || cfg.Router == nil || cfg.Dir == "" || cfg.Size < LeastSize || len(cfg.Place) > MaxPlace {
		err = errors.Join(err, fmt.Errorf("mirror: needs a host, a router, a folder, a size of %d bytes or more (%d), and a place of at most %d bytes (%d)", LeastSize, cfg.Size, MaxPlace, len(cfg.Place)))
	}
	if err != nil {
		return nil, err
	}
	m := &Mirror{
		cfg: cfg, log: cmp.Or(cfg.Log, slog.Default()), times: cmp.Or(cfg.times, defaultTimes), flights: make(map[Sum]*flight), origins: origins,
		clients: admission.NewSlots(maxClients), served: admission.NewSlots(maxServed),
		blamed: expirable.NewLRU[string, int](maxNoted, nil, notedTime),
		open:   expirable.NewLRU[string, bool](maxNoted, nil, notedTime),
		askers: expirable.NewLRU[Sum, []peer.ID](maxNoted, nil, notedTime),
	}
	m.ctx, m.cancel = context.WithCancel(context.Background())
	m.metrics, m.web = m.newMetrics(), m.newOrigin()
	m.peers, m.probes = m.newTransport(maxTransfers), m.newTransport(maxProbes)
	if err := m.start(); err != nil {
		return nil, errors.Join(err, m.Close())
	}
	return m, nil
}

// meeting is the sum whose key all mirrors advertise. The network spreads no word of a peer without keys, so a mirror
// without content would not be known when others begin to fetch what it has just begun to fetch.
var meeting = sumOf(kindPlain, sha256.Sum256([]byte("venn mirror")))

// start opens the cache, advertises its content, and serves peers.
func (m *Mirror) start() error {
	cache, err := openCache(m.cfg.Dir, m.cfg.Size, func(gone ...Sum) { m.tell(m.cfg.Router.Withdraw, gone...) })
	if err != nil {
		return err
	}
	m.cache = cache
	if err := m.cfg.Router.Advertise(m.ctx, append(keysOf(cache.whole()), meeting.Key())...); err != nil {
		return fmt.Errorf("mirror: %w", err)
	}
	return m.servePeers()
}

// tell has the router advertise or withdraw the keys of content, and logs a failure. It works while the mirror closes,
// too.
func (m *Mirror) tell(how func(context.Context, ...[]byte) error, sums ...Sum) {
	keys := keysOf(sums)
	if len(keys) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), m.times.stuck)
	defer cancel()
	if err := how(ctx, keys...); err != nil {
		m.log.Warn("mirror: peers do not learn what came or went", "sums", sums, "err", err)
	}
}

// keysOf returns the keys of all sums but those of records: other peers get no records.
func keysOf(sums []Sum) (keys [][]byte) {
	for _, s := range sums {
		if s.kind() != kindName {
			keys = append(keys, s.Key())
		}
	}
	return keys
}

// Close ends all fetches, and serves nobody any more. The cache's content stays advertised, for the next run.
func (m *Mirror) Close() (err error) {
	m.cancel()
	m.tasks.Close()
	m.tasks.Wait()
	m.peers.CloseIdleConnections()
	m.probes.CloseIdleConnections()
	m.web.CloseIdleConnections()
	if m.cache != nil {
		m.closed.Do(func() { err = m.cache.lock.Close() })
	}
	return err
}
