// Package sim runs the strategies of package strategy, venn's own cores among them, for many peers in virtual time.
//
// Time goes in windows no longer than the least latency. What a peer does in a window reaches others in a later one at
// the earliest. So the peers' turns in a window are independent: they are shared by as many processors as [Config.Each]
// uses. At the window's end what the peers have done is counted, planned and recorded, in the order of their numbers. So
// a run follows from its [Config] alone: the same seed gives the same trace, byte for byte, on any number of processors.
//
// The model:
//   - The streams that wait for a line take turns, a packet of 1,500 bytes each. A stream carries a peer's messages to
//     another for upkeep, or for queries, or a handshake. A message is there when its last packet has come in. So it
//     takes its time on the slower of two lines, and a packet's time on the other. Between lines a packet takes the
//     latency of the two ends, which are points in a square: the least latency, and more with distance.
//   - Streams are reliable and keep their order. A packet that is lost comes late, by a retransmission time for every
//     loss: twice the latency, 200 ms at least. Packets sent after it on the same connection wait for it, as on TCP.
//   - Left out are congestion control, so that a line is full whenever something waits for it; NAT; acknowledgements,
//     and the load of retransmissions on the line. See [Model].
//   - A peer without a connection to the receiver connects first: two round trips and 2,800 bytes from each end, before
//     any message leaves. Such a connection is no link. A peer keeps 96 of them, and then closes the one idle for the
//     longest.
//   - A peer that leaves closes its connections, and messages that still wait for its line are never sent. A peer that
//     isn't there doesn't answer: a sender to it learns of that when connecting is given up.
//   - A peer that comes back begins a new session. Messages to an earlier session bounce at once, and an answer or a
//     bounce for an earlier session never reaches a later one.
//   - A [Script] has the events at known times: peers come and go, collections change, lines slow down, the network
//     falls apart for a while. A partition resets the connections that it cuts. A sender across it learns of that when
//     connecting is given up.
//   - Sessions and absences follow Weibull distributions. A peer that comes back has its collection and nothing else.
//
// It costs, besides the peers' own machines, about 300 bytes a peer and 100 bytes for every message under way. Venn's
// machine takes about 40 kB a peer, and 700 bytes for every other peer that one knows of, because all holders share a
// summary. Queries ask the summaries known one by one, because an index at each peer would take memory that grows with
// the square of the network. The answers are the same by construction (overlay.Config, Loop). So the memory of a large
// network is bounded by Origins of [strategy.Params].
package sim
