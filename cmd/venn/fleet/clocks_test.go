package fleet

import (
	"fmt"
	"os"
	"testing"
	"time"
)

// TestClocks starts three daemons whose wall clocks differ, as programs built by .ci/fleet can: the second is ahead of
// the first by 70 minutes, the third by a day. Both link with the first. VENN_CLOCKS says that the programs obey.
func TestClocks(t *testing.T) {
	program := binary(t, "VENN_NEW")
	if os.Getenv("VENN_CLOCKS") == "" {
		t.Skip("takes programs whose clocks can be set: .ci/fleet clocks builds them")
	}
	f := newFleet(t, program, func(int) ([]string, string) { return nil, "127.0.0.1" })
	defer f.endAll()
	ahead := map[int]int{0: 0, 2: 70, 3: 24 * 60}
	for i, minutes := range ahead {
		f.peers[i].start(program, fmt.Sprintf("VENN_AHEAD=%d", 60*minutes))
	}
	var linked map[int]int
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end); time.Sleep(time.Second) {
		linked = make(map[int]int)
		for i := range ahead {
			linked[i] = f.peers[i].look()
		}
	}
	if linked[0] < 2 || linked[2] < 1 || linked[3] < 1 {
		t.Errorf("daemons of these minutes ahead %v have these links %v", ahead, linked)
	}
}
