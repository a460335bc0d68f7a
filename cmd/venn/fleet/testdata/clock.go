package time

import "syscall"

// The wall clock of a program that is built with this file jumps twice a minute, and is wrong by twenty minutes at most,
// as the number in VENN_CLOCK says. VENN_AHEAD sets it ahead by as many seconds. The monotonic clock goes on. Certificates of libp2p's TLS begin an hour before they
// are made: peers whose clocks differ by more do not connect. .ci/fleet adds the file to package time, and a call of wall
// to Now.

var clockSeed, clockAhead = clockNumber("VENN_CLOCK"), int64(clockNumber("VENN_AHEAD"))

func clockNumber(variable string) (number uint64) {
	text, _ := syscall.Getenv(variable)
	for _, digit := range []byte(text) {
		number = number*10 + uint64(digit-'0')
	}
	return number
}

// wall returns by how many seconds the wall clock is wrong.
func wall(mono int64) int64 {
	if clockSeed == 0 {
		return clockAhead
	}
	x := (clockSeed + uint64(mono-startNano)/30e9) * 0x9e3779b97f4a7c15
	x = (x ^ x>>32) * 0xd6e8feb86659fd93
	return clockAhead + int64(x>>40)%2400 - 1200
}
