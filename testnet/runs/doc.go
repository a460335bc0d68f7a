// Package runs plays the trials of scenarios in the simulator, several at a time, and keeps their results.
//
// [Simulate] runs every strategy and trial of some scenarios. If a folder is named, it keeps each result there, in a
// [Ledger], as soon as it is known. After an interruption, the same program with the same options continues from
// there. [Work] selects a part of the runs, to share them between machines. The result of a run, without times and
// memory, follows from the scenario, the strategy and the seed.
package runs
