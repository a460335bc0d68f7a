package main

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/venn-p2p/venn/cmd/venn/repo"
)

// newRepo makes a repository.
func newRepo(t *testing.T) repo.Repo {
	t.Helper()
	dir := must(os.MkdirTemp("", "venn")) // t.TempDir's names are too long for a socket
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return must(repo.Init(filepath.Join(dir, "r")))
}

// daemonOf has a handler answer on the socket of a new repository. It returns the folder.
func daemonOf(t *testing.T, h http.HandlerFunc) (dir string) {
	t.Helper()
	r := newRepo(t)
	s := httptest.NewUnstartedServer(h)
	s.Listener = must(net.Listen("unix", r.Socket()))
	s.Start()
	t.Cleanup(s.Close)
	return r.Dir
}

// breakingDaemon stands in for a daemon that begins each answer with some text and then breaks off. It returns the folder
// of its repository.
func breakingDaemon(t *testing.T, begin string) string {
	t.Helper()
	return daemonOf(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		_, _ = io.WriteString(w, begin)
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	})
}

// TestBrokenOff: of an answer that is broken off, what came in full is printed, nothing of the rest, and the error says
// what happened.
func TestBrokenOff(t *testing.T) {
	const first = `{"key":"a","peer":"P"}`
	for _, end := range []string{"", `{"key":"ab`, `{"key":"ab","peer":"Q"`} {
		dir := breakingDaemon(t, first+"\n"+end)
		for line, want := range map[string]string{
			"keys ls":         "a\n",
			"keys ls --json":  `{"key":"a"}` + "\n",
			"keys has a":      "false a\n",
			"find a":          "a  P  no address known\n",
			"find a --json":   `{"key":"a","peer":"P","addresses":null}` + "\n",
			"find a --jobs 2": "a  P  no address known\n",
			"cover a":         "     0 keys  P  no address known\n",
		} {
			code, stdout, stderr := venn(append(strings.Fields(line), "--repo", dir)...)
			if code != exitFailed || stdout != want || stderr != "venn: the daemon broke off before it had answered in full; its log says why\n" {
				t.Errorf("venn %s, broken off after %q, ends with %d and prints %q and %q on stderr, want %q", line, end, code, stdout, stderr, want)
			}
		}
	}
	dir := breakingDaemon(t, `{"id":`)
	for _, line := range []string{"status", "status --json", "id", "keys add x", "peers", "backup " + filepath.Join(t.TempDir(), "b")} {
		code, stdout, stderr := venn(append(strings.Fields(line), "--repo", dir)...)
		if code != exitFailed || stdout != "" || !strings.Contains(stderr, "the daemon broke off") {
			t.Errorf("venn %s, broken off, ends with %d and prints %q and %q on stderr", line, code, stdout, stderr)
		}
	}
}

// brokenPipe refuses all that is written.
type brokenPipe struct{}

func (brokenPipe) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

// TestKeysThatCannotBePrinted: a list whose last lines cannot be written ends with an error.
func TestKeysThatCannotBePrinted(t *testing.T) {
	dir := daemonOf(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, `{"key":"a"}`) })
	var stderr strings.Builder
	code := run(t.Context(), []string{"venn", "keys", "ls", "--repo", dir}, brokenPipe{}, &stderr)
	if want := "venn: " + io.ErrClosedPipe.Error() + "\n"; code != exitFailed || stderr.String() != want {
		t.Errorf("venn keys ls ends with %d and %q on stderr, want %q", code, stderr.String(), want)
	}
}

// TestInterruptedRequest: a request that Ctrl-C cut off ends as interrupted, whatever the closed connection says.
func TestInterruptedRequest(t *testing.T) {
	ctx, interrupt := context.WithCancel(t.Context())
	dir := daemonOf(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, `{"key":"a"}`+"\n")
		_ = http.NewResponseController(w).Flush()
		interrupt()
		<-r.Context().Done()
	})
	for _, line := range []string{"keys ls", "doctor"} {
		var stdout, stderr strings.Builder
		code := run(ctx, append(append([]string{"venn"}, strings.Fields(line)...), "--repo", dir), &stdout, &stderr)
		if code != exitInterrupted || stderr.String() != "venn: interrupted\n" || strings.Contains(stdout.String(), "cancel") {
			t.Errorf("venn %s, interrupted, ends with %d and prints %q and %q on stderr", line, code, stdout.String(), stderr.String())
		}
	}
}
