// Package admission decides how much work other peers may cause, and for whom it is done when all of them ask for more.
//
// A [Principal] causes work: a peer, with its address group, and whether it is linked. Work is measured in one
// currency: the time that it takes of the processor or of the line, whichever is scarcer. Linked peers and strangers
// have separate pools, so that strangers take nothing from links. A pool is shared fairly over the groups that ask
// for work, and a group's share over its peers. A user that asks for less than an equal share gets nearly all of it
// (max-min fairness). While all together ask for less than the pool has, nothing is refused.
//
// Every principal pays for work before it is done; [Gate.Charge] is for work whose amount nobody can know before. The
// driver asks in order of cost: a place for the stream ([Gate.Take]), then [Gate.Admit] for the work of the message,
// then the signatures, then the state.
//
// Memory is bounded. A pool remembers [maxGroups] groups and [maxPeers] peers of each, and forgets first those that
// have had no work for longest. Many identities in few groups thus share what these groups get. Who comes to a full pool
// takes over the debt of the one that is forgotten, so however many groups there are, they have what the pool has. Admit
// takes O(1) time, and O(n log n) for n remembered groups once in [lookEvery], or in as much admitted work.
package admission
