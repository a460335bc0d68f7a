package directory

// Kind says what happened to an entry.
type Kind uint8

const (
	// Added says that there is an entry at an index that was free.
	Added Kind = iota
	// Renewed says that a newer epoch is held than before.
	Renewed
	// Grown says that more parts are held, or a newer epoch is.
	Grown
	// Reopened says that more may be asked for than before.
	Reopened
	// Withdrawn says that what is being asked for is of no use any more.
	Withdrawn
	// Removed says that there is no entry at an index any more.
	Removed
)

// Change is something that happened to an entry and that others have to know.
type Change struct {
	Kind  Kind
	Index int
}

// fewChanges is how many changes there is memory for all the time. There are more when many entries go at once.
const fewChanges = 64

// Changes returns what happened since the last call, in order. It is valid until the next call of any method.
func (d *Directory) Changes() []Change {
	c := d.changes
	if d.changes = c[:0]; cap(c) > fewChanges {
		d.changes = nil
	}
	return c
}

func (d *Directory) change(k Kind, e *Entry) {
	d.changes = append(d.changes, Change{k, e.Index()})
}
