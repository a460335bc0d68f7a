package fleet

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// lab is network namespaces that are one test's.
type lab struct{ t *testing.T }

func newLab(t *testing.T) lab {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("network namespaces need root")
	}
	return lab{t}
}

// name is what a namespace of the lab is called on the machine.
func (lab) name(space string) string { return fmt.Sprintf("venn%d-%s", os.Getpid(), space) }

// space makes a namespace.
func (l lab) space(name string) {
	l.t.Helper()
	l.run("ip", "netns", "add", l.name(name))
	l.t.Cleanup(func() { _ = exec.Command("ip", "netns", "del", l.name(name)).Run() })
	l.in(name, "ip link set dev lo up")
}

func (l lab) run(name string, args ...string) {
	l.t.Helper()
	if out, err := exec.Command(name, args...).CombinedOutput(); err != nil {
		l.t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
}

// place is how a command line begins that runs in a namespace.
func (l lab) place(space string) []string { return []string{"ip", "netns", "exec", l.name(space)} }

// in runs a command in a namespace.
func (l lab) in(space, command string) {
	l.t.Helper()
	line := append(l.place(space), strings.Fields(command)...)
	l.run(line[0], line[1:]...)
}

// wire connects two namespaces by a pair of interfaces of these names.
func (l lab) wire(a, atA, b, atB string) {
	l.t.Helper()
	l.run("ip", "-n", l.name(a), "link", "add", "name", atA, "type", "veth", "peer", "name", atB, "netns", l.name(b))
	l.in(a, "ip link set dev "+atA+" up")
	l.in(b, "ip link set dev "+atB+" up")
}

// hub makes a namespace with a bridge.
func (l lab) hub(name string) {
	l.t.Helper()
	l.space(name)
	l.in(name, "ip link add name hub type bridge")
	l.in(name, "ip link set dev hub up")
}

// plug connects a namespace by its interface inet, which has an address, to a hub.
func (l lab) plug(space, hub, address string) {
	l.t.Helper()
	l.wire(space, "inet", hub, space)
	l.in(hub, "ip link set dev "+space+" master hub")
	l.in(space, "ip addr add "+address+" dev inet")
}

// daemon is a daemon as a process, and its folder.
type daemon struct {
	t      *testing.T
	repo   string
	prefix []string // of command lines: where they run
	env    []string
	cmd    *exec.Cmd
}

// alone are the settings of a daemon that only tests reach.
var alone = []string{"VENN_HTTP_LISTEN=", "VENN_NAT_PORT_MAP=false", "VENN_DISCOVERY_MDNS=false"}

// command is a command of a program on the daemon's folder.
func (d *daemon) command(ctx context.Context, program string, args ...string) *exec.Cmd {
	line := slices.Concat(d.prefix, []string{program, "--repo", d.repo}, args)
	cmd := exec.CommandContext(ctx, line[0], line[1:]...)
	cmd.Env = d.env
	return cmd
}

// run runs a command to its end.
func (d *daemon) run(program string, args ...string) string {
	d.t.Helper()
	out, err := d.command(d.t.Context(), program, args...).CombinedOutput()
	if err != nil {
		d.t.Fatalf("%s: venn %s: %v\n%s", d.repo, strings.Join(args, " "), err, out)
	}
	return string(out)
}

// launch starts the daemon, with further variables of its environment, and waits until it serves.
func (d *daemon) launch(program string, env ...string) {
	d.t.Helper()
	d.cmd = d.command(context.Background(), program, "daemon")
	d.cmd.Env = slices.Concat(d.env, env)
	d.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	log := must(os.OpenFile(filepath.Join(d.repo, "log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600))
	d.cmd.Stderr = log
	out := must(d.cmd.StdoutPipe())
	if err := d.cmd.Start(); err != nil {
		d.t.Fatal(err)
	}
	_ = log.Close()
	ready := make(chan bool, 1)
	go func() {
		lines := bufio.NewScanner(out)
		for lines.Scan() {
			if strings.HasPrefix(lines.Text(), "ready") {
				ready <- true
			}
		}
		close(ready)
	}()
	select {
	case ok := <-ready:
		if !ok {
			d.t.Fatalf("%s: the daemon ended:\n%s", d.repo, d.log())
		}
	case <-time.After(time.Minute):
		d.t.Fatalf("%s: the daemon does not start:\n%s", d.repo, d.log())
	}
}

func (d *daemon) log() string {
	b, _ := os.ReadFile(filepath.Join(d.repo, "log"))
	return string(b)
}

// must returns v. It panics on an error.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
