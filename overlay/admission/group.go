package admission

import "net/netip"

// Group returns the network of an address, as [Principal] has it: the /24 of an IPv4 address, the /48 of an IPv6 one; ""
// for what is no address.
func Group(addr netip.Addr) string {
	addr, bits := addr.Unmap(), 48
	if addr.Is4() {
		bits = 24
	}
	p, err := addr.Prefix(bits)
	if err != nil || !addr.IsValid() {
		return ""
	}
	return p.String()
}
