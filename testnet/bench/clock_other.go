//go:build !linux

package main

import "time"

var started = time.Now()

// now returns the time since the start.
func now() time.Duration { return time.Since(started) }
