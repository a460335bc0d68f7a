package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"
)

// daemon is a daemon that runs.
type daemon struct {
	venn string // program
	repo string
	ip   string
	id   peer.ID
	cmd  *exec.Cmd
	http http.Client
}

// quicAddress returns the address of a daemon by QUIC.
func quicAddress(ip string) string { return "/ip4/" + ip + "/udp/4101/quic-v1" }

// start starts a daemon, and waits until it answers.
func start(venn, ip, procs string, args ...string) *daemon {
	d := &daemon{venn: venn, repo: filepath.Join(must(os.MkdirTemp("", "daemon")), "repo"), ip: ip}
	_ = os.Setenv("VENN_ADDRESSES_LISTEN", "/ip4/"+ip+"/tcp/4101,"+quicAddress(ip))
	_ = os.Setenv("VENN_HTTP_LISTEN", "")
	_ = os.Setenv("VENN_LOG_LEVEL", "error")
	d.run("", "init", "--local")
	d.cmd = exec.Command(venn, append([]string{"--repo", d.repo, "daemon"}, args...)...)
	d.cmd.Env, d.cmd.Stderr = append(os.Environ(), "GOMAXPROCS="+procs), os.Stderr
	if err := d.cmd.Start(); err != nil {
		log.Fatal(err)
	}
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", filepath.Join(d.repo, "control.sock"))
	}
	d.http.Transport = &http.Transport{MaxIdleConnsPerHost: 100, DialContext: dial}
	var who struct {
		ID peer.ID `json:"id"`
	}
	eventually("a daemon comes up", func() bool {
		b, err := d.get(context.Background(), "/api/v1/id")
		return err == nil && json.Unmarshal(b, &who) == nil
	})
	d.id = who.ID
	return d
}

// eventually waits until something is true.
func eventually(what string, is func() bool) {
	for range 600 {
		if is() {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	log.Fatal("not true: ", what)
}

// run runs a command on the daemon's repository.
func (d *daemon) run(in string, args ...string) {
	c := exec.Command(d.venn, append([]string{"--repo", d.repo}, args...)...)
	c.Stdin = strings.NewReader(in)
	if out, err := c.CombinedOutput(); err != nil {
		log.Fatalf("%v: %s", err, out)
	}
}

// keys is the number of keys that each daemon holds.
const keys = 400

// key returns the name of one of the keys of a daemon.
func key(of string, i int) []byte { return fmt.Appendf(nil, "%s/%d", of, i%keys) }

func (d *daemon) add(of string) {
	var in strings.Builder
	for i := range keys {
		fmt.Fprintf(&in, "%s\n", key(of, i))
	}
	d.run(in.String(), "keys", "add", "-")
}

func (d *daemon) get(ctx context.Context, path string) ([]byte, error) {
	req := must(http.NewRequestWithContext(ctx, http.MethodGet, "http://daemon"+path, nil))
	r, err := d.http.Do(req)
	if err != nil {
		return nil, err
	}
	defer r.Body.Close()
	b, err := io.ReadAll(r.Body)
	if err == nil && r.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", r.Status, b)
	}
	return b, err
}

// find asks the daemon for a key that another one holds.
func (d *daemon) find(ctx context.Context, key []byte) error {
	b, err := d.get(ctx, "/api/v1/find?timeout_ms=2000&key="+url.QueryEscape(string(key)))
	if err == nil && !strings.Contains(string(b), `"peer"`) {
		err = errNobody
	}
	return err
}

// memory returns the megabytes that the daemon takes.
func (d *daemon) memory() (mb int) {
	b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", d.cmd.Process.Pid))
	_, rest, _ := strings.Cut(string(b), "VmRSS:")
	_, _ = fmt.Sscan(rest, &mb)
	return mb >> 10
}

// counters returns the daemon's metrics of what it refused or dropped, and of its time of the processors.
func (d *daemon) counters() map[string]float64 {
	b, _ := d.get(context.Background(), "/debug/metrics/prometheus")
	out := map[string]float64{}
	for line := range strings.Lines(string(b)) {
		name, v, _ := strings.Cut(strings.TrimSpace(line), " ")
		if strings.Contains(name, "refused") || strings.Contains(name, "dropped") || name == processors {
			var f float64
			_, _ = fmt.Sscan(v, &f)
			out[name] = f
		}
	}
	return out
}

const processors = "process_cpu_seconds_total"

func (d *daemon) stop() {
	_ = d.cmd.Process.Kill()
	_ = d.cmd.Wait()
}
