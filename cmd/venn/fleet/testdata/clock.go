package time

import "syscall"

// .ci/fleet adds this file to package time, and a call of wall to Now. The monotonic clock of a program built so stays
// right. Its wall clock jumps every 30 s if VENN_CLOCK has a seed above 0, and is then wrong by twenty minutes at most.
// It is ahead by the seconds in VENN_AHEAD, too. Certificates of libp2p's TLS begin an hour before they are made, so
// peers whose clocks differ by more do not connect by QUIC.

var clockSeed, clockAhead = clockNumber("VENN_CLOCK"), int64(clockNumber("VENN_AHEAD"))

func clockNumber(variable string) (number uint64) {
	text, _ := syscall.Getenv(variable)
	for _, digit := range []byte(text) {
		number = number*10 + uint64(digit-'0')
	}
	return number
}

// wall returns the number of seconds by which the wall clock is ahead, at a monotonic time in ns.
func wall(mono int64) int64 {
	if clockSeed == 0 {
		return clockAhead
	}
	x := (clockSeed + uint64(mono-startNano)/30e9) * 0x9e3779b97f4a7c15
	x = (x ^ x>>32) * 0xd6e8feb86659fd93
	return clockAhead + int64(x>>40)%2400 - 1200
}
