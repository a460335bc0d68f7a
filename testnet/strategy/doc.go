// Package strategy is the frame in which ways of finding the holders of a key are compared. Each system or paper that
// venn is measured against is a package of its own below it, and so are venn itself and an oracle:
//
//	strategy            Strategy, Peer, Host, Message, Input: the interface between machine and host
//	  venn              the cores that nodes run
//	  flooding          Gnutella 0.4
//	  randomwalk        Lv et al. 2002
//	  planetp           Cuenca-Acuna et al. 2003
//	  attenuated        Rhea, Kubiatowicz 2002; Papapetrou et al. 2010
//	  qrp               Rohrs 2002
//	  kademlia          Maymounkov, Mazières 2002, as IPFS has it
//	  bitswap           IPFS, its broadcast
//	  tracker           one process that knows all
//	  swim              Das, Gupta, Motivala 2002, with exact lists
//	  oracle            perfect knowledge of the holders
//	  probe, upkeep, filters, visits    parts that several of them share
//	strategies          the list of all
//	sim, drive          their hosts: in virtual time, and on real hosts
//
// A [Strategy] makes one [Peer] for every peer of a network. A Peer is a machine without I/O. [Peer.Step] gives it its
// inputs, and it acts through its [Host], which carries out the acts after Step has returned. There are no goroutines,
// clocks or files here, and the only randomness is [Host.Rand]. The same inputs at the same times lead to the same
// calls of the Host. So a run can be repeated bit for bit (see package sim).
//
// To add a strategy of your own, write one file with a Peer and a value of type Strategy. Give that to runs.Simulate
// beside the ones of strategies.All, as the example there does.
//
// Counts are the same for all strategies. Every [Message] counts once, by its bytes on the wire with their framing, for
// the query that it names or else as upkeep. Every [Host.Look] counts as a probe, and as a wasted one when the key
// isn't there. All handshakes of connections are upkeep, even for a query: on a host nothing tells them apart. Tables
// have a column for them.
package strategy
