// Package scenario describes what a network goes through: its collections, lines and latencies, its queries, the coming
// and going of peers, and events at known times. One TOML file describes it for the simulator and for real hosts, for
// venn and for every other strategy.
//
// [Load] reads and checks a file; an error names file, line and key. [Scenario.Plan] draws everything from one seed.
// Both engines play the same plan, so their peers hold the same keys, ask the same queries and leave at the same times.
// [Simulate] plays it in the simulator, testnet.Stage on real hosts. Both give a [Run], from which the same code
// computes all figures. Package results sums runs up.
//
// A scenario that answers a question keeps the answer in its file: an interval for each figure, see [Answer].
package scenario
