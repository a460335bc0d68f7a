// Package bitcode holds the codes of package coding. Only the packages of summary need the exact code at every length,
// and several arrays decoded at a time. Package coding says what the codes are and cost.
package bitcode

import "errors"

// ErrMalformed is wrapped by every error about bytes or counts that an encoder would not have written.
var ErrMalformed = errors.New("malformed")
