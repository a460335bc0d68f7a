package core

import "time"

// Connections is how many connections a node makes, and links it takes, unless it is told otherwise.
const Connections = 32

// Stay is how long a link that another asked for lasts, at least, before a newcomer may take its place.
const Stay = 2 * time.Second

// Places returns how many of most connections may be links that others asked for, and how many of these neighbours and
// the mesh keep from newcomers. most is 4 or more.
func Places(most int) (taken, kept int) {
	taken = most / 2
	return taken, taken - max(1, taken/4)
}
