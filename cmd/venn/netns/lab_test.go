package netns

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/venn-p2p/venn/node/httpapi"
)

// venn is the program under test.
var venn string

func TestMain(m *testing.M) {
	if listen := os.Getenv("VENN_NETNS_RELAY"); listen != "" {
		if err := relay(listen); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	code := func() int {
		if os.Getenv("VENN_NETNS") == "" {
			return m.Run() // every test skips
		}
		dir, err := os.MkdirTemp("", "netns")
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer os.RemoveAll(dir)
		venn = filepath.Join(dir, "venn")
		if built := os.Getenv("VENN_BIN"); built != "" {
			venn = built
		} else if out, err := exec.Command("go", "build", "-o", venn, "..").CombinedOutput(); err != nil {
			fmt.Fprintf(os.Stderr, "%v\n%s", err, out)
			return 1
		}
		return m.Run()
	}()
	os.Exit(code)
}

// lab is network namespaces that are one test's.
type lab struct {
	t     *testing.T
	dir   string
	lines int
}

// newLab makes a lab, with a bridge that stands for the internet in a namespace of its own.
func newLab(t *testing.T) *lab {
	t.Helper()
	if os.Getenv("VENN_NETNS") == "" {
		t.Skip("takes minutes: set VENN_NETNS=1, or use .ci/netns")
	}
	if os.Geteuid() != 0 {
		t.Skip("network namespaces need root")
	}
	for _, program := range []string{"ip", "iptables", "tc"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Fatalf("no program %s: it is in the package iproute2 or iptables", program)
		}
	}
	l := &lab{t: t, dir: t.TempDir()}
	l.space("inet")
	l.in("inet", "ip link add name hub type bridge")
	l.in("inet", "ip link set dev hub up")
	return l
}

// name is what a namespace of the lab is called on the machine.
func (l *lab) name(space string) string { return fmt.Sprintf("venn%d-%s", os.Getpid(), space) }

// space makes a namespace.
func (l *lab) space(name string) {
	l.t.Helper()
	l.run("ip", "netns", "add", l.name(name))
	l.t.Cleanup(func() { _ = exec.Command("ip", "netns", "del", l.name(name)).Run() })
	l.in(name, "ip link set dev lo up")
}

func (l *lab) run(name string, args ...string) string {
	l.t.Helper()
	out, err := exec.Command(name, args...).CombinedOutput()
	if err != nil {
		l.t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return string(out)
}

// in runs a command in a namespace.
func (l *lab) in(space, command string) string {
	l.t.Helper()
	return l.run("ip", append([]string{"netns", "exec", l.name(space)}, strings.Fields(command)...)...)
}

// wire connects two namespaces by a pair of interfaces, each named after the other end.
func (l *lab) wire(a, b string) {
	l.t.Helper()
	l.lines++
	x, y := fmt.Sprintf("vn%dx%d", os.Getpid()%10000, l.lines), fmt.Sprintf("vn%dy%d", os.Getpid()%10000, l.lines)
	l.run("ip", "link", "add", "name", x, "type", "veth", "peer", "name", y)
	l.run("ip", "link", "set", "dev", x, "netns", l.name(a), "name", b)
	l.run("ip", "link", "set", "dev", y, "netns", l.name(b), "name", a)
	l.in(a, "ip link set dev "+b+" up")
	l.in(b, "ip link set dev "+a+" up")
}

// public makes a namespace on the internet, with an address.
func (l *lab) public(name, address string) {
	l.t.Helper()
	l.space(name)
	l.wire(name, "inet")
	l.in("inet", "ip link set dev "+name+" master hub")
	l.in(name, "ip addr add "+address+"/16 dev inet")
	l.in(name, "ip route add default dev inet")
}

// behind makes a namespace behind a router, which translates addresses: to other ports for each destination if it is
// symmetric.
func (l *lab) behind(name, router, address string, symmetric bool) {
	l.t.Helper()
	l.public(router, address)
	l.space(name)
	l.wire(name, router)
	l.in(router, "ip addr add 10.0.0.1/24 dev "+name)
	l.in(name, "ip addr add 10.0.0.2/24 dev "+router)
	l.in(name, "ip route add default via 10.0.0.1")
	l.in(router, "sysctl -qw net.ipv4.ip_forward=1")
	rule := "iptables -t nat -A POSTROUTING -o inet -j MASQUERADE"
	if symmetric {
		rule += " --random-fully"
	}
	l.in(router, rule)
	l.in(router, "iptables -A FORWARD -i inet -m conntrack --ctstate ESTABLISHED,RELATED -j ACCEPT")
	l.in(router, "iptables -A FORWARD -i inet -j DROP")
	l.in(router, "iptables -A INPUT -i inet -m conntrack --ctstate NEW -j DROP") // an answer would take the port from those behind
}

// peer is a daemon in a namespace.
type peer struct {
	l     *lab
	space string
	repo  string
}

// peer makes a peer in a namespace.
func (l *lab) peer(space string) *peer {
	l.t.Helper()
	p := &peer{l, space, filepath.Join(l.dir, space)}
	p.venn("init")
	return p
}

// start starts the daemon, with environment variables that set its configuration. It ends with the test.
func (p *peer) start(env ...string) *peer {
	p.l.t.Helper()
	cmd := exec.Command("ip", "netns", "exec", p.l.name(p.space), venn, "--repo", p.repo, "daemon")
	cmd.Env = append(append(os.Environ(), "VENN_HTTP_LISTEN=", "VENN_NAT_PORT_MAP=false", "VENN_DISCOVERY_MDNS=false"), env...)
	var log bytes.Buffer
	cmd.Stderr = &log
	if err := cmd.Start(); err != nil {
		p.l.t.Fatal(err)
	}
	p.l.t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGINT)
		_ = cmd.Wait()
		if p.l.t.Failed() {
			p.l.t.Logf("log of %s:\n%s", p.space, log.String())
		}
	})
	p.l.eventually(p.space+" serves", time.Minute, func() bool { _, err := p.ask("status"); return err == nil })
	return p
}

// ask runs a command on the daemon.
func (p *peer) ask(args ...string) (string, error) { return p.askWith(nil, args...) }

// askWith runs a command with something on its standard input.
func (p *peer) askWith(stdin io.Reader, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "ip", append([]string{"netns", "exec", p.l.name(p.space), venn, "--repo", p.repo}, args...)...)
	cmd.Stdin = stdin
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func (p *peer) venn(args ...string) string {
	p.l.t.Helper()
	out, err := p.ask(args...)
	if err != nil {
		p.l.t.Fatalf("%s: venn %s: %v\n%s", p.space, strings.Join(args, " "), err, out)
	}
	return out
}

// at is the daemon's multiaddr at an address.
func (p *peer) at(address string) string { return p.by(address, "tcp") }

// by is the daemon's multiaddr of a transport at an address.
func (p *peer) by(address, transport string) string {
	p.l.t.Helper()
	for _, a := range p.identity().Addresses {
		if strings.HasPrefix(a, "/ip4/"+address+"/") && strings.Contains(a, "/"+transport+"/") {
			return a
		}
	}
	p.l.t.Fatalf("%s does not listen at %s by %s: %q", p.space, address, transport, p.identity().Addresses)
	return ""
}

// identity is what the daemon says of itself.
func (p *peer) identity() (id httpapi.ID) {
	p.l.t.Helper()
	if err := json.Unmarshal([]byte(p.venn("id", "--json")), &id); err != nil {
		p.l.t.Fatal(err)
	}
	return id
}

// known is what a daemon says of another peer.
type known struct {
	ID              string
	Parts           int // of its summary
	Addresses       []string
	direct, relayed []string // of Addresses
}

// knows is what the daemon says of another.
func (p *peer) knows(other *peer) (k known) {
	p.l.t.Helper()
	id := other.identity().ID
	var peers []known
	if err := json.Unmarshal([]byte(p.venn("peers", "--json")), &peers); err != nil {
		p.l.t.Fatal(err)
	}
	for _, k = range peers {
		if k.ID == id {
			break
		}
	}
	for _, a := range k.Addresses {
		if strings.Contains(a, "/p2p-circuit") {
			k.relayed = append(k.relayed, a)
		} else {
			k.direct = append(k.direct, a)
		}
	}
	return k
}

// finds says whether the daemon finds who has a key.
func (p *peer) finds(key string) bool {
	_, err := p.ask("find", key, "--timeout", "5s")
	return err == nil
}

func (l *lab) eventually(what string, within time.Duration, ok func() bool) time.Duration {
	l.t.Helper()
	began := time.Now()
	for !ok() {
		if time.Since(began) > within {
			l.t.Fatalf("not within %v: %s", within, what)
		}
		time.Sleep(100 * time.Millisecond)
	}
	return time.Since(began)
}
