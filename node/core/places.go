package core

import (
	"cmp"
	"slices"
	"time"

	"github.com/venn-p2p/venn/overlay/admission"
)

// Connections is the default limit of connections made and links taken together.
const Connections = 32

// stay is the least age of a taken link that gives way to a newcomer.
const stay = 2 * time.Second

// Places returns two numbers for a node of at most most connections, which must be 4 or more. taken is the number of
// links that other peers may ask for. kept is the number of these that neighbours and the mesh keep from newcomers.
func Places(most int) (taken, kept int) {
	taken = most / 2
	return taken, taken - max(1, taken/4)
}

// Taken is a link for which another peer asked.
type Taken struct {
	Peer            string
	Group           string // address group of the peer, as in package admission; "": not known
	Neighbour, Mesh bool
	Busy            bool          // a stream on the link is open
	Age, Idle       time.Duration // times since the link began and since it was last used
}

// rank orders taken links: neighbours keep their places before the mesh, and the mesh before others.
func (t Taken) rank() int {
	switch {
	case t.Neighbour:
		return 0
	case t.Mesh:
		return 1
	}
	return 2
}

// group returns the name of the peer's address group, or else a name that only this peer has.
func (t Taken) group() string { return cmp.Or(t.Group, "peer "+t.Peer) }

// Yields returns the peer whose taken link gives way to a newcomer of an address group; ok is false if none does. A
// link younger than two seconds stays. So does a link of another group that has no more links than the newcomer's. If
// the largest group has at least two more, the youngest of its least important links goes. Else the oldest kept links
// of neighbours, and then of the mesh, stay. Of the other links, those not in use go first, and of these the longest
// unused. It reorders the links. O(n log n).
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
