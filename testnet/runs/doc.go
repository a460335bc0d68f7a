// Package runs plays the trials of scenarios in the simulator, several at a time, and keeps what they have found.
//
// [Simulate] runs every strategy and trial of some scenarios. With a folder, what a run has found is kept there in a
// [Ledger] as soon as it is known. The same program with the same options goes on from there when it was interrupted, and
// [Work] says which part of the runs is done, for many machines. What a run finds follows from the scenario, the
// strategy and the seed, but for times and memory.
package runs
