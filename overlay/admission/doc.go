// Package admission decides how much work other peers may cause, and for whom it is done when all of them ask for more.
//
// A [Principal] causes work: a peer, with its address group, and whether it is linked. Work is measured in one
// currency, the time that it takes of the scarcer of processor and line. Linked peers and strangers have pools of their
// own, so that strangers take nothing from links. A pool is shared fairly over the groups that ask of it, and the share
// of a group over its peers: one that asks for less than an equal share gets nearly all of it (max-min fairness). While
// all ask for less than the pool has, nothing is refused.
//
// Everything costs its principal before it is done; [Gate.Charge] is for work whose amount nobody can know before. The
// driver asks in order of cost: a place for the stream ([Gate.Take]), then [Gate.Admit] for the work of the message,
// then the signatures, then the state.
//
// Memory is bounded: a pool remembers [maxGroups] groups and [maxPeers] peers of each, and forgets the one that has not
// asked for longest. Many identities of few groups thus share what these groups have. Admit takes O(1) time, and O(n
// log n) for n remembered groups at most once in [lookEvery].
package admission
