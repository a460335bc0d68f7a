package view

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"fmt"
	"io/fs"
	"net/http"
	"path"
	"strings"
	"sync"
	"time"
)

//go:embed web
var web embed.FS

// types are the media types of the page's files. The system's table is not used: some systems call scripts plain text,
// and then browsers refuse to run them.
var types = map[string]string{
	".html": "text/html; charset=utf-8",
	".css":  "text/css; charset=utf-8",
	".js":   "text/javascript; charset=utf-8",
	".svg":  "image/svg+xml",
	".txt":  "text/plain; charset=utf-8",
	".tsv":  "text/tab-separated-values; charset=utf-8",
}

// asset is a file of the page.
type asset struct {
	raw, zipped []byte
	hash        string
}

// assets returns the page's files by name, the names relative to web.
var assets = sync.OnceValue(func() map[string]asset {
	all := make(map[string]asset)
	err := fs.WalkDir(web, "web", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		raw, err := fs.ReadFile(web, name)
		if err != nil {
			return err
		}
		var b bytes.Buffer
		z, _ := gzip.NewWriterLevel(&b, gzip.BestCompression) // the level is right
		_, _ = z.Write(raw)
		_ = z.Close()
		all[strings.TrimPrefix(name, "web/")] = asset{raw, b.Bytes(), fmt.Sprintf("%x", sha256.Sum256(raw))[:16]}
		return nil
	})
	if err != nil {
		panic(err) // the files are part of the program
	}
	return all
})

// file serves a file of the page, or 304 to a browser that has it.
func file(w http.ResponseWriter, r *http.Request) {
	name := strings.TrimPrefix(path.Clean(r.URL.Path), "/")
	if name == "" {
		name = "index.html"
	}
	a, ok := assets()[name]
	if !ok {
		http.NotFound(w, r)
		return
	}
	header, content, tag := w.Header(), a.raw, a.hash
	if takesGzip(r) {
		header.Set("Content-Encoding", "gzip")
		content, tag = a.zipped, a.hash+"-gzip"
	}
	header.Set("Content-Type", types[path.Ext(name)])
	header.Set("ETag", `"`+tag+`"`)
	header.Set("Cache-Control", "no-cache")
	header.Set("Vary", "Accept-Encoding")
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(content))
}
