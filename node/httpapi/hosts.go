package httpapi

import (
	"errors"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// CheckHost refuses requests for the name of another host, with status 403. Else a web page whose name was pointed at
// this machine could read what only programs on it may read. It lets in addresses, names without a dot (localhost, the
// name of a container) and those allowed.
func CheckHost(h http.Handler, allowed ...string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !ownHost(r.Host, allowed) {
			http.Error(w, errHost.Error(), http.StatusForbidden)
			return
		}
		h.ServeHTTP(w, r)
	})
}

var errHost = errors.New("this host has another name; use its address")

func ownHost(host string, allowed []string) bool {
	name := host
	if h, _, err := net.SplitHostPort(host); err == nil {
		name = h
	}
	name = strings.ToLower(strings.Trim(name, "[]"))
	if _, err := netip.ParseAddr(name); err == nil {
		return true
	}
	return !strings.Contains(name, ".") || strings.HasSuffix(name, ".localhost") || slices.Contains(allowed, name)
}
