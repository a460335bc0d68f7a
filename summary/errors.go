package summary

import "errors"

// The kinds of refusal, matched by [errors.Is]. ErrMalformed about parts that match the chain of a signed header is the
// fault of the origin, not of the peer that passed them on.
var (
	// ErrMalformed is for bytes in another form than the canonical one, and for contents that no collection can give: a
	// shape that does not fit the keys, or more or fewer nodes than their number allows.
	ErrMalformed = errors.New("malformed")
	ErrLimit     = errors.New("limit exceeded")           // larger than a limit of this package or of the plan
	ErrVersion   = errors.New("unknown version")          // written by another version
	ErrChain     = errors.New("not the parts signed for") // the hash chain does not match
	ErrSeed      = errors.New("different seeds")          // summaries under different seeds cannot be compared
)
