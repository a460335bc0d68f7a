// Package runs plays the trials of scenarios in the simulator, several at a time, and keeps their results.
//
// [Simulate] runs every strategy and trial of some scenarios. With a folder, the result of a run is kept there in a
// [Ledger] as soon as it is known. After an interruption, the same program with the same options goes on from there.
// [Work] chooses the part of the runs that is done, for many machines. The result of a run follows from the scenario,
// the strategy and the seed, except times and memory.
package runs
