package core

import (
	"fmt"
	"slices"
	"testing"
	"time"
)

// TestYieldsByGroup: where one address group has all places, all those of neighbours, another gets up to half of them.
func TestYieldsByGroup(t *testing.T) {
	most, kept := Places(Connections)
	var taken []Taken
	for i := range most {
		taken = append(taken, Taken{Peer: fmt.Sprint("many ", i), Group: "many", Neighbour: true, Age: time.Hour})
	}
	for i := range most / 2 {
		instead, ok := Yields(slices.Clone(taken), kept, "few")
		at := slices.IndexFunc(taken, func(t Taken) bool { return t.Peer == instead })
		if !ok || taken[at].Group != "many" {
			t.Fatalf("with %d of %d places, the few get the place of %q", i, most, instead)
		}
		taken[at] = Taken{Peer: fmt.Sprint("few ", i), Group: "few", Neighbour: true, Age: time.Hour}
	}
}
