package strategies_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/venn-p2p/venn/testnet/sim"
	"github.com/venn-p2p/venn/testnet/sim/simtest"
	"github.com/venn-p2p/venn/testnet/strategies"
	"github.com/venn-p2p/venn/testnet/strategy"
)

// Kinds of upkeep are named in published tables, so their names are literals: they stay whatever becomes of the types.
func TestKindsOfUpkeep(t *testing.T) {
	data := simtest.Clusters(t, 40, 30)
	script := sim.Script{Asks: simtest.Asks(data, 60, time.Second, 500*time.Millisecond)}
	for p := range strategy.ID(20) {
		script.Changes = append(script.Changes, sim.Change{At: 5 * time.Second, Peer: p, Key: uint32(p), Held: true})
	}
	var got []string
	for _, s := range strategies.Named() {
		r := simtest.Run(t, sim.Config{
			Strategy: s, Data: data, Script: script, Seed: 2, Asking: 90 * time.Second, Patience: 10 * time.Second,
		})
		names := map[string]bool{}
		for _, k := range r.Kinds {
			names[k.Name] = true
		}
		got = append(got, fmt.Sprintf("%s: %s", s.Name, strings.Join(slices.Sorted(maps.Keys(names)), " ")))
	}
	want := []string{
		"venn: auditanswer auditask connect graft hello items parts subscription tailitems",
		"flooding: connect",
		"random-walk: connect",
		"planetp: connect list records reply rumours sum wanted",
		"attenuated: attenuation connect",
		"attenuated-papapetrou: connect reducedlevels",
		"qrp: connect table",
		"kademlia: connect find nearest provide",
		"bitswap: connect",
		"tracker: all change connect",
		"swim: ack connect lists members ping wanted",
		"oracle: connect",
		"kademlia-classic: connect find nearest provide",
		"venn-undefended: auditanswer auditask connect graft hello items parts subscription tailitems",
	}
	if !slices.Equal(got, want) {
		t.Errorf("kinds of upkeep:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
