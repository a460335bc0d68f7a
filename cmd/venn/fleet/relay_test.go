package fleet

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"strings"

	"github.com/libp2p/go-libp2p"
	circuit "github.com/libp2p/go-libp2p/p2p/protocol/circuitv2/relay"
)

// relay is a libp2p host that relays, and tells others whether they can be reached. It never returns without an error.
func relay(listen string) error {
	h, err := libp2p.New(libp2p.ListenAddrStrings(listen), libp2p.ForceReachabilityPublic(), libp2p.EnableNATService(),
		libp2p.EnableAutoNATv2(), libp2p.EnableRelayService(circuit.WithInfiniteLimits()))
	if err != nil {
		return err
	}
	fmt.Printf("%s/p2p/%s\n", listen, h.ID())
	select {}
}

// relay starts a relay in a namespace, which ends with the test, and returns its multiaddr.
func (l *internet) relay(space, address string) string {
	l.t.Helper()
	words := append(l.place(space), os.Args[0])
	cmd := exec.Command(words[0], words[1:]...)
	cmd.Env = append(os.Environ(), "VENN_NETNS_RELAY=/ip4/"+address+"/tcp/4001")
	out, err := cmd.StdoutPipe()
	if err != nil {
		l.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		l.t.Fatal(err)
	}
	l.t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		l.t.Fatal(err)
	}
	return strings.TrimSpace(line)
}
