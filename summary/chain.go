package summary

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
)

// digest is a SHA-256 hash: a value of the chain that binds parts to a header.
type digest = [sha256.Size]byte

// partDigest returns d_k: the hash of part k and its number.
func partDigest(k int, part []byte) digest {
	h := sha256.New()
	var b [16]byte
	copy(b[:], "venn/part/1\x00")
	binary.BigEndian.PutUint32(b[12:], uint32(k))
	h.Write(b[:])
	h.Write(part)
	var d digest
	h.Sum(d[:0])
	return d
}

// link returns h_k, which binds part k, of digest d, to the value of the chain after it.
func link(d, next digest) digest {
	var b [12 + 2*sha256.Size]byte
	copy(b[:], "venn/link/1\x00")
	copy(b[12:], d[:])
	copy(b[12+sha256.Size:], next[:])
	return sha256.Sum256(b[:])
}

// chainOf returns the chain's values h_First to h_end for the parts of r. The last value is r.Next.
func chainOf(r Run) []digest {
	chain := make([]digest, len(r.Parts)+1)
	chain[len(r.Parts)] = r.Next
	for i := len(r.Parts) - 1; i >= 0; i-- {
		chain[i] = link(partDigest(r.First+i, r.Parts[i]), chain[i+1])
	}
	return chain
}

// verify returns the chain of r if its first value is want, the known h_first. Otherwise it returns ErrChain.
func verify(r Run, want digest) ([]digest, error) {
	chain := chainOf(r)
	if chain[0] != want {
		return nil, fmt.Errorf("summary: parts %d to %d: %w", r.First, r.end()-1, ErrChain)
	}
	return chain, nil
}
