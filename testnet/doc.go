// Package testnet runs a network of real nodes in one process, on loopback or simulated links. It feeds them
// collections and queries, and reports what came of it.
//
// A node gets its collection, a seed and two addresses to begin from, and nothing else. Only the judge knows who holds
// what (package judge), and nodes cannot import it. Peer i begins from two peers before it, drawn by chance, so that
// there is no hub. Collections, queries, link classes and identities follow from one seed; what runs in parallel does
// not. So two runs with one seed agree in what is asked and nearly in what is found.
//
// A peer costs about 1 MB with the default data. Everything that Run starts has ended when it returns.
package testnet
