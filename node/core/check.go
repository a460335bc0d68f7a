package core

import "errors"

// Check returns every invariant of overlay and tails that does not hold, as joined errors. It takes time in proportion
// to all that is known. Tests call it after every step.
func (m *Machine) Check() error {
	if m.Tails == nil {
		return m.Overlay.Check()
	}
	return errors.Join(m.Overlay.Check(), m.Tails.Check())
}
