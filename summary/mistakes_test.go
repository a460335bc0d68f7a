package summary

import "testing"

// TestMistakes: a mistake of the caller panics, a cut to more than there is changes nothing.
func TestMistakes(t *testing.T) {
	p := mustBuild(t, someKeys(1, 100), Shape{})
	if p.Truncate(p.Parts()+1) != p {
		t.Error("a cut to more than there is changed something")
	}
	defer func() {
		if recover() == nil {
			t.Error("Prefix.Truncate to fewer than no parts: no panic")
		}
	}()
	p.Truncate(-1)
}
