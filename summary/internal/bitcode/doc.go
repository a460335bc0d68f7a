// Package bitcode holds the codes of package coding, and what only the packages of summary need of them: the exact code
// at every length, and two arrays decoded at a time. Package coding says what the codes are and cost.
package bitcode

import "errors"

// ErrMalformed is wrapped by every error about bytes or counts that an encoder would not have written.
var ErrMalformed = errors.New("malformed")
