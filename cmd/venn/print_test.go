package main

import (
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"unicode"

	"github.com/venn-p2p/venn/cmd/venn/repo"
	"github.com/venn-p2p/venn/node/httpapi"
)

// evil sets a terminal's title, clears it, begins a line and turns the direction of writing.
const evil = "\x1b]0;title\a\x1b[2J\nvenn: forged \u009b1m\u202e\U000e0041\x7f"

// spoil sets all strings in v to evil.
func spoil(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		spoil(v.Elem())
	case reflect.String:
		v.SetString(evil)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		spoil(v.Index(0))
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				spoil(v.Field(i))
			}
		}
	case reflect.Int, reflect.Int64:
		v.SetInt(1)
	case reflect.Bool:
		v.SetBool(true)
	default:
	}
}

// evilDaemon answers on the socket of a new repository with evil in all strings.
func evilDaemon(t *testing.T) (dir string) {
	t.Helper()
	top, err := os.MkdirTemp("", "venn") // t.TempDir's names are too long for a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(top) })
	r, err := repo.Init(filepath.Join(top, "r"))
	if err != nil {
		t.Fatal(err)
	}
	answers := map[string][]any{
		"find": {new(httpapi.Provider), new(httpapi.FindEnd)}, "cover": {new(httpapi.Cover), new(httpapi.CoverEnd)}, "join": {new(httpapi.Key), new(httpapi.JoinEnd)},
		"peers": {new([]httpapi.Peer)}, "neighbours": {new([]httpapi.Neighbour)}, "similar": {new([]httpapi.Similar)}, "overlap": {new(httpapi.Overlap)},
		"status": {new(httpapi.Status)}, "id": {new(httpapi.ID)}, "ping": {new(httpapi.Ping)}, "events": {new(httpapi.Event)}, "keys": {new(httpapi.Key)}, "keys/has": {new(httpapi.Has)},
	}
	l, err := net.Listen("unix", r.Socket())
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		name := strings.TrimPrefix(req.URL.Path, "/api/v1/")
		for _, v := range answers[name] {
			spoil(reflect.ValueOf(v).Elem())
			_ = json.NewEncoder(w).Encode(v)
		}
		switch name {
		case "connect", "disconnect":
			_ = json.NewEncoder(w).Encode(map[string]string{name + "ed": evil})
		case "log":
			_ = json.NewEncoder(w).Encode(map[string]string{"level": evil})
		case "shutdown":
			w.WriteHeader(http.StatusInternalServerError)
			_ = json.NewEncoder(w).Encode(httpapi.Error{Error: evil})
		}
	}))
	s.Listener = l
	s.Start()
	t.Cleanup(s.Close)
	return r.Dir
}

// TestPrintsNoControl: what the daemon tells of others, and what files are called, reaches a terminal as text: no
// command prints what moves its cursor or begins a line of its own. In JSON it is the same text, escaped.
func TestPrintsNoControl(t *testing.T) {
	dir := evilDaemon(t)
	const p = "12D3KooWQRVvCjvCuzHQAdsN9rdqrs1YwaHtM4j9mS2VPSjf5FD2"
	for _, line := range []string{
		"find k --explain", "cover k", "join " + p, "peers", "neighbours", "similar", "overlap " + p, "status", "id", "ping --count 1 " + p, "watch", "keys ls", "keys has k",
		"connect x", "disconnect " + p, "log level", "shutdown", "doctor",
	} {
		for _, flags := range []string{"", " --json"} {
			_, stdout, stderr := venn(strings.Fields(line + flags + " --repo " + dir)...)
			if bad := strings.IndexFunc(stdout+stderr, func(r rune) bool { return r != '\n' && !unicode.IsPrint(r) }); bad >= 0 {
				t.Errorf("venn %s%s prints %q", line, flags, (stdout + stderr)[bad:])
			}
			if strings.HasPrefix(stdout, "venn: forged") || strings.Contains(stdout, "\nvenn: forged") {
				t.Errorf("venn %s%s prints a line of another's: %q", line, flags, stdout)
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
	d := tree{files: &repo.Files{Root: "/r\x1b"}, failed: []error{errors.New("a\nvenn: forged")}}
	if text := d.unread().Error(); strings.ContainsAny(text, "\n\x1b") {
		t.Errorf("%q", text)
	}
}

// at is a member of v, if v is an object that has it as a text.
func at(v any, member string) string {
	object, _ := v.(map[string]any)
	text, _ := object[member].(string)
	return text
}
