// Package fleet tests daemons as processes. Twenty of them run programs of two versions beside each other, or live
// through a quarter of an hour of kills, partitions and clocks that jump. Keys come and go all the while, and daemons
// look for them; a history checks every answer against the true holders at the time. .ci/fleet builds the programs and
// runs these tests.
//
// Other tests run daemons in networks as real peers have them: behind routers that translate addresses, on slow lines,
// on lines that fail. They make network namespaces, which needs root on Linux and the programs ip, iptables and tc.
// Where any of these is missing, they say so and are skipped. They take minutes: .ci/netns runs them.
package fleet
