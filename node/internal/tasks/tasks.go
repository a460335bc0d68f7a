// Package tasks counts the goroutines of a node. Once it is closed none begins, and its owner can wait until all have
// ended.
package tasks

import "sync"

// Group counts the goroutines of a node. The zero value is ready.
type Group struct {
	mu     sync.Mutex
	closed bool
	wg     sync.WaitGroup
}

// Enter counts the caller in, unless the node closes. If it returns true, Leave must follow.
func (t *Group) Enter() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return false
	}
	t.wg.Add(1)
	return true
}

// Leave counts the caller out.
func (t *Group) Leave() { t.wg.Done() }

// Run starts f in a goroutine, unless the group is closed, and reports whether it did.
func (t *Group) Run(f func()) bool {
	if !t.Enter() {
		return false
	}
	go func() {
		defer t.Leave()
		f()
	}()
	return true
}

// Close refuses new goroutines.
func (t *Group) Close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.closed = true
}

// Wait waits until every goroutine has left.
func (t *Group) Wait() { t.wg.Wait() }
