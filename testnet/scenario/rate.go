package scenario

import (
	"fmt"

	"github.com/venn-p2p/venn/testnet/link"
)

// Rate is the rate of a line in bit/s, written like "2mbit".
type Rate uint64

// UnmarshalText reads a rate.
func (r *Rate) UnmarshalText(text []byte) error {
	rate, err := link.ParseRate(string(text))
	if err != nil {
		return fmt.Errorf("%q is no rate like \"256kbit\" or \"2mbit\"", text)
	}
	*r = Rate(rate)
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
