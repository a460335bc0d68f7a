// Package strategy is the frame in which ways of finding the holders of a key are compared. Each system or paper
// that venn is compared with has a package of its own below it. So have venn itself and an oracle:
//
//	strategy            Strategy, Peer, Host, Message, Input: the interface between machine and host;
//	                    Prober, Allowance, Visits: parts of machines
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
//	  filters           Bloom filters, which several of them share
//	strategies          the list of all
//	sim, drive          their hosts: in virtual time, and on real hosts
//
// A [Strategy] makes one [Peer] for every peer of a network. A Peer is a machine without I/O. [Peer.Step] gives it its
// inputs, and it acts through its [Host], which answers by later inputs only. There are no goroutines, clocks or files
// here, and the only randomness is [Host.Rand]. The same inputs at the same times lead to the same calls of the Host.
// So a run can be repeated bit for bit (see package sim).
//
// To add a strategy of your own, write one file with a Peer and a value of type Strategy. Give that value to
// runs.Simulate beside those of strategies.All, as the example in package runs does.
//
// All strategies are counted in the same way. Every [Message] counts once, with its bytes on the wire and their
// framing: for the query that it names, else as upkeep. Every [Host.Look] counts as a probe, and as a wasted one if
// the peer lacks the key. All handshakes of connections count as upkeep, even those for a query: on real hosts
// nothing tells them apart. Tables have a column for handshakes.
package strategy
