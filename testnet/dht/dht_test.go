package dht_test

import (
	"testing"

	"github.com/venn-p2p/venn/testnet"
	"github.com/venn-p2p/venn/testnet/dht"
)

// A DHT of few peers finds everything; announcing a key takes a message at least for each of the peers that get its
// record.
func TestClassic(t *testing.T) {
	c, err := testnet.Compare(t.Context(), testnet.Config{Peers: 6, Chunk: 1 << 40, Queries: 10, Seed: 1}, dht.Classic())
	if err != nil {
		t.Fatal(err)
	}
	r := c.Rows[0]
	t.Logf("%+v", r)
	if r.FindOne.Recall != 1 || r.FindAll.Recall < 0.99 || r.FindOne.Wrong+r.FindAll.Wrong > 0 {
		t.Errorf("find one %+v, find all %+v", r.FindOne, r.FindAll)
	}
	if r.Announced == 0 || r.Announced >= c.Holdings || r.AnnounceMessages < 5 || r.AnnounceBytes < 5*100 {
		t.Errorf("announced %d of %d at %v messages and %v bytes", r.Announced, c.Holdings, r.AnnounceMessages, r.AnnounceBytes)
	}
}
