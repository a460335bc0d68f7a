package time

import "syscall"

// The wall clock of a program that is built with this file jumps twice a minute, and is wrong by twenty minutes at most,
// as the number in VENN_CLOCK says. The monotonic clock goes on. Certificates of libp2p's TLS begin an hour before they
// are made: peers whose clocks differ by more do not connect. .ci/fleet adds the file to package time, and a call of wall
// to Now.

var clockSeed = func() (seed uint64) {
	text, _ := syscall.Getenv("VENN_CLOCK")
	for _, digit := range []byte(text) {
		seed = seed*10 + uint64(digit-'0')
	}
	return seed
}()

// wall returns by how many seconds the wall clock is wrong.
func wall(mono int64) int64 {
	if clockSeed == 0 {
		return 0
	}
	x := (clockSeed + uint64(mono-startNano)/30e9) * 0x9e3779b97f4a7c15
	x = (x ^ x>>32) * 0xd6e8feb86659fd93
	return int64(x>>40)%2400 - 1200
}
