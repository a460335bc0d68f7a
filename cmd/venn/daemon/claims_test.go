package daemon

import (
	"testing"

	"github.com/venn-p2p/venn/cmd/venn/repo"
)

// TestMirrorLeavesKeysOfOthers has a mirror take back content that users and followers hold, too.
func TestMirrorLeavesKeysOfOthers(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	configure(t, r, func(c *repo.Config) { c.Mirror.Listen = "127.0.0.1:0" })
	begun, d, stop := start(t, r)
	defer func() { _ = stop() }()
	if now := must(d.node.Status(t.Context())); begun.Keys != now.Keys {
		t.Errorf("begins with %d keys, and the status has %d", begun.Keys, now.Keys)
	}
	own, before, since, followed := []byte("own"), []byte("before"), []byte("since"), []byte("followed")
	log, _, err := r.OpenImport(t.Context(), "a folder")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = log.Close() }()
	router := d.claims
	must(d.addKeys(t.Context(), before))
	noErr(t, router.Advertise(t.Context(), own, before, since, followed))
	must(d.addKeys(t.Context(), since))
	noErr(t, log.Adds([]string{"followed"}))
	noErr(t, router.Withdraw(t.Context(), own, before, since, followed))
	for key, want := range map[string]bool{"own": false, "before": true, "since": true, "followed": true} {
		if has, err := d.node.Advertises([]byte(key)); err != nil || has != want {
			t.Errorf("%s: advertised %v, %v", key, has, err)
		}
	}
	noErr(t, router.Advertise(t.Context(), own))
	noErr(t, stop())
	_, d, stop = start(t, r)
	noErr(t, d.claims.Withdraw(t.Context(), own, before))
	if has, err := d.node.Advertises(own); err != nil || has {
		t.Errorf("after a restart, the mirror's own key stays: %v", err)
	}
	if has, err := d.node.Advertises(before); err != nil || !has {
		t.Errorf("after a restart, the user's key is gone: %v", err)
	}
}
