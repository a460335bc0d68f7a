package experiment

import (
	"context"
	"sync"

	"github.com/venn-p2p/venn/testnet/runs"
)

// piece is a task, or a run, of an experiment.
type piece struct {
	id   string // names it by all that it follows from
	name string // for people
	cost float64
}

// progress tells how much of an experiment is done.
type progress struct {
	tell        func(Progress) // may be nil
	mu          sync.Mutex
	begun       piece
	total, done float64 // costs
	told        float64 // trials end in any order
}

// at tells that a part of the piece that began last is done.
func (p *progress) at(part float64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.told = max(p.told, min(1, (p.done+part*p.begun.cost)/p.total))
	if p.tell != nil {
		p.tell(Progress{p.begun.name, p.told})
	}
}

// begin tells that a piece begins.
func (p *progress) begin(begun piece) {
	p.mu.Lock()
	p.begun = begun
	p.mu.Unlock()
	p.at(0)
}

// pieces does those that are not known from before, of the options' part, some at one time. It returns all that are
// known, by piece. It drops what an interrupted one has found.
func pieces[T any](ctx context.Context, name string, o Options, of []piece, atOnce int, p *progress, do func(ctx context.Context, i int) (T, error)) ([]*T, error) {
	ids := make([]string, len(of))
	for i := range of {
		ids[i] = of[i].id
	}
	known, err := runs.Open[T](o.Out, name, o.Work, ids)
	if err != nil {
		return make([]*T, len(of)), err
	}
	defer known.Close()
	for i := range of {
		p.total += of[i].cost
		if !known.Todo(i, ids[i]) {
			p.done += of[i].cost
		}
	}
	return runs.Each(ctx, ids, atOnce, known, func(ctx context.Context, i int) (T, error) {
		p.begin(of[i])
		found, err := do(ctx, i)
		if err == nil {
			err = ctx.Err()
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		p.done += of[i].cost
		return found, err
	})
}
