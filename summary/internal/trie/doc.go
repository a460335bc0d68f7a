// Package trie holds the known nodes of one block of a summary. They form a binary trie over hash space, which may be
// cut at different levels in different places.
//
// A node of level l is the top l bits of a position. Cells are the nodes of the block's start level, about one a key.
// A [Set] holds the nodes of one level in a range of cells, in the code of Elias and Fano. A [Block] puts sets
// together. A [Walker] goes through the nodes of a block at any level not deeper than the known nodes. It shows each
// node once, however many known nodes lie below it.
//
// Nothing here reads bytes from others, and arguments are not checked: package summary decodes bytes and enforces the
// limits.
package trie
