package main

import (
	"syscall"
	"time"
)

// now returns the processor time that this thread has used, without that of other programs on the machine.
func now() time.Duration {
	const thisThread = 1 // RUSAGE_THREAD
	var u syscall.Rusage
	if err := syscall.Getrusage(thisThread, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
