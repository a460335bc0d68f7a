package mirror

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	lru "github.com/hashicorp/golang-lru/v2"
)

// FuzzFiles checks that damaged indexes and modules are refused, without a panic or more memory than they have.
func FuzzFiles(f *testing.F) {
	f.Add([]byte("Filename: a.deb\nSHA256: " + strings.Repeat("ab", 32) + "\n"))
	f.Add([]byte{0x1f, 0x8b, 8})
	f.Add([]byte{0xfd, '7', 'z', 'X', 'Z', 0, 0, 4})
	f.Add([]byte("PK\x05\x06\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"))
	path := filepath.Join(f.TempDir(), "x") // one process tries one input at a time
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) > 1<<16 {
			return
		}
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		file, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = file.Close() }()
		files, _ := lru.New[string, Sum](10)
		_ = parseIndex(io.NewSectionReader(file, 0, int64(len(b))), files)
		_ = Sum(kindGoZip).check(file, int64(len(b)), nil)
	})
}

// FuzzTexts gives each text to all that read texts of others: lists, paths, sums and challenges.
func FuzzTexts(f *testing.F) {
	for _, s := range []string{
		"SHA256:\n " + strings.Repeat("ab", 32) + " 5 main/Packages\n", "URL: nar/x\nFileHash: sha256:" + strings.Repeat("0", 52) + "\n",
		"example.com/!m/@v/v1.0.0.zip", "sha256-" + strings.Repeat("ab", 32), "h1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=",
		`Bearer realm="https://a/token",service="x",scope="repository:y:pull"`, `Bearer realm="`,
		"v2/library/debian/manifests/sha256%3Aab", `{"mediaType":"x/y"}`, "a/b", "a/../b", "%2e%2e/x", "a%2fb", "a//b",
	} {
		f.Add(s)
	}
	base, err := parseURL("go", "https://origin.example/base")
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if n := len(parseRelease(strings.NewReader(text))); n > maxIndexes {
			t.Errorf("%d indexes", n)
		}
		parseNarinfo(strings.NewReader(text))
		versionOf(text)
		if s, err := ParseSum(text); err == nil && string(s) != text {
			t.Errorf("%q is %q", text, s)
		}
		_, _ = goSum(text)
		if name, kind, ref := split(text); kind != "" && (name == "" || strings.Contains(ref, "/")) {
			t.Errorf("%q: %q %q %q", text, name, kind, ref)
		}
		if got := mediaType([]byte(text)); got == "" || strings.ContainsAny(got, "\r\n") {
			t.Errorf("%q: %q", text, got)
		}
		req, err := requestTo(base, text, "", http.Header{})
		if err != nil {
			return
		}
		if u := req.URL; !strings.HasPrefix(u.Path, "/base/") || slices.Contains(strings.Split(u.Path, "/"), "..") || u.Host != base.Host {
			t.Errorf("%q: %v", text, u)
		}
	})
}

// FuzzHeaders checks what is read of the headers of origins and of other mirrors.
func FuzzHeaders(f *testing.F) {
	f.Add("bytes 0-99/100", int64(0), `{"have":5,"size":10,"origin":true,"place":"zone/rack"}`)
	f.Fuzz(func(t *testing.T, text string, at int64, said string) {
		size, err := begin(&http.Response{StatusCode: 206, Header: http.Header{"Content-Range": {text}}}, at)
		if err == nil && (at < 0 || at >= size) {
			t.Errorf("%q: from %d on of %d", text, at, size)
		}
		if s, _ := parseState(http.Header{headerState: {said}}); s.Have < 0 || s.Size < -1 || len(s.Place) > MaxPlace || len(s.Others) > enough {
			t.Errorf("%+v", s)
		}
	})
}
