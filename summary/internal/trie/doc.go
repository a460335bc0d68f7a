// Package trie holds the known nodes of one block of a summary. They form a binary trie over hash space, cut at one
// level here and at another there.
//
// A node of level l is the top l bits of a position. The nodes of a level are coded after Elias and Fano ([Set]), by
// cells. Cells are the nodes of the block's start level, about one a key. A [Block] puts sets together. A [Walker] goes
// through the nodes of a block at any level not deeper than the known nodes. It shows each node once, however many
// known nodes lie below it.
//
// Nothing here reads bytes from others, and arguments are not checked: package summary decodes, and knows the limits.
package trie
