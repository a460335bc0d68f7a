package node

import (
	"fmt"
	"testing"

	ma "github.com/multiformats/go-multiaddr"
)

// TestHolesAreFew: holes are punched to eight addresses of the other end at most, none of them by a name.
func TestHolesAreFew(t *testing.T) {
	theirs := []ma.Multiaddr{ma.StringCast("/dns4/victim.example/tcp/1"), ma.StringCast("/dnsaddr/victim.example")}
	for i := range 20 {
		theirs = append(theirs, ma.StringCast(fmt.Sprintf("/ip4/1.2.3.%d/udp/1/quic-v1", i)))
	}
	got := few{}.FilterRemote("p", theirs)
	if len(got) != 8 {
		t.Errorf("%d addresses are dialled, want 8", len(got))
	}
	for _, a := range got {
		if !isByIP(a) {
			t.Errorf("%v is dialled", a)
		}
	}
}
