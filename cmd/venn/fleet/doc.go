// Package fleet tests twenty daemons as processes: programs of two versions beside each other, and a quarter of an hour
// of kills, partitions and clocks that jump. Keys come and go all the while, and daemons look for them; its history
// checks every answer against the true holders at the time. .ci/fleet builds the programs and runs the tests.
package fleet
