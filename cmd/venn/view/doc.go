// Package view shows a network in a browser while it runs, or a recording of one.
//
// A Watch asks nodes what they hold, and publishes the answers to a Feed as events. The feed keeps each event as a
// line of JSON, up to a number of bytes. Each viewer or recorder has its own place in the feed and reads at its own
// pace, so a slow one does not slow the network. A viewer that would need more than 15 s to read the history gets
// the present state in its place, peers and links first. Handler serves the feed and the page, which is embedded, to
// browsers.
//
// # The recording
//
// A recording is NDJSON: one JSON object a line. The page receives the same lines. The first line is a Header, with
// the version of the format. A recorder or viewer that is slower than the network may fall behind the lines that the
// feed keeps. Then the header comes again, followed by lines of the present state, and readers must forget the lines
// before it. All lines but headers are events. An event has its kind in "type" and its time in "t", in milliseconds
// since the header's "began". Peers are numbered from 0 in the order of their first peer lines. Other events name
// peers by these numbers, or by -1 for a peer without a number. Readers skip kinds and fields that they do not know.
//
//	peer     a peer and what is fixed of it: see Peer
//	status   what a peer holds and has sent: see Status
//	links    all links of a peer, in place of those of an earlier line: see Links
//	held     changes in what a peer holds of others' summaries: see Held
//	epoch    a peer published a summary of its own: see Epoch
//	tail     a peer published what it has changed since its summary: see Tail
//	learned  a peer learned of others' newer summaries and tails: see Learned
//	mirror   what a peer's mirror holds and has done: see Mirror
//	query    a query that ended, with its path: see Query
//	phase    how far a run is: see Phase
//	report   the report of a run, as venn testnet --json prints it: see Report
//
// # A simulated network
//
// Package simrecord writes the same lines of a simulated run, in virtual time: the same seed gives the same bytes.
// Lines of peers and phases come at each look. Looks are a second apart, or n/500 seconds with n peers if that is
// more. A look writes only changes: of a peer's status, its links, and the cells of what it holds. Epochs, queries
// with their steps, and what peers learn are noted as they happen, and written at the next look. If a peer leaves
// before that look, its notes are lost. Sums of bytes count from the begin of a peer's session. The bytes of single
// links are not known, and 0. There are no tails and no report. The file grows with the number of peers, of the
// summaries that each keeps, and of looks, but not with the number of pairs of peers.
package view
