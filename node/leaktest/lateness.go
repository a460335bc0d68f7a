package leaktest

import "time"

// Lateness measures how busy the machine is until end is called: the sum of the times by which timers of 10 ms, one after
// the other, are late. On a quiet machine this is some hundredths of the time.
func Lateness() (end func() time.Duration) {
	const tick = 10 * time.Millisecond
	stop, done := make(chan struct{}), make(chan time.Duration)
	go func() {
		late := time.Duration(0)
		for {
			at := time.Now()
			select {
			case <-stop:
				done <- late
				return
			case <-time.After(tick):
				late += time.Since(at) - tick
			}
		}
	}()
	return func() time.Duration {
		close(stop)
		return <-done
	}
}
