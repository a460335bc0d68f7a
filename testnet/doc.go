// Package testnet runs networks of real nodes, and of other systems, in one process, on loopback or simulated links. It
// feeds them collections and queries, and reports the results.
//
// A stage has the hosts, the truth and a cast: the system that plays. Run, Compare and Stage play different things on
// it and report different figures: a testnet with its phases, systems one after the other, and a scenario's script.
//
// A node gets its collection, a seed and the address of a peer to begin at, and nothing else. Only the judge knows the
// holders of every key (package judge), and nodes cannot import it. Collections, queries, link classes and identities
// follow from one seed; what runs in parallel does not. So two runs with one seed have the same queries and nearly the
// same answers.
//
// A peer costs some 5 MB with the default data. Everything that Run starts has ended when it returns.
package testnet
