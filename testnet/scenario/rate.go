package scenario

import (
	"fmt"

	"github.com/venn-p2p/venn/testnet/link"
)

// Rate is the rate of a line in bit/s, written like "2mbit".
type Rate uint64

// UnmarshalText reads a rate.
func (r *Rate) UnmarshalText(text []byte) error {
	mix, err := link.ParseMix(string(text) + ":1")
	if err != nil || len(mix) != 1 {
		return fmt.Errorf("%q is no rate like \"256kbit\" or \"2mbit\"", text)
	}
	*r = Rate(mix[0].Rate)
	return nil
}

func (r Rate) String() string {
	for _, u := range []struct {
		name string
		bits Rate
	}{{"gbit", 1e9}, {"mbit", 1e6}, {"kbit", 1e3}} {
		if r >= u.bits && r%u.bits == 0 {
			return fmt.Sprintf("%d%s", r/u.bits, u.name)
		}
	}
	return fmt.Sprintf("%dbit", uint64(r))
}
