package overlay

import (
	"errors"
	"fmt"
)

// Check returns every invariant of the machines that does not hold, joined. It looks at all entries, links and
// contacts; tests call it after every step.
func (o *Overlay) Check() error {
	return errors.Join(o.directory.Check(o.now), o.exchange.Check(o.now), o.topology.Check(), o.region.Check())
}

// String describes the machines, with a line for each machine, entry, link, neighbour and contact.
func (o *Overlay) String() string {
	return fmt.Sprint(o.directory, o.exchange, o.topology, o.region)
}
