package nodelab

import "testing"

func TestRooms(t *testing.T) {
	for name, room := range map[string]func(bool) int{"messages": FloodedMessages, "streams": FloodedStreams, "newcomers": Newcomers, "crowd": Crowd, "dials": DialsInVain} {
		if kept := room(false); kept < messages {
			t.Errorf("%s: %d kept", name, kept)
		}
		if kept := room(true); kept > 0 {
			t.Errorf("%s: %d kept without the defence", name, kept)
		}
	}
}
