//go:build !linux

package main

import "time"

var started = time.Now()

// now is the time that has passed.
func now() time.Duration { return time.Since(started) }
