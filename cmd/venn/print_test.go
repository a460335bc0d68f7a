package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/urfave/cli/v3"

	"github.com/venn-p2p/venn/cmd/venn/repo"
	"github.com/venn-p2p/venn/node"
	"github.com/venn-p2p/venn/node/httpapi"
	"github.com/venn-p2p/venn/testnet"
	"github.com/venn-p2p/venn/testnet/page"
)

// evil sets a terminal's title, clears it, begins a line and turns the direction of writing.
const evil = "\x1b]0;title\a\x1b[2J\nvenn: forged \u009b1m\u202e\U000e0041\x7f"

// spoil sets all strings in v to a text, except ids of peers, which are bytes.
func spoil(v reflect.Value, text string) {
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		spoil(v.Elem(), text)
	case reflect.String:
		if v.Type() == reflect.TypeFor[peer.ID]() {
			text = string(must(peer.Decode(someone)))
		}
		v.SetString(text)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		spoil(v.Index(0), text)
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				spoil(v.Field(i), text)
			}
		}
	case reflect.Int, reflect.Int64:
		v.SetInt(1)
	case reflect.Bool:
		v.SetBool(true)
	default:
	}
}

// daemonSaying answers on the socket of a new repository with a text in all strings.
func daemonSaying(t *testing.T, text string) (dir string) {
	t.Helper()
	answers := map[string][]any{
		"find": {new(httpapi.Provider), new(httpapi.FindEnd)}, "cover": {new(httpapi.Cover), new(httpapi.CoverEnd)}, "join": {new(httpapi.Key), new(httpapi.JoinEnd)},
		"peers": {new([]httpapi.Peer)}, "neighbours": {new([]node.Neighbour)}, "similar": {new([]node.Similar)}, "overlap": {new(httpapi.Overlap)},
		"status": {new(httpapi.Status)}, "id": {new(httpapi.ID)}, "ping": {new(httpapi.Ping)}, "events": {new(httpapi.Event)}, "keys": {new(httpapi.Key)}, "keys/has": {new(httpapi.Has)},
	}
	return daemonOf(t, func(w http.ResponseWriter, req *http.Request) {
		name := strings.TrimPrefix(req.URL.Path, "/api/v1/")
		for _, v := range answers[name] {
			spoil(reflect.ValueOf(v).Elem(), text)
			_ = json.NewEncoder(w).Encode(v)
		}
		switch name {
		case "connect", "disconnect":
			_ = json.NewEncoder(w).Encode(map[string]string{name + "ed": text})
		case "log":
			_ = json.NewEncoder(w).Encode(map[string]string{"level": text})
		case "shutdown":
			w.WriteHeader(http.StatusInternalServerError)
			_ = json.NewEncoder(w).Encode(httpapi.Error{Error: text})
		}
	})
}

const someone = "12D3KooWQRVvCjvCuzHQAdsN9rdqrs1YwaHtM4j9mS2VPSjf5FD2"

// queries are command lines that print what the daemon says.
var queries = []string{
	"find k --explain", "cover k", "join " + someone, "peers", "peers --neighbours", "similar", "overlap " + someone, "status", "id", "ping --count 1 " + someone, "watch",
	"keys ls", "keys has k", "connect x", "disconnect " + someone, "log level", "shutdown", "doctor",
}

// TestPrintsNoControl: what the daemon tells of others, and what files are called, reaches a terminal as text: no
// command prints what moves its cursor or begins a line of its own. In JSON it is the same text, escaped.
func TestPrintsNoControl(t *testing.T) {
	dir := daemonSaying(t, evil)
	for _, line := range queries {
		for _, flags := range []string{"", " --json"} {
			_, stdout, stderr := venn(strings.Fields(line + flags + " --repo " + dir)...)
			if bad := strings.IndexFunc(stdout+stderr, func(r rune) bool { return r != '\n' && !unicode.IsPrint(r) }); bad >= 0 {
				t.Errorf("venn %s%s prints %q", line, flags, (stdout + stderr)[bad:])
			}
			if text := "\n" + stdout + "\n" + stderr; strings.Contains(text, "\nvenn: forged") {
				t.Errorf("venn %s%s prints a line of another's: %q", line, flags, text)
			}
			if stdout+stderr == "" {
				t.Errorf("venn %s%s prints nothing", line, flags)
			}
			if flags == "" || stdout == "" {
				continue
			}
			var v any
			if err := json.NewDecoder(strings.NewReader(stdout)).Decode(&v); err != nil {
				t.Errorf("venn %s%s: %v", line, flags, err)
			}
			if text := at(v, "peer"); line == "find k --explain" && text != evil {
				t.Errorf("in JSON it is %q", text)
			}
		}
	}
	missing := filepath.Join(t.TempDir(), evil)
	for _, args := range [][]string{{"id", "--repo", missing}, {"view", missing}, {"summary", "build", missing}, {"keys", "add", "--from", "dir", missing}, {evil}, {"keys", evil}} {
		if code, stdout, stderr := venn(args...); code == exitDone || stdout != "" || strings.Count(stderr, "\n") != 1 || strings.ContainsAny(stderr, "\x1b\a") {
			t.Errorf("venn %q ends with %d and prints %q and %q on stderr", args, code, stdout, stderr)
		}
	}
	for err, want := range map[error]string{
		errors.Join(errors.New("a\nb"), errors.New("c")):                          `a\nb` + "\nc",
		fmt.Errorf("x\ny: %w", errors.Join(errors.New("a"), errors.New("b\x1b"))): `x\ny: a` + "\n" + `b\x1b`,
		fmt.Errorf("%w, %w", errors.New("a\r"), errors.New("b")):                  `a\r, b`,
	} {
		if text := textOfError(err); text != want {
			t.Errorf("%q is %q, want %q", err, text, want)
		}
	}
	d := tree{files: &repo.Files{Root: "/r\x1b"}, failed: []error{errors.New("a\nvenn: forged")}}
	if text := d.unread().Error(); strings.ContainsAny(text, "\n\x1b") {
		t.Errorf("%q", text)
	}
}

// TestPrintsIDs: a peer's id reaches the terminal as others know it, whatever bytes it has.
func TestPrintsIDs(t *testing.T) {
	id := must(peer.Decode(someone))
	dir := daemonOf(t, func(w http.ResponseWriter, req *http.Request) {
		_ = json.NewEncoder(w).Encode(map[string]any{
			"/api/v1/similar":    []node.Similar{{Peer: id}},
			"/api/v1/neighbours": []node.Neighbour{{Peer: id, Kind: node.KindOverlap}},
		}[req.URL.Path])
	})
	for _, line := range []string{"similar", "peers --neighbours"} {
		if stdout := mustVenn(t, append(strings.Fields(line), "--repo", dir)...); !strings.Contains(stdout, "\n"+someone+" ") {
			t.Errorf("venn %s prints %q", line, stdout)
		}
	}
}

// at is a member of v, if v is an object that has it as a text.
func at(v any, member string) string {
	object, _ := v.(map[string]any)
	text, _ := object[member].(string)
	return text
}

// TestWidths holds what all commands print for people, their help included, to the width of a terminal. Only a word
// alone may be wider.
func TestWidths(t *testing.T) {
	lines := append([]string{
		"top --once", "mirror", "config", "version", "experiment list", "experiment scenario list", "experiment scenario explain liars", "summary sizes --keys 1000",
		"nonsense", "find", "help conventions",
	}, queries...)
	eachCommand(app(io.Discard, io.Discard), "", func(path string, _ *cli.Command) { lines = append(lines, path+" --help") })
	for _, text := range []string{"word", "several words that go on for longer than a terminal is wide, and on"} {
		dir := daemonSaying(t, text)
		for _, width := range []int{60, 80} {
			for _, line := range lines {
				var out, errs bytes.Buffer
				args := append([]string{"venn", "--repo", dir}, strings.Fields(line)...)
				run(t.Context(), args, page.Wide(&out, width), page.Wide(&errs, width))
				if out.Len()+errs.Len() == 0 {
					t.Errorf("venn %s prints nothing", line)
				}
				checkWidth(t, line, out.String()+errs.String(), width)
			}
		}
	}
	known, half := 1.0, 0.5
	report := testnet.Report{
		Peers: 121, Keys: 423_905, Holdings: 2_294_084, Notes: []string{strings.Repeat("note ", 30)},
		Classes: map[string]testnet.Class{"256kbit": {Rate: 256_000, Peers: 40, BytesHeld: 3.6e6, FindOneRecall: &half, Costs: testnet.Costs{ProbesPerQuery: &known}}},
		Churn:   &testnet.Churn{Recall: []testnet.MinuteRecall{{FindOne: &half}}}, Adds: &testnet.Adds{Added: 10, Classes: map[string]testnet.Freshness{}},
	}
	comparison := testnet.Comparison{Rows: []testnet.SystemRow{{System: "attenuated", Note: strings.Repeat("note ", 30), Padded: true}}}
	for name, write := range map[string]func(io.Writer) error{
		"report": report.WriteText, "comparison": comparison.WriteText,
	} {
		for _, width := range []int{60, 80} {
			var b bytes.Buffer
			if err := write(page.Wide(&b, width)); err != nil || b.Len() == 0 {
				t.Errorf("%s: %v", name, err)
			}
			checkWidth(t, name, b.String(), width)
		}
	}
}

func checkWidth(t *testing.T, name, text string, width int) {
	t.Helper()
	for line := range strings.Lines(text) {
		if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > width && len(strings.Fields(line)) > 1 {
			t.Errorf("venn %s prints a line of %d characters, of %d: %q", name, n, width, line)
		}
	}
}
