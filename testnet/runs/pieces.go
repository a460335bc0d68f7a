package runs

import (
	"cmp"
	"context"
	"errors"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/venn-p2p/venn/testnet/sim"
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
// piece that was interrupted. The first error ends Do; results so far are kept. If a strategy panics in a piece, the
// others go on, and the error is returned after them.
func (p *Pieces[T]) Do(ctx context.Context, dir, name string, w Work, atOnce int,
	do func(ctx context.Context, piece int) (T, error),
) ([]*T, error) {
	found, ids := make([]*T, len(p.Of)), make([]string, len(p.Of))
	for i := range p.Of {
		ids[i] = p.Of[i].ID
	}
	var err error
	if p.known, err = Open[T](dir, name, w, ids); err != nil {
		return found, err
	}
	defer p.known.Close()
	p.done = make([]float64, len(ids))
	var todo []int
	for i, id := range ids {
		if f, known := p.known.Get(id); known {
			found[i] = &f
		}
		if found[i] == nil && w.Part.Has(i) {
			todo = append(todo, i)
		} else {
			p.done[i] = 1
		}
	}
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(atOnce)
	panics := make([]error, len(ids))
	for _, i := range todo {
		g.Go(func() error {
			if err := ctx.Err(); err != nil {
				return err
			}
			p.At(i, 0)
			f, err := do(ctx, i)
			p.over(i)
			switch err = cmp.Or(err, ctx.Err()); {
			case errors.Is(err, sim.ErrPanic):
				panics[i] = err
				return nil
			case err != nil:
				return err
			}
			found[i] = &f
			return p.known.Add(ids[i], f)
		})
	}
	err = g.Wait()
	return found, errors.Join(append(panics, err)...)
}

// over notes that a piece is done.
func (p *Pieces[T]) over(piece int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done[piece] = 1
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
