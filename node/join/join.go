package join

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/venn-p2p/venn/overlay/wire"
	"github.com/venn-p2p/venn/summary/bloom"
	"github.com/venn-p2p/venn/summary/estimate"
)

// ErrNoSources means that Join was called without sources.
var ErrNoSources = errors.New("join: no sources")

// Source is one of the sets, on this machine or another. A filter travels as a message of a bloom.Codec whose only
// type is p. The methods end early when ctx ends.
type Source interface {
	// Size returns the number of keys, and the bytes that sending all of them takes (see KeyBytes).
	Size(ctx context.Context) (wire.JoinSize, error)
	// Filter returns the message of the filter of all keys, with parameters p.
	Filter(ctx context.Context, p bloom.Params) (message []byte, err error)
	// Matching calls f with each key that is in the filter of message, which has parameters p. Each key comes once, in
	// any order, until f fails. f may keep the keys.
	Matching(ctx context.Context, p bloom.Params, message []byte, f func(key []byte) error) error
}

// KeyBytes returns the bytes that sending a key of n bytes takes: its length as a varint, and the key.
func KeyBytes(n int) int { return len(binary.AppendUvarint(nil, uint64(n))) + n }

// Report counts what a join moved. Bytes are those of filters and keys, without the framing of a network.
type Report struct {
	Params     bloom.Params // parameters of the collected filters
	Blocks     int          // blocks of the AND that were sent back
	Estimated  float64      // estimated keys in common, from the filters; +Inf if their AND is full
	Candidates int          // keys sent by all sources together
	Collected  int          // bytes of filters to the coordinator
	Returned   int          // bytes of the AND to all sources together
	KeysMoved  int          // bytes of keys to the coordinator
	Shipping   int          // bytes that shipping all sets would have taken
}

// Moved returns the number of bytes that the join moved in all.
func (r Report) Moved() int { return r.Collected + r.Returned + r.KeysMoved }

// String returns the counts of bytes in words.
func (r Report) String() string {
	return fmt.Sprintf("%d bytes moved in place of %d: filters %d, their AND %d, keys %d", r.Moved(), r.Shipping, r.Collected, r.Returned, r.KeysMoved)
}

// Join returns the keys that all sources hold, in increasing order. p is the form of the collected filters. If only
// its Hasher is set, [Plan] chooses the form. In each step all sources are asked at once, except that the smallest set
// sends its keys before the others. When one source fails, the others are cancelled. Errors of sources come back
// wrapped with the number of the source.
func Join(ctx context.Context, sources []Source, p bloom.Params) ([][]byte, Report, error) {
	if len(sources) == 0 {
		return nil, Report{}, ErrNoSources
	}
	j := coordinator{ctx: ctx, sources: sources}
	if err := j.measure(); err != nil {
		return nil, Report{}, err
	}
	if p == (bloom.Params{Hasher: p.Hasher}) {
		p = Plan(j.sizes, p.Hasher)
	}
	if err := p.Check(); err != nil {
		return nil, Report{}, err
	}
	if err := j.collect(p); err != nil {
		return nil, Report{}, err
	}
	if err := j.reduce(); err != nil {
		return nil, Report{}, err
	}
	keys, err := j.gather()
	return keys, j.report, err
}

// coordinator is the state of one join.
type coordinator struct {
	ctx     context.Context
	sources []Source
	sizes   []wire.JoinSize
	filters []*bloom.Filter
	and     *bloom.Filter
	report  Report
}

// each asks all sources at once, and waits for all. When one fails, it cancels the others.
func (j *coordinator) each(what string, ask func(ctx context.Context, i int, s Source) error) error {
	group, ctx := errgroup.WithContext(j.ctx)
	for i, s := range j.sources {
		group.Go(func() error {
			if err := ask(ctx, i, s); err != nil {
				return fmt.Errorf("join: %s of source %d: %w", what, i, err)
			}
			return nil
		})
	}
	return group.Wait()
}

func (j *coordinator) measure() error {
	j.sizes = make([]wire.JoinSize, len(j.sources))
	err := j.each("size", func(ctx context.Context, i int, s Source) (err error) {
		j.sizes[i], err = s.Size(ctx)
		return err
	})
	for _, s := range j.sizes {
		j.report.Shipping += s.Bytes
	}
	return err
}

// collect gets the filters and ANDs them: steps (a) and (b) of section 6.
func (j *coordinator) collect(p bloom.Params) error {
	j.report.Params = p
	codec, err := bloom.NewCodec(p)
	if err != nil {
		return err
	}
	j.filters = make([]*bloom.Filter, len(j.sources))
	collected := make([]int, len(j.sources))
	err = j.each("filter", func(ctx context.Context, i int, s Source) error {
		message, err := s.Filter(ctx, p)
		if err != nil {
			return err
		}
		collected[i] = len(message)
		j.filters[i], err = codec.Decode(message, nil)
		return err
	})
	if err != nil {
		return err
	}
	for _, n := range collected {
		j.report.Collected += n
	}
	j.and, err = intersection(j.filters...)
	return err
}

// reduce drops the blocks of the AND that are not worth their bytes, before step (c).
func (j *coordinator) reduce() error {
	p := j.report.Params
	each := make([]int, len(j.filters))
	for i, f := range j.filters {
		each[i] = f.OnesCount()
	}
	common := math.Inf(1)
	if p.BlockBits > 1 { // a block of one bit tells nothing
		array := estimate.Array{Bits: p.BlockBits, Blocks: p.Blocks, Hashes: p.Hashes}
		estimated, err := array.EstimateCommon(0.9, j.and.OnesCount(), each...)
		if err != nil {
			return fmt.Errorf("join: %w", err)
		}
		common = estimated.Value
	}
	j.report.Estimated = common
	j.report.Blocks = worthwhileBlocks(j.and, j.filters, j.sizes, common)
	j.and.Truncate(j.report.Blocks)
	return nil
}

// gather sends the AND back, collects the candidates and keeps the keys that all sources sent: steps (c) and (d).
func (j *coordinator) gather() ([][]byte, error) {
	p := j.and.Params()
	codec, err := bloom.NewCodec(p)
	if err != nil {
		return nil, err
	}
	message, err := codec.Append(nil, j.and, nil)
	if err != nil {
		return nil, err
	}
	smallest := 0
	for i, s := range j.sizes {
		if s.Bytes < j.sizes[smallest].Bytes {
			smallest = i
		}
	}
	number := make(map[string]int) // index of each candidate that the smallest set sent
	answers := make([]answer, len(j.sources))
	ask := func(ctx context.Context, i int, s Source) error {
		a := &answers[i]
		if i != smallest {
			a.has = make([]bool, len(number))
		}
		return s.Matching(ctx, p, message, func(key []byte) error {
			a.keys++
			a.bytes += KeyBytes(len(key))
			n, known := number[string(key)]
			switch {
			case i != smallest && known:
				a.has[n] = true
			case i == smallest && !known:
				number[string(key)] = len(number)
			}
			return nil
		})
	}
	for _, first := range []bool{true, false} {
		err := j.each("keys", func(ctx context.Context, i int, s Source) error {
			if first != (i == smallest) {
				return nil
			}
			return ask(ctx, i, s)
		})
		if err != nil {
			return nil, err
		}
	}
	j.report.Returned = len(message) * len(j.sources)
	for _, a := range answers {
		j.report.Candidates += a.keys
		j.report.KeysMoved += a.bytes
	}
	var common [][]byte
	for key, n := range number {
		if !slices.ContainsFunc(answers, func(a answer) bool { return a.has != nil && !a.has[n] }) {
			common = append(common, []byte(key))
		}
	}
	slices.SortFunc(common, bytes.Compare)
	return common, nil
}

// answer sums up one source's answer in the last step.
type answer struct {
	keys, bytes int
	// For each candidate of the smallest set, by index, whether this source has it; nil for the smallest set itself
	has []bool
}

// intersection returns the AND of all filters, with the fewest blocks that any of them has.
func intersection(filters ...*bloom.Filter) (*bloom.Filter, error) {
	and := filters[0].Clone()
	for _, f := range filters[1:] {
		if err := and.Intersect(f); err != nil {
			return nil, err
		}
	}
	return and, nil
}
