package directory

import "slices"

// Kind is the kind of a change to an entry or to a link.
type Kind uint8

const (
	// Added: the entry is new.
	Added Kind = iota
	// Renewed: a newer epoch is held than before.
	Renewed
	// Grown: more parts are held, or a newer epoch is.
	Grown
	// Reopened: more of the entry may be asked for than before.
	Reopened
	// Withdrawn: parts that were asked for are of no use any more.
	Withdrawn
	// Removed: the entry is no longer in the directory. Its index may be another entry's by now.
	Removed
	// Linked: the link is new.
	Linked
	// Unlinked: the link has ended.
	Unlinked
)

// Change is a change to an entry or to a link that other machines must know of. It names the entry itself, because its
// index may be given to another entry before the change is read.
type Change struct {
	Kind  Kind
	Entry *Entry
	Link  *Link // with Linked and Unlinked, in place of Entry
}

// Changes returns the changes since the last call, in order. For an entry that is gone it returns Removed alone, even
// if the entry was added since the last call. All other changes to entries are of entries in the directory. The slice is
// valid until the next call of any method.
func (d *Directory) Changes() []Change {
	c := slices.DeleteFunc(d.changes, func(c Change) bool {
		return c.Link == nil && c.Kind != Removed && d.entries[c.Entry.index] != c.Entry
	})
	d.changes = c[:0]
	return c
}

func (d *Directory) change(k Kind, e *Entry) {
	d.changes = append(d.changes, Change{Kind: k, Entry: e})
}
