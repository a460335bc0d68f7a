package admission

// Room is a bounded amount of something that is not taken back from those who have it, such as waiting bytes. A quarter
// is for names that have nothing yet. Of the rest, a name may take as much as is left free: one alone half of it, and
// each of n names the (n+1)th part. So few names cannot fill the room, even if they come one after the other. Not safe
// for concurrent use.
type Room struct {
	most, taken int
	of          map[string]int // taken by each name that has any
}

// NewRoom returns a room of which nothing is taken.
func NewRoom(most int) *Room { return &Room{most: most, of: map[string]int{}} }

// Take takes n for a name, and reports whether there was room.
func (r *Room) Take(name string, n int) bool {
	free := r.most - r.taken
	if r.of[name] > 0 {
		free -= r.most / 4
	}
	if r.of[name]+n > free {
		return false
	}
	r.taken += n
	r.of[name] += n
	return true
}

// Return gives back n that a name has taken.
func (r *Room) Return(name string, n int) {
	r.taken -= n
	if r.of[name] -= n; r.of[name] == 0 {
		delete(r.of, name)
	}
}

// Taken returns what all have taken.
func (r *Room) Taken() int { return r.taken }

// Half reports whether at least half of the room is taken.
func (r *Room) Half() bool { return r.taken >= r.most/2 }

// Of returns what a name has taken.
func (r *Room) Of(name string) int { return r.of[name] }
