package runs

import (
	"context"
	"sync"
)

// Piece is a run of an experiment, or a task of one.
type Piece struct {
	ID   string  // name that has all that the result follows from
	Name string  // name for people
	Cost float64 // cost relative to other pieces', for the progress alone
}

// Pieces are all runs or tasks of an experiment. They are done once, by Do.
type Pieces[T any] struct {
	Of []Piece
	// Tell is called when a piece begins and as it goes on, never by two goroutines at once. done is the share of all
	// pieces' cost that is done. It may be nil.
	Tell func(piece int, done float64)

	known *Ledger[T]
	mu    sync.Mutex
	done  []float64 // share of each piece that is done
}

// Do does those pieces of the named experiment whose results are not known, in the part that w names, atOnce at a time.
// It returns all known results, by piece. The folder dir keeps the results; "" keeps none. It drops the result of a
// piece that was interrupted.
func (p *Pieces[T]) Do(ctx context.Context, dir, name string, w Work, atOnce int,
	do func(ctx context.Context, piece int) (T, error),
) ([]*T, error) {
	ids := make([]string, len(p.Of))
	for i := range p.Of {
		ids[i] = p.Of[i].ID
	}
	var err error
	if p.known, err = Open[T](dir, name, w, ids); err != nil {
		return make([]*T, len(ids)), err
	}
	defer p.known.Close()
	p.done = make([]float64, len(ids))
	for i, id := range ids {
		if !p.known.Todo(i, id) {
			p.done[i] = 1
		}
	}
	return Each(ctx, ids, atOnce, p.known, func(ctx context.Context, i int) (T, error) {
		p.At(i, 0)
		found, err := do(ctx, i)
		if err == nil {
			err = ctx.Err()
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		p.done[i] = 1
		return found, err
	})
}

// At notes the share of a piece that is done, and calls Tell.
func (p *Pieces[T]) At(piece int, part float64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done[piece] = max(p.done[piece], part)
	if p.Tell == nil {
		return
	}
	done, total := 0.0, 0.0
	for i, x := range p.Of {
		done, total = done+p.done[i]*x.Cost, total+x.Cost
	}
	p.Tell(piece, min(1, done/total))
}

// left returns the number of pieces that have not been done.
func (p *Pieces[T]) left() (n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, part := range p.done {
		if part < 1 {
			n++
		}
	}
	return n
}
