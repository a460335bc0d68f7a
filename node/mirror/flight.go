package mirror

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"
)

// ask makes a request of an origin.
type ask func(ctx context.Context, method string) (*http.Request, error)

// Wanted is content that a client asks for, and that anybody may have.
type Wanted struct {
	Sum    Sum
	Name   string // for the log
	Origin ask    // asks for the content, with the client's credentials
}

// What a flight may take.
const (
	holdBack    = 64 << 10 // bytes at the end that nobody gets until the hash is right
	maxChildren = 3        // mirrors that it passes bytes on to at once
	linger      = 5 * time.Second
	maxTried    = 8 // notes of failures
)

// flight is a fetch of content, shared by all requests for it. It goes on for a while when the last one has left.
type flight struct {
	m      *Mirror
	want   Wanted
	begun  time.Time
	ctx    context.Context
	cancel context.CancelFunc

	mu       sync.Mutex
	changed  chan struct{} // closed, and replaced, when there is something new
	file     *incoming
	size     int64           // -1: not known
	there    int64           // bytes from the beginning on
	apart    map[int64]int64 // ranges beyond, from their beginning to their end
	running  hash.Hash       // of the bytes there
	rank     rank            // that of one that has nothing
	origin   bool            // the origin was asked
	takes    bool            // from a peer that has it not whole
	children int             // mirrors that are given bytes
	users    int             // readers, and requests that wait for the size
	round    int             // number of beginnings
	over     bool
	err      error            // of a flight that is over
	gave     map[peer.ID]bool // peers that claimed to have it whole, and gave bytes
	tally    [flows]int64
	tried    []string // failures on the way
}

// join returns the flight for content, which begins if there is none. Each join needs a leave.
func (m *Mirror) join(want Wanted) *flight {
	m.mu.Lock()
	defer m.mu.Unlock()
	if f := m.flights[want.Sum]; f != nil && f.enter() {
		return f
	}
	f := &flight{
		m: m, want: want, begun: time.Now(), changed: make(chan struct{}), size: -1, apart: make(map[int64]int64), running: sha256.New(),
		rank: rankOf(m.cfg.Host.ID(), want.Sum), users: 1, gave: make(map[peer.ID]bool),
	}
	f.ctx, f.cancel = context.WithCancel(m.ctx)
	m.flights[want.Sum] = f
	if !m.tasks.Run(f.run) {
		f.over, f.err = true, errClosed
	}
	return f
}

// joinIfThere returns the flight for content, nil if there is none.
func (m *Mirror) joinIfThere(s Sum) *flight {
	m.mu.Lock()
	defer m.mu.Unlock()
	if f := m.flights[s]; f != nil && f.enter() {
		return f
	}
	return nil
}

// enter counts a user, unless the flight has failed.
func (f *flight) enter() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.err == nil {
		f.users++
	}
	return f.err == nil
}

// leave takes a user back. The flight ends if nobody comes within linger.
func (f *flight) leave() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.users--; f.users == 0 && !f.over {
		time.AfterFunc(linger, f.cancelUnused)
	}
	f.closeUnused()
}

func (f *flight) cancelUnused() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.users == 0 && !f.over {
		f.cancel()
	}
}

// closeUnused closes the file of a flight that is over and has no users. f.mu is held.
func (f *flight) closeUnused() {
	if f.users == 0 && f.over && f.file != nil {
		f.file.end()
		f.file = nil
	}
}

// wake wakes all that wait for news. f.mu is held.
func (f *flight) wake() {
	close(f.changed)
	f.changed = make(chan struct{})
}

// run fetches, and notifies all that wait of the result. It makes the file before it advertises the key: a crash leaves
// no key without a file that tells of it.
func (f *flight) run() {
	defer f.cancel()
	file, err := f.m.cache.create(f.want.Sum)
	f.mu.Lock()
	f.file = file
	f.mu.Unlock()
	if err == nil {
		if err := f.m.cfg.Router.Advertise(f.ctx, f.want.Sum.Key()); err != nil {
			f.m.log.Warn("mirror: a fetch is not told to peers", "name", f.want.Name, "err", err)
		}
		if err = f.fetch(); err == nil {
			err = file.keep(f.want.Sum, f.size)
		}
		if _, whole := f.m.cache.size(f.want.Sum); err != nil && !whole {
			f.m.withdraw(f.want.Sum)
		}
		file.release()
	}
	f.m.mu.Lock()
	if f.m.flights[f.want.Sum] == f {
		delete(f.m.flights, f.want.Sum)
	}
	f.m.mu.Unlock()
	f.mu.Lock()
	defer f.mu.Unlock()
	f.over, f.err = true, err
	f.closeUnused()
	f.wake()
	f.m.ended(f)
}

// write takes in bytes of a round. The errors: errRestarted, errLong, errShare, errDisk.
func (f *flight) write(round int, from flow, p []byte, at int64) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	end := at + int64(len(p))
	switch {
	case round != f.round:
		return errRestarted
	case f.size >= 0 && end > f.size:
		return errLong
	}
	if err := f.file.writeAt(from, p, at, f.size); err != nil {
		return err
	}
	f.tally[from] += int64(len(p))
	f.m.count(from, int64(len(p)))
	if at != f.there {
		f.putApart(at, end)
		return nil
	}
	_, _ = f.running.Write(p)
	f.there = end
	f.wake()
	return f.takeApart()
}

// putApart notes a range that lies beyond the bytes there, joined with the one that it follows.
func (f *flight) putApart(begin, end int64) {
	for b, e := range f.apart {
		if e == begin {
			f.apart[b] = end
			return
		}
	}
	f.apart[begin] = end
}

// takeApart takes in the ranges that follow the bytes there.
func (f *flight) takeApart() error {
	for end := f.apart[f.there]; end > 0; end = f.apart[f.there] {
		if _, err := io.Copy(f.running, io.NewSectionReader(f.file.f, f.there, end-f.there)); err != nil {
			return fmt.Errorf("%w: %w", errDisk, err)
		}
		delete(f.apart, f.there)
		f.there = end
	}
	return nil
}

// setSize notes the size by a source. The error is errSize if another is known.
func (f *flight) setSize(size int64) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case size < f.there || f.size >= 0 && f.size != size:
		return fmt.Errorf("%w: %d", errSize, size)
	case f.size < 0:
		f.size = size
		f.wake()
	}
	return nil
}

// where returns the round, the bytes there and the size.
func (f *flight) where() (round int, there, size int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.round, f.there, f.size
}

// restart drops the bytes so far. Readers that have begun end with errRestarted.
func (f *flight) restart() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.round++
	f.there, f.size, f.running = 0, -1, sha256.New()
	clear(f.apart)
	f.wake()
	if err := f.file.f.Truncate(0); err != nil {
		return fmt.Errorf("%w: %w", errDisk, err)
	}
	return nil
}

// note keeps a failure on the way, for the log.
func (f *flight) note(what string, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.tried) < maxTried {
		f.tried = append(f.tried, what+": "+err.Error())
	}
}

func (f *flight) set(what *bool, to bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	*what = to
}

// ready returns the bytes from the beginning on that may be given while the flight goes on. f.mu is held.
func (f *flight) ready() int64 {
	return max(0, min(f.there, f.size-holdBack))
}

// until calls try, with f.mu held, whenever there is news, until it returns true. The error is ctx's.
func (f *flight) until(ctx context.Context, try func() (done bool)) error {
	for {
		f.mu.Lock()
		done, changed := try(), f.changed
		f.mu.Unlock()
		if done {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// reader returns a reader of the content as it comes, once its size is known. The error is the flight's, or ctx's.
func (f *flight) reader(ctx context.Context) (r *reader, err error) {
	r = &reader{f: f, ctx: ctx, round: -1}
	waited := f.until(ctx, func() bool {
		r.size, err = f.size, f.err
		return f.err != nil || f.size >= 0
	})
	return r, errors.Join(waited, err)
}

// reader reads a flight's content as it comes. It is for http.ServeContent.
type reader struct {
	f     *flight
	ctx   context.Context
	size  int64
	at    int64
	round int // of the bytes read; -1: none were
}

// Seek sets where the next Read begins.
func (r *reader) Seek(offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekCurrent:
		offset += r.at
	case io.SeekEnd:
		offset += r.size
	}
	if offset < 0 {
		return 0, errors.New("mirror: seek before the beginning")
	}
	r.at = offset
	return offset, nil
}

// Read waits for the next bytes. Once some were read, bytes of another round are an error; another size always is.
func (r *reader) Read(p []byte) (n int, err error) {
	if err := r.f.until(r.ctx, func() bool {
		n, err = r.read(p)
		return n > 0 || err != nil
	}); err != nil {
		return 0, err
	}
	r.at += int64(n)
	return n, err
}

// read reads the bytes that may be read now. f.mu is held.
func (r *reader) read(p []byte) (int, error) {
	f := r.f
	switch {
	case f.err != nil:
		return 0, f.err
	case r.at >= r.size:
		return 0, io.EOF
	case f.size >= 0 && f.size != r.size, r.round >= 0 && r.round != f.round:
		return 0, errRestarted
	}
	upTo := f.there
	if !f.over {
		upTo = f.ready()
	}
	if upTo <= r.at {
		return 0, nil
	}
	r.round = f.round
	n, err := f.file.f.ReadAt(p[:min(int64(len(p)), upTo-r.at)], r.at)
	if n > 0 {
		err = nil
	}
	return n, err
}
