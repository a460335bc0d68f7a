package httpapi

import (
	"errors"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// Guard refuses, with status 403, requests that a foreign web page may have sent through a browser on this machine or
// network. It accepts a request whose Host is an IP address, localhost, a name below localhost, or one of names, in
// any case. Any other name may be the page's own, which it points to this machine so that it can read the answers.
// Names without a dot are refused, too, because the local network resolves them.
//
// Under accepted names, it refuses requests that browsers mark as sent by other sites. Links to pages, whose paths end
// in a slash, are accepted all the same. Programs that are not browsers send no marks.
func Guard(h http.Handler, names ...string) http.Handler {
	cross := http.NewCrossOriginProtection()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case !ownHost(r.Host, names):
			http.Error(w, errHost.Error(), http.StatusForbidden)
		case fromElsewhere(r), cross.Check(r) != nil:
			http.Error(w, errSite.Error(), http.StatusForbidden)
		default:
			h.ServeHTTP(w, r)
		}
	})
}

var (
	errHost = errors.New("this host has another name: use its address, localhost or a name that its configuration lets in")
	errSite = errors.New("requests of other sites are refused")
)

// ownHost reports whether a Host header has an IP address, a local name, or one of names.
func ownHost(host string, names []string) bool {
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	host = strings.ToLower(strings.Trim(host, "[]"))
	if _, err := netip.ParseAddr(host); err == nil {
		return true
	}
	return host == "localhost" || strings.HasSuffix(host, ".localhost") ||
		slices.ContainsFunc(names, func(name string) bool { return name != "" && strings.ToLower(name) == host })
}

// fromElsewhere reports whether a browser marked a request as another site's, and the request is not a link to a page.
func fromElsewhere(r *http.Request) bool {
	switch r.Header.Get("Sec-Fetch-Site") {
	case "", "none", "same-origin":
		return false
	}
	return r.Header.Get("Sec-Fetch-Mode") != "navigate" || !strings.HasSuffix(r.URL.Path, "/")
}
