package core

import "errors"

// Check returns every invariant of overlay and tails that does not hold, joined. It looks at all that is known; tests
// call it after every step.
func (m *Machine) Check() error {
	if m.Tails == nil {
		return m.Overlay.Check()
	}
	return errors.Join(m.Overlay.Check(), m.Tails.Check())
}
