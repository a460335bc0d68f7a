// Package sim runs the strategies of package strategy, venn's own cores among them, for many peers in virtual time.
//
// Time passes in windows no longer than the least latency. What a peer does in a window reaches other peers in a
// later window. So the peers' turns in a window are independent of each other, and [Config.Each] shares them
// between processors. At the window's end the simulator counts, queues and records the peers' events, in the
// order of the peers' numbers. So a run follows from its [Config] alone: the same seed gives the same trace, byte
// for byte, on any number of processors.
//
// The model:
//   - The streams that wait for a line take turns, a packet of 1,500 bytes each. A stream carries a peer's
//     messages to another for upkeep, or for queries, or a handshake. A message is received when its last packet
//     has passed both lines. So it takes its full time on the slower of the two lines, and one packet's time on
//     the other. Between lines a packet takes the latency of the two ends, which are points in a square: the
//     least latency, and more with distance.
//   - Streams are reliable and keep their order. Each loss of a packet delays it by a retransmission time: twice
//     the latency, at least 200 ms. Packets sent after it on the same connection wait for it, as on TCP.
//   - The model leaves out congestion control: a line is full whenever something waits for it. It also leaves out
//     NAT, acknowledgements, and the load of retransmissions on the line. See [Model].
//   - A peer without a connection to the receiver connects first: two round trips and 1,200 bytes from each end, before
//     any message leaves. Such a connection is no link. A peer keeps 96 of them, and then closes the one idle for the
//     longest.
//   - A peer that leaves closes its connections, and messages that still wait for its line are never sent. A peer
//     that is away does not answer: a sender learns of that after [links.GiveUp].
//   - A peer that comes back begins a new session. Messages to an earlier session bounce after the latency, and
//     an answer or a bounce for an earlier session never reaches a later one.
//   - A [Script] has the events at known times: peers come and go, collections change, lines slow down, the
//     network falls apart for a while. A partition resets the connections that it cuts. A sender across it learns
//     of that after [links.GiveUp].
//   - Sessions and absences follow Weibull distributions. A peer that comes back has its collection and nothing else.
//
// Memory: about 300 bytes a peer and 100 bytes for every message under way, besides the peers' machines. Venn's
// machine takes some 2 kB for each peer that it knows of (testnet/README.md: 309 kB where Origins is 128). All peers
// that hold a summary share it. Queries ask the known summaries one by one. An index at each peer would take memory
// that grows with the square of the network. The answers are the same by construction (overlay.Config, Cache). So the
// memory of a large network is bounded by [strategy.Origins].
package sim
