package view

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"fmt"
	"net/http"
	"path"
	"strings"
	"time"
)

//go:embed web
var web embed.FS

// types has the media types of the page's files, by suffix. The system's table is not used: on some systems scripts
// are plain text in it, and browsers refuse to run those.
var types = map[string]string{
	".html": "text/html; charset=utf-8",
	".css":  "text/css; charset=utf-8",
	".js":   "text/javascript; charset=utf-8",
	".svg":  "image/svg+xml",
	".txt":  "text/plain; charset=utf-8",
	".tsv":  "text/tab-separated-values; charset=utf-8",
}

// file serves a file of the page, or answers 304 to a browser that has it.
func file(w http.ResponseWriter, r *http.Request) {
	name := strings.TrimPrefix(path.Clean(r.URL.Path), "/")
	if name == "" {
		name = "index.html"
	}
	content, err := web.ReadFile(path.Join("web", name))
	if err != nil {
		http.NotFound(w, r)
		return
	}
	header := w.Header()
	header.Set("Content-Type", types[path.Ext(name)])
	// weak: the same for compressed and uncompressed content
	header.Set("ETag", fmt.Sprintf(`W/"%.8x"`, sha256.Sum256(content)))
	header.Set("Cache-Control", "no-cache")
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(content))
}
