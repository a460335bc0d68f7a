// Package view shows a network in a browser while it runs, or a recording of one.
//
// A Watch asks nodes what they hold and hands the answers to a Feed as events. The feed keeps every event, encoded as a
// line of JSON, within a bound. Viewers and recorders each have a place in the feed and read at their own pace, so a
// slow one costs the network nothing. A viewer whose line would take more than 15 s for the history gets the present
// state in its place: peers and links first. Handler serves the feed and the page, which is embedded, to browsers.
//
// # The recording
//
// A recording is NDJSON: one JSON object a line. The page receives the same lines. The first line is a Header, with the
// version of the format. A recorder or viewer that is slower than the network may fall behind what the feed keeps. Then
// the header comes again, with lines of the present state after it, and readers drop what they have. Every other line
// is an event with its kind in "type" and its time in "t": milliseconds since the header's "began". Peers are numbered
// from 0 in the order of their first peer lines. Every other line names peers by these numbers, or -1 for a peer
// without a number. Readers skip kinds and fields that they do not know.
//
//	peer     a peer and what is fixed of it: see Peer
//	status   what a peer holds and has sent: see Status
//	links    all links of a peer, in place of those of an earlier line: see Links
//	held     what a peer holds of others' summaries, where that has changed: see Held
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
// Package simrecord writes the same lines of a simulated run, in virtual time: the same seed gives the same bytes. Lines of
// peers and phases come at each look. Looks are a second apart, or n/500 seconds with n peers if that is more. A look
// writes only changes: of a peer's status, of its links, and of the cells of what it holds. Epochs, queries with their
// steps, and what peers learn are noted as they happen and written at the next look. What a peer notes is lost where it
// leaves before that look. Sums of bytes count from the begin of its session. Bytes of single links are not known, and
// 0. There are no tails and no report. The file grows with peers, the summaries that each keeps, and looks, not with
// pairs.
package view
