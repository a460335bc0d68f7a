package summary

import "errors"

// The kinds of refusal, matched by [errors.Is]. Of parts that match the chain of a signed header, ErrMalformed and
// ErrDensity are the fault of the origin, not of whoever passed them on.
var (
	ErrMalformed = errors.New("malformed")                     // not the canonical form
	ErrLimit     = errors.New("limit exceeded")                // larger than a limit of this package or of the plan
	ErrVersion   = errors.New("unknown version")               // written by a later version
	ErrChain     = errors.New("not the parts signed for")      // the hash chain does not match
	ErrDensity   = errors.New("density does not fit the keys") // more or fewer ones than the number of keys allows
	ErrSeed      = errors.New("different seeds")               // summaries under different seeds cannot be compared
	ErrShape     = errors.New("bad shape")                     // a shape that no summary can have
	ErrSigner    = errors.New("signed by another than its origin")
)
