package core

import (
	"cmp"
	"slices"
	"time"

	"github.com/venn-p2p/venn/overlay/admission"
)

// Connections is the default number of connections that a node makes, and links that it takes.
const Connections = 32

// stay is the least age of a link that another peer asked for before a newcomer may take its place.
const stay = 2 * time.Second

// Places returns two numbers for a node of at most most connections, 4 or more: the links taken that others asked for,
// and the ones among them that neighbours and the mesh keep from newcomers.
func Places(most int) (taken, kept int) {
	taken = most / 2
	return taken, taken - max(1, taken/4)
}

// Taken is a link that another peer asked for.
type Taken struct {
	Peer            string
	Group           string // its address group, as in package admission; "": not known
	Neighbour, Mesh bool
	Busy            bool          // something is under way on it
	Age, Idle       time.Duration // since it began; since it was last used
}

// rank orders links taken: neighbours keep their places before the mesh, and that before others.
func (t Taken) rank() int {
	switch {
	case t.Neighbour:
		return 0
	case t.Mesh:
		return 1
	}
	return 2
}

// group returns the name of an address group, or one of the peer's own.
func (t Taken) group() string { return cmp.Or(t.Group, "peer "+t.Peer) }

// Yields returns the link taken that gives way to a newcomer from an address group; ok is false if none does. A link that
// has not lasted for two seconds stays, and so does one of another group that has no more links than the newcomer's. Where
// a group has at least two more, the youngest of that group's least rank goes. Else the kept oldest links of neighbours,
// and then of the mesh, stay. Of the others, links with nothing under way go first, and of these the one unused for
// longest. It reorders the links. O(n log n).
func Yields(taken []Taken, kept int, group string) (p string, ok bool) {
	slices.SortFunc(taken, func(a, b Taken) int {
		return cmp.Or(a.rank()-b.rank(), cmp.Compare(b.Age, a.Age), cmp.Compare(a.Peer, b.Peer))
	})
	n := 0
	for n < min(kept, len(taken)) && taken[n].rank() < 2 {
		n++
	}
	of := map[string]int{}
	for _, t := range taken {
		of[t.group()]++
	}
	stays := func(t Taken) bool {
		return t.Age < stay || group != "" && t.group() != group && of[t.group()] <= of[group]
	}
	if largest, crowded := admission.Crowded(of, group); crowded && group != "" {
		crowd := slices.DeleteFunc(slices.Clone(taken), func(t Taken) bool { return stays(t) || t.group() != largest })
		if len(crowd) > 0 {
			return crowd[len(crowd)-1].Peer, true
		}
	}
	may := slices.DeleteFunc(taken[n:], stays)
	if len(may) == 0 {
		return "", false
	}
	return slices.MinFunc(may, func(a, b Taken) int {
		if a.Busy != b.Busy {
			return map[bool]int{false: -1, true: 1}[a.Busy]
		}
		return cmp.Or(cmp.Compare(b.Idle, a.Idle), cmp.Compare(a.Peer, b.Peer))
	}).Peer, true
}
