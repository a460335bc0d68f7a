package sim

import (
	"cmp"
	"container/heap"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/venn-p2p/venn/testnet/strategy"
)

// plainQueue is the slow twin of the queue: one heap for all events, by window, peer, time and order of
// planning.
type plainQueue struct {
	width  time.Duration
	now    int64
	seq    uint64
	events []plainEvent
}

type plainEvent struct {
	window int64
	seq    uint64
	event
}

func (q *plainQueue) Len() int { return len(q.events) }
func (q *plainQueue) Less(i, j int) bool {
	a, b := &q.events[i], &q.events[j]
	return cmp.Or(cmp.Compare(a.window, b.window), cmp.Compare(a.to, b.to), cmp.Compare(a.at, b.at), cmp.Compare(a.seq, b.seq)) < 0
}
func (q *plainQueue) Swap(i, j int) { q.events[i], q.events[j] = q.events[j], q.events[i] }

// Push is for package heap.
func (q *plainQueue) Push(x any) { q.events = append(q.events, x.(plainEvent)) }

// Pop is for package heap.
func (q *plainQueue) Pop() any {
	last := q.events[len(q.events)-1]
	q.events = q.events[:len(q.events)-1]
	return last
}

func (q *plainQueue) push(e event) {
	q.seq++
	heap.Push(q, plainEvent{max(int64(e.at/q.width), q.now+1), q.seq, e})
}

// next are the events of the next window, in the order in which peers deal with them.
func (q *plainQueue) next() (events []event) {
	for q.now++; len(q.events) > 0 && q.events[0].window == q.now; {
		events = append(events, heap.Pop(q).(plainEvent).event)
	}
	return events
}

// dealing has a simulator deal with events.
type dealing struct{ Sim }

func newDealing(peers int, width time.Duration) *dealing {
	return &dealing{Sim{nodes: make([]node, peers), counts: make([]int32, peers), queue: newQueue(width)}}
}

// next calls do with the events of the next window, in the order in which peers deal with them.
func (d *dealing) next(do func(*event)) {
	d.queue.now++
	d.group(d.queue.take())
	for i := range d.turns {
		for k := range d.turns[i].events {
			do(&d.turns[i].events[k])
		}
	}
}

// Events come as the plain heap has them: near and far ones, many at one instant, and some that are late.
func TestQueueAgainstHeap(t *testing.T) {
	const width, peers = 10 * time.Millisecond, 20
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 1))
		fast, plain := newDealing(peers, width), &plainQueue{width: width}
		left := 3000
		push := func() {
			if left--; left < 0 {
				return
			}
			at := time.Duration(fast.queue.now)*width + time.Duration(rng.IntN(12)-2)*width/2
			if rng.IntN(20) == 0 {
				at += time.Duration(rng.IntN(3000)) * width
			}
			e := event{at: at, to: strategy.ID(rng.IntN(peers)), msg: strategy.Message{Bytes: left}}
			fast.push(&e)
			plain.push(e)
		}
		for range 100 {
			push()
		}
		for dealt := 0; dealt < 3000; {
			want := plain.next()
			n := 0
			fast.next(func(e *event) {
				if n >= len(want) || e.at != want[n].at || e.msg != want[n].msg || e.to != want[n].to {
					t.Fatalf("seed %d, window %d, event %d: %+v", seed, fast.queue.now, n, *e)
				}
				n++
			})
			if n != len(want) {
				t.Fatalf("seed %d, window %d: %d events, want %d", seed, fast.queue.now, n, len(want))
			}
			dealt += n
			for range n + rng.IntN(2) {
				push()
			}
			if dealt > 0 && len(plain.events) == 0 {
				for range 50 {
					push()
				}
			}
		}
	}
}
