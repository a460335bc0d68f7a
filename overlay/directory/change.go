package directory

import "slices"

// Kind says what happened to an entry.
type Kind uint8

const (
	// Added says that there is a new entry.
	Added Kind = iota
	// Renewed says that a newer epoch is held than before.
	Renewed
	// Grown says that more parts are held, or a newer epoch is.
	Grown
	// Reopened says that more may be asked for than before.
	Reopened
	// Withdrawn says that what is being asked for is of no use any more.
	Withdrawn
	// Removed says that an entry is no longer in the directory. Its index may be another entry's by now.
	Removed
)

// Change is something that happened to an entry and that others have to know. It names the entry itself: an index may
// be given to another entry before the change is read.
type Change struct {
	Kind  Kind
	Entry *Entry
}

// fewChanges is how many changes there is memory for all the time. There are more when many entries go at once.
const fewChanges = 64

// Changes returns what happened since the last call, in order. Of an entry that is gone it returns Removed alone, even
// if the entry was added since the last call; all other changes are of entries in the directory. The slice is valid
// until the next call of any method.
func (d *Directory) Changes() []Change {
	c := slices.DeleteFunc(d.changes, func(c Change) bool { return c.Kind != Removed && d.entries[c.Entry.index] != c.Entry })
	if d.changes = c[:0]; cap(c) > fewChanges {
		d.changes = nil
	}
	return c
}

func (d *Directory) change(k Kind, e *Entry) {
	d.changes = append(d.changes, Change{k, e})
}
