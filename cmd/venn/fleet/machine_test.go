package fleet

import (
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

// venn is the program that runs on machines.
var venn string

func TestMain(m *testing.M) {
	if listen := os.Getenv("VENN_NETNS_RELAY"); listen != "" {
		fmt.Fprintln(os.Stderr, relay(listen))
		os.Exit(1)
	}
	os.Exit(testAll(m))
}

// testAll builds the program if tests will run it.
func testAll(m *testing.M) int {
	if venn = os.Getenv("VENN_BIN"); venn == "" && os.Getenv("VENN_NETNS") != "" {
		dir := must(os.MkdirTemp("", "netns"))
		defer os.RemoveAll(dir)
		venn = filepath.Join(dir, "venn")
		if out, err := exec.Command("go", "build", "-o", venn, "..").CombinedOutput(); err != nil {
			fmt.Fprintf(os.Stderr, "%v\n%s", err, out)
			return 1
		}
	}
	return m.Run()
}

// internet is a lab of machines, in folders below one.
type internet struct {
	lab
	dir string
}

// newInternet makes a lab with a hub that stands for the internet.
func newInternet(t *testing.T) *internet {
	t.Helper()
	if os.Getenv("VENN_NETNS") == "" {
		t.Skip("takes minutes: set VENN_NETNS=1, or use .ci/netns")
	}
	l := &internet{newLab(t), t.TempDir()}
	for _, program := range []string{"ip", "iptables", "tc"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Fatalf("no program %s: it is in the package iproute2 or iptables", program)
		}
	}
	l.hub("inet")
	return l
}

// public makes a namespace on the internet, with an address.
func (l *internet) public(name, address string) {
	l.t.Helper()
	l.space(name)
	l.plug(name, "inet", address+"/16")
	l.in(name, "ip route add default dev inet")
}

// behind makes a namespace behind a router, which translates addresses: to other ports for each destination if it is
// symmetric.
func (l *internet) behind(name, router, address string, symmetric bool) {
	l.t.Helper()
	l.public(router, address)
	l.space(name)
	l.wire(name, router, router, name)
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

// machine is a daemon in a namespace.
type machine struct {
	daemon
	l     *internet
	space string
}

// machine makes a peer in a namespace.
func (l *internet) machine(space string) *machine {
	l.t.Helper()
	m := &machine{daemon{t: l.t, repo: filepath.Join(l.dir, space), prefix: l.place(space), env: append(os.Environ(), alone...)}, l, space}
	m.venn("init")
	return m
}

// start starts the daemon, with environment variables that set its configuration. It ends with the test.
func (m *machine) start(env ...string) *machine {
	m.t.Helper()
	m.launch(venn, env...)
	m.t.Cleanup(func() {
		_ = m.cmd.Process.Signal(syscall.SIGINT)
		_ = m.cmd.Wait()
		if m.t.Failed() {
			m.t.Logf("log of %s:\n%s", m.space, m.log())
		}
	})
	return m
}

// ask runs a command on the daemon.
func (m *machine) ask(args ...string) (string, error) { return m.askWith(nil, args...) }

// askWith runs a command with something on its standard input.
func (m *machine) askWith(stdin io.Reader, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	cmd := m.command(ctx, venn, args...)
	cmd.Stdin = stdin
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func (m *machine) venn(args ...string) string { m.t.Helper(); return m.run(venn, args...) }

// at is the daemon's multiaddr at an address.
func (m *machine) at(address string) string { return m.by(address, "tcp") }

// by is the daemon's multiaddr of a transport at an address.
func (m *machine) by(address, transport string) string {
	m.t.Helper()
	for _, a := range m.identity().Addresses {
		if strings.HasPrefix(a, "/ip4/"+address+"/") && strings.Contains(a, "/"+transport+"/") {
			return a
		}
	}
	m.t.Fatalf("%s does not listen at %s by %s: %q", m.space, address, transport, m.identity().Addresses)
	return ""
}

// identity is what the daemon says of itself.
func (m *machine) identity() (id httpapi.ID) {
	m.t.Helper()
	if err := json.Unmarshal([]byte(m.venn("id", "--json")), &id); err != nil {
		m.t.Fatal(err)
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
func (m *machine) knows(other *machine) (k known) {
	m.t.Helper()
	id := other.identity().ID
	var peers []known
	if err := json.Unmarshal([]byte(m.venn("peers", "--json")), &peers); err != nil {
		m.t.Fatal(err)
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
func (m *machine) finds(key string) bool {
	_, err := m.ask("find", key, "--timeout", "5s")
	return err == nil
}

func (l *internet) eventually(what string, within time.Duration, ok func() bool) time.Duration {
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
