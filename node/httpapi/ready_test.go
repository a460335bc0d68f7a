package httpapi

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	ds "github.com/ipfs/go-datastore"
	dssync "github.com/ipfs/go-datastore/sync"

	"github.com/venn-p2p/venn/node"
)

// badDisk is a datastore that refuses numbers of summaries while gone is set.
type badDisk struct {
	ds.Batching
	gone atomic.Bool
}

func (d *badDisk) Put(ctx context.Context, name ds.Key, value []byte) error {
	if name == ds.NewKey("/epoch") && d.gone.Load() {
		return errors.New("disk is gone")
	}
	return d.Batching.Put(ctx, name, value)
}

// TestNotReady: a node whose summary cannot be made is not ready, and says why.
func TestNotReady(t *testing.T) {
	disk := &badDisk{Batching: dssync.MutexWrap(ds.NewMapDatastore())}
	n := newNode(t, node.WithDatastore(disk))
	disk.gone.Store(true)
	add(t, n, someCID)
	at := serve(t, Public(Config{Node: n}))
	for end := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		status, _, answer := ask(t, "GET", at+"/health/ready", "")
		if status == 503 && strings.Contains(answer, "disk is gone") {
			return
		}
		if status == 200 || time.Now().After(end) {
			t.Fatalf("%d %s", status, answer)
		}
	}
}
