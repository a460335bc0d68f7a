package node

import "sync"

// tasks are the goroutines of a node, so that Close can wait for them.
type tasks struct {
	mu     sync.Mutex
	closed bool
	wg     sync.WaitGroup
}

// enter counts the caller in, unless the node closes. If it returns true, leave must follow.
func (t *tasks) enter() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return false
	}
	t.wg.Add(1)
	return true
}

func (t *tasks) leave() { t.wg.Done() }

// run starts f, unless the node closes.
func (t *tasks) run(f func()) bool {
	if !t.enter() {
		return false
	}
	go func() {
		defer t.leave()
		f()
	}()
	return true
}

// close lets nobody in any more and says whether it is the first to do so.
func (t *tasks) close() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	first := !t.closed
	t.closed = true
	return first
}
