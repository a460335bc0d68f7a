package view

import (
	"net"
	"net/netip"
	"slices"
	"strings"
)

// knownHost says whether a request's Host is this machine's: localhost, an IP address, or one of Hosts. Other names are
// refused: a name that its owner points at this machine would let a foreign page read what is served.
func (s *server) knownHost(hostport string) bool {
	host := hostport
	if h, _, err := net.SplitHostPort(hostport); err == nil {
		host = h
	}
	host = strings.ToLower(strings.Trim(host, "[]"))
	if host == "localhost" || slices.Contains(s.Hosts, host) {
		return true
	}
	_, err := netip.ParseAddr(host)
	return err == nil
}
