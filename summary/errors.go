package summary

import "errors"

// The kinds of refusal, matched by [errors.Is]. Of parts that match the chain of a signed header, ErrMalformed is the
// fault of the origin, not of whoever passed them on.
var (
	// ErrMalformed is of bytes in another form than the canonical one, and of what no collection can give. Such are a
	// shape that does not fit the keys, and more or fewer ones than their number allows.
	ErrMalformed = errors.New("malformed")
	ErrLimit     = errors.New("limit exceeded")           // larger than a limit of this package or of the plan
	ErrVersion   = errors.New("unknown version")          // written by another version
	ErrChain     = errors.New("not the parts signed for") // the hash chain does not match
	ErrSeed      = errors.New("different seeds")          // summaries under different seeds cannot be compared
)
