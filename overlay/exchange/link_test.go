package exchange

import (
	"testing"
	"unsafe"
)

// TestLinkIsSmall: with the pieces that the memory is given out in, a link takes 480 bytes.
func TestLinkIsSmall(t *testing.T) {
	if n := unsafe.Sizeof(link{}); n > 480 {
		t.Errorf("a link takes %d bytes", n)
	}
}
