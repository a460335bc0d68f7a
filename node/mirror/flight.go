package mirror

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"net/http"
	"os"
	"sync"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"
)

// Wanted is content that a client asks for, and that anybody may have.
type Wanted struct {
	Sum  Sum
	Name string // for the log
	// Origin makes the request that the origin answers with the content. It bears the client's credentials.
	Origin func(ctx context.Context, method string) (*http.Request, error)
}

// What a flight may take.
const (
	holdBack    = 64 << 10 // bytes at the end that nobody gets until the hash is right
	reserveStep = 4 << 20  // bytes by which its place in the cache grows
	maxChildren = 3        // mirrors that it passes bytes on to at once
	linger      = 5 * time.Second
)

var (
	errRestarted = errors.New("mirror: what had come was wrong, and comes again")
	errLong      = errors.New("mirror: a source sends more than it said")
	errSize      = errors.New("mirror: a source says another size")
	errClosed    = errors.New("mirror: closed")
	errDisk      = errors.New("mirror: cache")
)

// flight is a fetch of content, shared by all who ask for it. It goes on for a while when the last one has left.
type flight struct {
	m      *Mirror
	want   Wanted
	begun  time.Time
	ctx    context.Context
	cancel context.CancelFunc

	mu       sync.Mutex
	changed  chan struct{} // closed, and replaced, when there is something new
	file     *os.File
	size     int64           // -1: not known
	reserved int64           // bytes of the cache
	there    int64           // bytes from the beginning on
	apart    map[int64]int64 // ranges beyond, from their beginning to their end
	running  hash.Hash       // of the bytes there
	rank     rank
	children int // mirrors that are given bytes
	users    int // readers, and those that wait for the size
	round    int // counts the beginnings
	over     bool
	err      error            // of a flight that is over
	gave     map[peer.ID]bool // peers that said that they have it whole, and gave bytes
	tally    map[source]int64
	tried    []string // what went wrong on the way
}

// source says where bytes came from.
type source string

const (
	fromCache  source = "cache"
	fromPeers  source = "peers"
	fromOrigin source = "origin"
)

// join returns the flight for content, which begins if there is none. Each join needs a leave.
func (m *Mirror) join(want Wanted) *flight {
	m.mu.Lock()
	defer m.mu.Unlock()
	f := m.flights[want.Sum]
	if f != nil && f.enter() {
		return f
	}
	f = &flight{
		m: m, want: want, begun: time.Now(), changed: make(chan struct{}), size: -1, apart: make(map[int64]int64), running: sha256.New(),
		rank: rankOf(m.cfg.Host.ID(), want.Sum, undecided), users: 1, tally: make(map[source]int64), gave: make(map[peer.ID]bool),
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
	if f.err != nil {
		return false
	}
	f.users++
	return true
}

// leave takes a user back. The flight ends if nobody comes within linger.
func (f *flight) leave() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.users--
	if f.users > 0 {
		return
	}
	if f.over {
		f.closeFile()
		return
	}
	time.AfterFunc(linger, func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		if f.users == 0 && !f.over {
			f.cancel()
		}
	})
}

func (f *flight) closeFile() {
	if f.file != nil {
		_ = f.file.Close()
		f.file = nil
	}
}

// wake tells all who wait that something is new. f.mu is held.
func (f *flight) wake() {
	close(f.changed)
	f.changed = make(chan struct{})
}

// run fetches, and ends the flight.
func (f *flight) run() {
	defer f.cancel()
	err := f.begin()
	if err == nil {
		err = f.fetch()
	}
	if err == nil {
		err = f.keep()
	}
	f.finish(err)
}

// begin makes the file, then advertises the key: a crash leaves no key without a file that tells of it.
func (f *flight) begin() error {
	file, err := f.m.cache.create(f.want.Sum)
	if err != nil {
		return fmt.Errorf("%w: %w", errDisk, err)
	}
	f.mu.Lock()
	f.file = file
	f.mu.Unlock()
	if err := f.m.cfg.Router.Advertise(f.ctx, f.want.Sum.Key()); err != nil {
		f.m.log.Warn("mirror: a fetch is not told to peers", "name", f.want.Name, "err", err)
	}
	return nil
}

// keep hands the file, which is right, to the cache.
func (f *flight) keep() error {
	f.mu.Lock()
	file, size, reserved := f.file, f.size, f.reserved
	f.mu.Unlock()
	if err := f.m.cache.keep(f.want.Sum, file, size, reserved); err != nil {
		return fmt.Errorf("%w: %w", errDisk, err)
	}
	f.mu.Lock()
	f.reserved = 0
	f.mu.Unlock()
	return nil
}

// finish tells all who wait how the flight ended.
func (f *flight) finish(err error) {
	if err != nil && f.file != nil {
		if _, whole := f.m.cache.size(f.want.Sum); !whole {
			f.m.withdraw(f.want.Sum)
		}
		_ = os.Remove(f.file.Name())
	}
	f.m.mu.Lock()
	if f.m.flights[f.want.Sum] == f {
		delete(f.m.flights, f.want.Sum)
	}
	f.m.mu.Unlock()
	f.mu.Lock()
	defer f.mu.Unlock()
	f.m.cache.release(f.reserved)
	f.over, f.err = true, err
	if f.users == 0 {
		f.closeFile()
	}
	f.wake()
	f.m.ended(f)
}

// write takes in bytes of a round. The errors: errRestarted, errLong, errDisk.
func (f *flight) write(round int, from source, p []byte, at int64) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	end := at + int64(len(p))
	switch {
	case round != f.round:
		return errRestarted
	case f.size >= 0 && end > f.size:
		return errLong
	}
	if end > f.reserved {
		step := max(end-f.reserved, reserveStep)
		if f.size >= 0 {
			step = max(end, min(f.reserved+step, f.size)) - f.reserved
		}
		if err := f.m.cache.reserve(step); err != nil {
			return fmt.Errorf("%w: %w", errDisk, err)
		}
		f.reserved += step
	}
	if _, err := f.file.WriteAt(p, at); err != nil {
		return fmt.Errorf("%w: %w", errDisk, err)
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
	for {
		end, ok := f.apart[f.there]
		if !ok {
			return nil
		}
		if _, err := io.Copy(f.running, io.NewSectionReader(f.file, f.there, end-f.there)); err != nil {
			return fmt.Errorf("%w: %w", errDisk, err)
		}
		delete(f.apart, f.there)
		f.there = end
	}
}

// setSize takes in what a source says of the size. The error is errSize if another is known.
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

// restart drops what has come. Readers that have begun end with errRestarted.
func (f *flight) restart() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.round++
	f.there, f.size, f.running = 0, -1, sha256.New()
	clear(f.apart)
	f.wake()
	if err := f.file.Truncate(0); err != nil {
		return fmt.Errorf("%w: %w", errDisk, err)
	}
	return nil
}

// note keeps what went wrong on the way, for the log.
func (f *flight) note(what string, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.tried) < 8 {
		f.tried = append(f.tried, what+": "+err.Error())
	}
}

// descend lowers the rank to the depth of one that takes from a mirror of another depth.
func (f *flight) descend(below int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.rank.depth = min(f.rank.depth, below+1)
}

// known waits until the size is known, and returns it. The error is that of the flight, or of ctx.
func (f *flight) known(ctx context.Context) (size int64, err error) {
	err = f.until(ctx, func() bool { return f.size >= 0 })
	_, _, size = f.where()
	return size, err
}

// wait waits until the content is whole and right. The error is that of the flight, or of ctx.
func (f *flight) wait(ctx context.Context) error { return f.until(ctx, func() bool { return f.over }) }

// until waits until a condition holds, or the flight has failed. f.mu is held when holds is called.
func (f *flight) until(ctx context.Context, holds func() bool) error {
	for {
		f.mu.Lock()
		done, err, changed := holds(), f.err, f.changed
		f.mu.Unlock()
		if err != nil || done {
			return err
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// reader reads a flight's content as it comes. It is for http.ServeContent.
type reader struct {
	f     *flight
	ctx   context.Context
	size  int64
	at    int64
	round int
}

func (f *flight) reader(ctx context.Context, size int64) *reader {
	return &reader{f, ctx, size, 0, -1}
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

// Read waits for the next bytes. Once some were read, those of another round are an error, and another size always is.
func (r *reader) Read(p []byte) (int, error) {
	for {
		r.f.mu.Lock()
		n, err := r.read(p)
		changed := r.f.changed
		r.f.mu.Unlock()
		if n > 0 || err != nil {
			return n, err
		}
		select {
		case <-changed:
		case <-r.ctx.Done():
			return 0, r.ctx.Err()
		}
	}
}

// read reads what may be read now. f.mu is held.
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
		upTo = min(upTo, r.size-holdBack)
	}
	if upTo <= r.at {
		return 0, nil
	}
	r.round = f.round
	n, err := f.file.ReadAt(p[:min(int64(len(p)), upTo-r.at)], r.at)
	r.at += int64(n)
	if n > 0 {
		err = nil
	}
	return n, err
}
