package admission

import (
	"bytes"
	"fmt"
	"slices"
)

// mapped is the prefix of an IPv4 address written as an IPv6 one.
var mapped = []byte{10: 0xff, 11: 0xff}

// Group returns the networks of an IP address of 4 or 16 bytes, for [Principal]: the /16, the /24 and the address
// itself of IPv4, the /32, the /48 and the /64 of IPv6. It returns "" for other lengths. A party may own all of a
// network that one provider has, of a part of it, or one connection to it.
func Group(ip []byte) string {
	if len(ip) == 16 {
		ip = bytes.TrimPrefix(ip, mapped)
	}
	switch len(ip) {
	case 4:
		return fmt.Sprintf("%d.%d/%d/%d", ip[0], ip[1], ip[2], ip[3])
	case 16:
		return fmt.Sprintf("%x:%x/%x/%x", ip[0:2], ip[2:4], ip[4:6], ip[6:8])
	}
	return ""
}

// Path returns the names under which a principal shares, the widest first: each of its networks, then its own.
func (p Principal) Path() []string {
	if p.Group == "" {
		return []string{p.Peer}
	}
	path := make([]string, 0, 4)
	for i := range len(p.Group) {
		if p.Group[i] == '/' {
			path = append(path, p.Group[:i])
		}
	}
	return append(path, p.Group, p.Group+"/"+p.Peer)
}

// The two ways in which principals share: by their networks, and by their address alone.
const (
	byNetworks = iota
	byAddress
	ways
)

// by returns the names under which the principal of a path shares in one of the ways.
func by(way int, path []string) []string {
	if way == byAddress {
		return path[max(0, len(path)-2):]
	}
	return path
}

// ways returns the paths by which a principal shares in the halves of a [Gate]'s work. Before the peer is known, new
// addresses cost nothing, so there is no second way.
func (p Principal) ways() [][]string {
	path := p.Path()
	if p.Peer == "" {
		return [][]string{path}
	}
	return [][]string{path, by(byAddress, path)}
}

// Census has the number of places of each network, and of each principal, by their names in [Principal.Path].
type Census map[string]int

// Count adds n to the number of places of a principal of a path.
func (c Census) Count(path []string, n int) {
	for _, name := range path {
		if c[name] += n; c[name] == 0 {
			delete(c, name)
		}
	}
}

// Over compares the widest networks in which a holder of places and a newcomer differ. It returns the number of places
// that the holder's network has beyond the newcomer's.
func (c Census) Over(holder, newcomer []string) int {
	for i := range min(len(holder), len(newcomer)) {
		if holder[i] != newcomer[i] {
			return c[holder[i]] - c[newcomer[i]]
		}
	}
	return 0
}

// Crowd returns the holders that may give up a place to a newcomer. Only holders count whose network has at least lead
// places beyond the newcomer's: see [Census.Over]. Of these it returns the holders in the widest network with the most
// places, in the part of it with the most, and so on down to the principal with the most. O(holders).
func Crowd[T any](places Census, holders []T, path func(T) []string, newcomer []string, lead int) (crowd []T) {
	var most []int
	for _, h := range holders {
		if places.Over(path(h), newcomer) < lead {
			continue
		}
		var has []int
		for _, name := range path(h) {
			has = append(has, places[name])
		}
		switch slices.Compare(has, most) {
		case 1:
			most, crowd = has, []T{h}
		case 0:
			crowd = append(crowd, h)
		}
	}
	return crowd
}
