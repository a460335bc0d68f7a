package admission

import (
	"bytes"
	"fmt"
)

// mapped is the prefix of an IPv4 address written as an IPv6 one.
var mapped = []byte{10: 0xff, 11: 0xff}

// Group returns the network of an IP address of 4 or 16 bytes, for [Principal]: the /24 of an IPv4 address, the /48 of
// an IPv6 one; "" for other lengths.
func Group(ip []byte) string {
	if len(ip) == 16 {
		ip = bytes.TrimPrefix(ip, mapped)
	}
	switch len(ip) {
	case 4:
		return fmt.Sprintf("%d.%d.%d.0/24", ip[0], ip[1], ip[2])
	case 16:
		return fmt.Sprintf("%x:%x:%x::/48", ip[0:2], ip[2:4], ip[4:6])
	}
	return ""
}
