package admission

// Room is a bounded amount of something that is not taken back from those who have it, such as waiting bytes. A quarter
// is for names that have nothing yet. Of the rest, a name may take as much as is left free: one alone half of it, and
// each of n names the (n+1)th part. A part of a name may take as much as is left free of what the name may take. So few
// names cannot fill the room, even if they come one after the other. Not safe for concurrent use.
type Room struct {
	most, taken int
	of          map[string]int // taken by each name that has any
}

// NewRoom returns a room of which nothing is taken.
func NewRoom(most int) *Room { return &Room{most: most, of: map[string]int{}} }

// Take takes n for the last name of a path, such as [Principal.Path], and reports whether there was room. Each name but
// the first is a part of the one before.
func (r *Room) Take(n int, path ...string) bool {
	free := r.most - r.taken
	if r.of[path[0]] > 0 {
		free -= r.most / 4
	}
	for _, name := range path {
		if free -= r.of[name]; n > free {
			return false
		}
	}
	r.add(n, path)
	return true
}

// Return gives back n that were taken.
func (r *Room) Return(n int, path ...string) { r.add(-n, path) }

func (r *Room) add(n int, path []string) {
	r.taken += n
	for _, name := range path {
		if r.of[name] += n; r.of[name] == 0 {
			delete(r.of, name)
		}
	}
}

// Taken returns what all have taken.
func (r *Room) Taken() int { return r.taken }

// Half reports whether at least half of the room is taken.
func (r *Room) Half() bool { return r.taken >= r.most/2 }

// Of returns what a name has taken.
func (r *Room) Of(name string) int { return r.of[name] }
