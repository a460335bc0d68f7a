package mirror

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/venn-p2p/venn/node/httpapi"
)

// Limits of a flight.
const (
	holdBack    = 64 << 10 // bytes at the end that nobody gets until the hash is right
	maxChildren = 3        // mirrors that a flight passes bytes on to at once
	linger      = 5 * time.Second
)

// flight is a fetch of content, shared by all requests for it. It goes on for linger after the last request has left.
type flight struct {
	m      *Mirror
	sum    Sum
	want   named // what the client asked for that began the flight
	begun  time.Time
	ctx    context.Context
	cancel context.CancelCauseFunc

	mu       sync.Mutex
	come     *sync.Cond // wakes readers: bytes have come, or the end
	turn     *sync.Cond // wakes sources: it may be the turn of another source
	file     *incoming
	size     int64     // -1: not known
	there    int64     // bytes here from the beginning on, without a gap
	parts    []*span   // what has not come yet, in order; the end of the last is -1 while the size is not known
	running  hash.Hash // hash of the first bytes, up to there
	origin   bool      // the origin was asked
	children int       // mirrors that are given bytes
	users    int       // number of readers, requests that wait for the size, and the fetch itself (one)
	left     time.Time // when a user left last
	over     bool
	err      error         // result of a flight that is over
	tally    httpapi.Fetch // bytes from peers and the origin, and failures on the way

	known  []*source     // peers that were named, the best first
	look   *look         // last look for holders
	pause  time.Duration // wait between the end of the last look and the next look
	alone  bool          // peers are no longer asked
	wasted time.Duration // time in which transfers that failed brought nothing, less that in which bytes came since
	fatal  error
	under  sync.WaitGroup // the key's way to the router, the search for peers, and what serves and watches sources
}

// join returns the flight for content. If there is none, join begins one by the request want.origin, or returns nil
// without such a request. Each join of a flight needs a leave.
func (m *Mirror) join(sum Sum, want named) *flight {
	m.mu.Lock()
	defer m.mu.Unlock()
	if f := m.flights[sum]; f != nil || want.origin == nil {
		if f != nil {
			f.news(func(time.Time) { f.users++ })
		}
		return f
	}
	f := &flight{
		m: m, sum: sum, want: want, begun: time.Now(), tally: httpapi.Fetch{Name: want.name, Sum: string(sum)},
		size: -1, parts: []*span{{end: -1}}, running: sha256.New(), users: 2,
		look: &look{ended: time.Now()}, alone: m.isBlamed(string(sum)),
	}
	f.come, f.turn = sync.NewCond(&f.mu), sync.NewCond(&f.mu)
	f.ctx, f.cancel = context.WithCancelCause(m.ctx)
	m.flights[sum] = f
	if !m.tasks.Run(f.run) {
		f.over, f.err = true, m.ctx.Err()
	}
	return f
}

// leave ends one user's use of the flight.
func (f *flight) leave() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.left = time.Now()
	switch f.users--; {
	case f.users == 1:
		f.in(linger)
	case f.users == 0 && f.file != nil:
		f.file.end()
	}
}

// news calls change with f.mu held, and wakes the sources to see whether it is their turn.
func (f *flight) news(change func(now time.Time)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	change(time.Now())
	f.turn.Broadcast()
}

// in returns the time that lies the given duration ahead, and wakes the sources at that time.
func (f *flight) in(while time.Duration) time.Time {
	at := time.Now().Add(while)
	time.AfterFunc(while, func() { f.news(func(time.Time) {}) })
	return at
}

// run fetches, and notifies all that wait of the result.
func (f *flight) run() {
	defer f.leave()
	defer f.cancel(nil)
	err := f.fill()
	f.m.ended(f.tally, f.begun, err)
	f.m.mu.Lock()
	delete(f.m.flights, f.sum)
	f.m.mu.Unlock()
	f.news(func(time.Time) {
		f.over, f.err = true, err
		f.come.Broadcast()
	})
}

// fill fetches the content into a file, checks its hash, and keeps it. The file is there before the key: a crash leaves no
// key without a file. Peers are asked meanwhile. The error is errLied if what peers gave or said was wrong.
func (f *flight) fill() error {
	file, err := f.m.cache.create(f.sum)
	if err != nil {
		return err
	}
	f.news(func(time.Time) { f.file = file })
	f.under.Go(func() { f.m.tell(f.m.cfg.Router.Advertise, f.sum) })
	if err = f.bring(); err == nil {
		err = f.sum.check(file.f, f.size, f.running)
	}
	switch {
	case err == nil:
		err = file.keep(f.sum, f.size)
	case errors.Is(err, errDisk):
		f.m.blamed.Add(f.m.cache.path(f.sum), maxBlame) // not the content
	case errors.Is(err, errSize) || errors.Is(err, errWrong) && f.tally.FromPeers > 0:
		f.blame(err)
		err = errLied
	}
	if _, whole := f.m.cache.size(f.sum); err != nil && !whole {
		f.m.tell(f.m.cfg.Router.Withdraw, f.sum)
	}
	return err
}

// write writes bytes of a transfer to the cache's file, and reports whether the transfer's range is complete. The error
// is errDisk, or errShare if peers have sent too much.
func (f *flight) write(p *source, s *span, b []byte) (complete bool, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if s.end >= 0 {
		b = b[:min(int64(len(b)), s.end-s.begin)] // a source that does not give ranges sends more
	}
	if n := int64(len(b)); n > 0 {
		tally, from := &f.tally.FromOrigin, f.m.metrics.fromOrigin
		if p.ID != "" {
			if err := f.file.fromPeers(n); err != nil {
				return false, err
			}
			tally, from, f.pause = &f.tally.FromPeers, f.m.metrics.fromPeers, 0
		}
		if _, err := f.file.WriteAt(b, s.begin); err != nil {
			return false, err
		}
		if s.begin == f.there {
			_, _ = f.running.Write(b)
			f.there += n
		}
		if s.begin += n; s.begin-p.mark >= trickle {
			if f.wasted > 0 {
				f.wasted = max(0, f.wasted-p.idle(time.Now()))
				f.turn.Broadcast()
			}
			p.moved, p.mark, p.waited = time.Now(), s.begin, 0
		}
		*tally += n
		from.Add(float64(n))
	}
	return s.begin == s.end, f.advance()
}

// advance drops ranges that are complete, and hashes the bytes up to the first gap. f.mu is held.
func (f *flight) advance() error {
	f.parts = slices.DeleteFunc(f.parts, func(s *span) bool { return s.begin == s.end })
	upTo := f.size
	if len(f.parts) > 0 {
		upTo = f.parts[0].begin
	}
	f.come.Broadcast()
	if upTo <= f.there {
		return nil
	}
	n, err := io.Copy(f.running, io.NewSectionReader(f.file.f, f.there, upTo-f.there))
	if f.there += n; err != nil {
		return fmt.Errorf("%w: %w", errDisk, err)
	}
	return nil
}

// setSize notes the size that a source states; -1: none. The error is errSize if it cannot be right. f.mu is held.
func (f *flight) setSize(size int64) error {
	switch last := len(f.parts) - 1; {
	case size < 0 || size == f.size:
		return nil
	case size > f.m.cfg.Size:
		return errDisk // the client gets it from the origin, and it is not kept
	case f.size >= 0 || size < f.parts[last].begin:
		return fmt.Errorf("%w: %d", errSize, size)
	default:
		f.size, f.parts[last].end = size, size
		return f.advance()
	}
}

// ends handles a body's end before its range's end: it fixes an unknown size, else the error is io.ErrUnexpectedEOF.
func (f *flight) ends(s *span) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.size >= 0 {
		return io.ErrUnexpectedEOF
	}
	return f.setSize(s.begin)
}

// ready returns the number of bytes from the beginning on that may be given. f.mu is held.
func (f *flight) ready() int64 {
	if f.over {
		return f.there
	}
	return max(0, min(f.there, f.size-holdBack))
}

// until calls try with f.mu held, now and whenever c wakes, until try is done or fails. The error is try's or ctx's.
func (f *flight) until(ctx context.Context, c *sync.Cond, try func() (done bool, err error)) error {
	defer context.AfterFunc(ctx, func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		c.Broadcast()
	})()
	f.mu.Lock()
	defer f.mu.Unlock()
	for ctx.Err() == nil {
		if done, err := try(); done || err != nil {
			return err
		}
		c.Wait()
	}
	return ctx.Err()
}

// reader returns a reader of the content as it comes, once its first bytes may be given. The error is the flight's, or
// ctx's.
func (f *flight) reader(ctx context.Context) (*reader, error) {
	r := &reader{f: f, ctx: ctx}
	return r, f.until(ctx, f.come, func() (bool, error) {
		if f.err == nil && (f.over || f.ready() > 0) {
			r.SectionReader = io.NewSectionReader(f.file.f, 0, f.size)
		}
		return r.SectionReader != nil, f.err
	})
}

// reader reads a flight's content as it comes. It is for http.ServeContent. Its section is the whole file, and has the
// size and the place where the next Read begins.
type reader struct {
	*io.SectionReader
	f   *flight
	ctx context.Context
}

// Read waits for the next bytes.
func (r *reader) Read(p []byte) (n int, err error) {
	at, _ := r.Seek(0, io.SeekCurrent) // cannot fail
	err = r.f.until(r.ctx, r.f.come, func() (bool, error) {
		switch ready := r.f.ready(); {
		case r.f.err != nil:
			return false, r.f.err
		case at >= r.Size():
			return false, io.EOF
		case ready <= at:
			return false, nil
		default:
			n, err = r.SectionReader.Read(p[:min(int64(len(p)), ready-at)])
			return true, err
		}
	})
	return n, err
}
