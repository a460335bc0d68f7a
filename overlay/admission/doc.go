// Package admission decides how much work other peers may cause, and for whom it is done when all of them ask for more.
//
// A [Principal] causes work: a peer, with the networks of its address, and whether it is linked. Work is measured in
// one currency: the time that it takes of the processor or of the line, whichever is scarcer. Linked peers have two
// thirds of the work that others may cause, strangers a third, and each of the two what the other leaves. So strangers
// take from links only what these do not ask for, and nothing is refused as long as there is time for it.
//
// Half of a pool is shared fairly over the widest networks that ask for work, the share of each over its parts, and so
// on down to the peers: see [Principal.Path]. So a party that owns a whole network has the share of one network of that
// half. The other half is shared over single addresses, and then peers. So a party with addresses in many networks,
// those of a peer among them, leaves that peer the share of an address. A user that asks for less than an equal share
// of either half gets nearly all of it (max-min fairness). Places ([Slots]) are shared by the same rule. Handshakes have
// the first half alone: before the peer is known, new addresses cost nothing.
//
// Every principal pays for work before it is done; [Gate.Charge] is for work whose amount nobody can know before. The
// driver asks in order of cost: a place for the stream ([Gate.Take]), then [Gate.Admit] for the work of the message,
// then the signatures, then the state.
//
// Memory is bounded. A pool remembers [maxUsers] networks and [maxParts] parts of each, and forgets those that ask for
// nothing. When it is full, it forgets the one that has had no work for longest. Who comes then takes over the debt of
// that one, so however many networks there are, they have what the pool has. Admit takes O(1) time, and O(n log n) for
// n remembered users once in [lookEvery], or in as much admitted work.
package admission
