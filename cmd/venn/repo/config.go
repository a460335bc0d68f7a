package repo

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net"
	"os"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/BurntSushi/toml"

	"github.com/venn-p2p/venn/node/bounded"
	"github.com/venn-p2p/venn/node/mirror"
)

// Config is the configuration of a daemon. The tags of a field declare a key. Its name in the file is toml, the text
// of its default is default (without it: 0 or empty), its unit is unit, and the comment above it in the file is doc.
// Check applies the rules in the tags least (with zero, the meaning of 0), one (the allowed words) and form (see
// forms).
type Config struct {
	Network   Network   `toml:"network"`
	Addresses Addresses `toml:"addresses"`
	Discovery Discovery `toml:"discovery"`
	NAT       NAT       `toml:"nat"`
	Content   Content   `toml:"content"`
	Limits    Limits    `toml:"limits"`
	HTTP      HTTP      `toml:"http"`
	Log       Log       `toml:"log"`
	Mirror    Mirror    `toml:"mirror"`
}

// Network sets the network that the daemon belongs to.
type Network struct {
	Name string `toml:"name" default:"venn" doc:"Name of the network, 1 to 64 bytes. Only peers with the same name meet."`
	Seed uint32 `toml:"seed" doc:"Number of the hash seed. Peers compare summaries only under the same number. All keys are hashed again when it changes."`

	PreviousSeed  uint32 `toml:"previous_seed" doc:"Number that the network had before seed, while its peers change one by one. Until previous_until this peer finds those that still have it, and they find it."`
	PreviousUntil string `toml:"previous_until" form:"time such as 2030-01-31T12:00:00Z" doc:"Time, such as 2030-01-31T12:00:00Z, by which all peers have the new seed; then all that is under previous_seed is dropped. Empty: there is no previous seed."`
}

// Previous returns the time until which the previous seed is used; ok is false if there is none.
func (n Network) Previous() (until time.Time, ok bool) {
	until, err := time.Parse(time.RFC3339, n.PreviousUntil)
	return until, err == nil
}

// Addresses sets the addresses at which the daemon listens for peers, and those that it announces.
type Addresses struct {
	Listen   []string `toml:"listen" form:"multiaddr" doc:"Multiaddrs to listen on for peers. Where all are on the default port, 4101, and another program has that, the peer takes another port, the same each time."`
	Announce []string `toml:"announce" form:"multiaddr" doc:"Multiaddrs to tell peers instead of those listened on; empty: those listened on."`

	AnnounceAlso []string `toml:"announce_also" form:"multiaddr" doc:"Multiaddrs to tell peers besides, as that of a port forwarded by hand."`
}

// Discovery sets how the daemon finds peers.
type Discovery struct {
	Bootstrap []string `toml:"bootstrap" form:"multiaddr with /p2p/ID" doc:"Multiaddrs, with /p2p/ID, of peers to connect to at the start, and again where there is no connection, every ten minutes at least."`
	MDNS      bool     `toml:"mdns" default:"true" doc:"Find peers of the same network name on the local network by multicast DNS."`
}

// NAT sets how a daemon behind a NAT is reached.
type NAT struct {
	PortMap      bool     `toml:"port_map" default:"true" doc:"Ask the router to forward a port (UPnP, NAT-PMP)."`
	HolePunching bool     `toml:"hole_punching" default:"true" doc:"Turn relayed connections into direct ones."`
	Relays       []string `toml:"relays" form:"multiaddr with /p2p/ID" doc:"Multiaddrs, with /p2p/ID, of relays to be reached through when no direct connection works."`
	RelayService bool     `toml:"relay_service" doc:"Relay for others, within libp2p's limits, when this daemon is reachable itself."`
}

// Content sets which peers serve the content of the keys, and whether other peers may join with this one.
type Content struct {
	Joins    bool     `toml:"joins" doc:"Take part in joins of others. Whoever asks for one can have all keys listed, which a summary does not give away."`
	ServedBy []string `toml:"served_by" form:"multiaddr with /p2p/ID" doc:"Multiaddrs, with /p2p/ID, of who serves the content (an IPFS node); users of /routing/v1 are sent there. Empty: nobody but this peer."`
}

// Limits limits the daemon's use of the line, connections, memory and disk.
type Limits struct {
	Up          int64   `toml:"up" least:"8000" zero:"not declared" unit:"bit/s" doc:"Rate of the line towards peers, in bit/s; 0: not declared, counts as 10 Mbit/s."`
	Down        int64   `toml:"down" least:"8000" zero:"not declared" unit:"bit/s" doc:"Rate of the line from peers, in bit/s; 0: not declared, counts as 10 Mbit/s."`
	Share       float64 `toml:"share" default:"0.3333333333333333" doc:"Share of a link's rate that summaries may use, above 0 and at most 1."`
	Connections int     `toml:"connections" default:"32" least:"13" doc:"Connections that the peer makes, and links that it takes, at most; 13 or more."`
	Memory      int     `toml:"memory" default:"64MiB" least:"65536" unit:"bytes" doc:"Bytes of others' summaries kept at most; 65536 or more."`
	Origins     int     `toml:"origins" default:"131072" least:"1" doc:"Peers whose summaries are kept at most, linked ones not counted. Of a larger network the peer covers a range and asks others about the rest. Memory is mostly the tighter limit."`
	Cache       int64   `toml:"cache" default:"32MiB" least:"1048576" unit:"bytes" doc:"Bytes of the store's cache."`
}

// HTTP sets the address of the HTTP API for other programs.
type HTTP struct {
	Listen string   `toml:"listen" form:"host:port" doc:"Address (host:port) of /routing/v1, metrics, health and the page; whoever reaches it may ask for keys, and change nothing; empty: none. Commands use a socket in the repository."`
	Names  []string `toml:"names" doc:"Names under which programs and browsers may ask, besides addresses, localhost and names below localhost."`
}

// Log sets the level and the form of the log.
type Log struct {
	Level  string `toml:"level" default:"info" one:"debug, info, warn or error" doc:"Least level that is logged: debug, info, warn or error."`
	Format string `toml:"format" default:"text" one:"text or json" doc:"Form of the log's lines: text or json."`
}

// Mirror sets what the daemon fetches for clients of registries and package archives.
type Mirror struct {
	Listen   string   `toml:"listen" form:"host:port" doc:"Address (host:port) at which clients ask the mirror: /v2/ for container images, /go, /nix, /hf and /apt; empty: there is no mirror. Names of this host other than localhost stand in http.names."`
	Size     int64    `toml:"size" default:"10GiB" unit:"bytes" doc:"Bytes that the mirror keeps on disk at most; 16 MiB or more."`
	Place    string   `toml:"place" doc:"Label of where this peer is, as zone/rack. Of holders that answer equally fast, those with more in common are asked first."`
	Upstream Upstream `toml:"upstream"`
}

// Upstream has the origins from which the mirror fetches content that no peer has.
type Upstream struct {
	Go  string   `toml:"go" doc:"URL of the module proxy behind /go; empty: none."`
	Nix string   `toml:"nix" doc:"URL of the binary cache behind /nix; empty: none."`
	HF  string   `toml:"hf" doc:"URL of the hub behind /hf; empty: none."`
	Apt string   `toml:"apt" doc:"URL of the Debian archive behind /apt; empty: none."`
	OCI []string `toml:"oci" doc:"Registries behind /v2/, hosts or URLs. One is chosen by ?ns=, or by the first part of a name; else it is the first. Without http:// they are asked by https."`
}

// ErrConfig is matched by all errors about the contents of a configuration.
var ErrConfig = errors.New("configuration")

// DefaultPort is the port of a user's one peer, for TCP and UDP, unless another program has it.
const DefaultPort = 4101

// UseDefaultPort sets the listen addresses to the default port.
func (c *Config) UseDefaultPort() { c.Addresses.Listen = listenOn(DefaultPort) }

// newConfig returns the defaults, but with free ports for peers and for HTTP.
func newConfig() (Config, error) {
	c := defaults()
	port, err := freePort(rand.IntN, 0)
	if err != nil {
		return c, err
	}
	httpPort, err := freePort(rand.IntN, port)
	c.Addresses.Listen, c.HTTP.Listen = listenOn(port), fmt.Sprintf("127.0.0.1:%d", httpPort)
	return c, err
}

// listenOn returns the addresses that listen on a port, by TCP and QUIC.
func listenOn(port int) []string {
	return []string{
		fmt.Sprintf("/ip4/0.0.0.0/tcp/%d", port), fmt.Sprintf("/ip4/0.0.0.0/udp/%d/quic-v1", port),
		fmt.Sprintf("/ip6/::/tcp/%d", port), fmt.Sprintf("/ip6/::/udp/%d/quic-v1", port),
	}
}

// Local restricts a configuration to this machine. It replaces wildcard listen addresses by loopback, and turns off
// multicast DNS, port mapping and hole punching.
func (c *Config) Local() {
	for i, a := range c.Addresses.Listen {
		a = strings.Replace(a, "/ip4/0.0.0.0/", "/ip4/127.0.0.1/", 1)
		c.Addresses.Listen[i] = strings.Replace(a, "/ip6/::/", "/ip6/::1/", 1)
	}
	c.Discovery.MDNS, c.NAT.PortMap, c.NAT.HolePunching = false, false, false
}

// FirstPort and EndPort bound the ports that are drawn for peers: FirstPort is the first, EndPort the one after the
// last. Systems take higher ports for outgoing connections: Linux from 32768 on, most from 49152. So no outgoing
// connection of another program holds a peer's port when the peer starts again.
const (
	FirstPort = 22000
	EndPort   = 32768
)

// freePort draws a port that is free for TCP and UDP, and is not other.
func freePort(draw func(below int) int, other int) (int, error) {
	var err error
	for range 100 {
		port := FirstPort + draw(EndPort-FirstPort)
		if port == other {
			continue
		}
		if err = tryPort(":" + strconv.Itoa(port)); err == nil {
			return port, nil
		}
	}
	return 0, fmt.Errorf("no free port: %w", err)
}

// tryPort returns an error if an address cannot be listened on by both TCP and UDP.
func tryPort(at string) error {
	l, err := net.Listen("tcp", at)
	if err != nil {
		return err
	}
	defer func() { _ = l.Close() }()
	u, err := net.ListenPacket("udp", at)
	if err != nil {
		return err
	}
	return u.Close()
}

// Config reads the configuration file. Variables of the environment override its keys.
func (r Repo) Config() (Config, error) {
	c, err := r.FileConfig()
	if err != nil {
		return c, err
	}
	return c, c.override(os.LookupEnv)
}

// FileConfig reads the configuration file alone. A key that the file lacks has its default.
func (r Repo) FileConfig() (Config, error) { return readConfig(r.ConfigPath()) }

// readConfig reads a configuration file.
func readConfig(path string) (Config, error) {
	c := defaults()
	b, err := bounded.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return c, fmt.Errorf("%w: no file %s: put back a copy, or make an empty one for the defaults", ErrConfig, path)
	}
	if err != nil {
		return c, err
	}
	var file map[string]any // for errors: the library's words for a wrong type are those of Go
	if _, err := toml.Decode(string(b), &file); err != nil {
		var p toml.ParseError
		if errors.As(err, &p) {
			return c, fmt.Errorf("%w: %s: line %d: %s", ErrConfig, path, p.Position.Line, p.Message)
		}
		return c, fmt.Errorf("%w: %s: %w", ErrConfig, path, err)
	}
	meta, err := toml.Decode(string(b), &c)
	if err != nil {
		return c, fmt.Errorf("%s: %w", path, cmp.Or(c.mistyped(file), fmt.Errorf("%w: %w", ErrConfig, err)))
	}
	if unknown := meta.Undecoded(); len(unknown) > 0 {
		return c, fmt.Errorf("%w: %s: unknown key %s; %s", ErrConfig, path, unknown[0], known(unknown[0].String()))
	}
	if err := c.Check(); err != nil {
		return c, fmt.Errorf("%s: %w", path, err)
	}
	return c, nil
}

// defaults returns the configuration that an empty file gives: on the default port, without an address for HTTP.
func defaults() (c Config) {
	for _, e := range c.entries() {
		if text, ok := e.tag.Lookup("default"); ok || e.value.Kind() == reflect.Slice {
			if err := e.set(text); err != nil {
				panic(err) // cannot be: the tags above are valid
			}
		}
	}
	c.UseDefaultPort()
	return c
}

// Change reads the configuration file, calls change, and writes the file. Only one process at a time does so. change
// must check the configuration. After an error nothing is written.
func (r Repo) Change(ctx context.Context, change func(*Config) error) (c Config, err error) {
	err = whileLocked(ctx, r.path(configLock), func() error {
		if c, err = r.FileConfig(); err != nil {
			return err
		}
		if err := change(&c); err != nil {
			return err
		}
		return r.SaveConfig(c)
	})
	return c, err
}

// ErrChanged says that the configuration changed while it was edited.
var ErrChanged = errors.New("the configuration was changed meanwhile")

// Replace replaces the configuration file by the file at path, if that is valid and the configuration still has the
// text before.
func (r Repo) Replace(ctx context.Context, before []byte, path string) error {
	return whileLocked(ctx, r.path(configLock), func() error {
		if _, err := readConfig(path); err != nil {
			return err
		}
		if now, err := bounded.ReadFile(r.ConfigPath()); err != nil || !bytes.Equal(now, before) {
			return errors.Join(err, ErrChanged)
		}
		if err := os.Rename(path, r.ConfigPath()); err != nil {
			return err
		}
		return SyncFolder(r.Dir)
	})
}

// SaveConfig writes the configuration file.
func (r Repo) SaveConfig(c Config) error { return writeFile(r.ConfigPath(), []byte(c.String())) }

// Check returns all that is wrong with c. Each error matches ErrConfig and names its key.
func (c Config) Check() error {
	var errs []error
	fault := func(ok bool, format string, args ...any) {
		if !ok {
			errs = append(errs, fmt.Errorf("%w: "+format, append([]any{ErrConfig}, args...)...))
		}
	}
	for _, e := range c.entries() {
		errs = append(errs, e.faults()...)
	}
	fault(len(c.Network.Name) >= 1 && len(c.Network.Name) <= 64, "network.name has %d bytes, must have 1 to 64", len(c.Network.Name))
	fault(c.Network.PreviousUntil == "" || c.Network.PreviousSeed != c.Network.Seed, "network.previous_seed and network.seed are both %d, must differ", c.Network.Seed)
	fault(len(c.Addresses.Listen) > 0, "addresses.listen is empty")
	fault(c.Limits.Share > 0 && c.Limits.Share <= 1, "limits.share is %v, must be above 0 and at most 1", c.Limits.Share)
	fault(c.Mirror.Size >= mirror.LeastSize, "mirror.size is %d bytes, must be %d or more", c.Mirror.Size, mirror.LeastSize)
	fault(len(c.Mirror.Place) <= mirror.MaxPlace, "mirror.place has %d bytes, must have at most %d", len(c.Mirror.Place), mirror.MaxPlace)
	err := mirror.Upstream(c.Mirror.Upstream).Check()
	fault(err == nil, "%w", err)
	return errors.Join(errs...)
}
