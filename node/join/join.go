package join

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/venn-p2p/venn/summary/bloom"
	"github.com/venn-p2p/venn/summary/estimate"
)

// ErrNoSources says that there is nothing to join.
var ErrNoSources = errors.New("join: no sources")

// Source is one of the sets, wherever it is. A filter travels as the message of a bloom.Codec that has p as its only
// type.
type Source interface {
	// Size returns the number of keys, and of bytes to ship them all (see KeyBytes).
	Size() (Size, error)
	// Filter returns the message of the filter p of all keys.
	Filter(p bloom.Params) (message []byte, err error)
	// Matching returns the keys in the filter p of message, each once, in any order.
	Matching(p bloom.Params, message []byte) (keys [][]byte, err error)
}

// Size of a set.
type Size struct {
	Keys  int
	Bytes int // that ship all keys
}

// KeyBytes is what a key of n bytes takes when it is sent: its length as a varint, and itself.
func KeyBytes(n int) int { return len(binary.AppendUvarint(nil, uint64(n))) + n }

// Report tells what a join moved. Bytes are those of filters and keys, without what a network puts around them.
type Report struct {
	Params     bloom.Params // of the filters collected
	Blocks     int          // left of the AND when it was sent back
	Estimated  float64      // keys in common, from the filters; +Inf if their AND is full
	Candidates int          // keys sent by all sources together
	Collected  int          // bytes of filters to the coordinator
	Returned   int          // bytes of the AND to all sources
	KeysMoved  int          // bytes of keys to the coordinator
	Shipping   int          // bytes that shipping all sets would have taken
}

// Moved is the bytes that the join moved in all.
func (r Report) Moved() int { return r.Collected + r.Returned + r.KeysMoved }

// Join returns the keys that all sources hold, in increasing order. The filters collected are of p; if p is zero but
// for its Key, [Plan] chooses. Errors of sources come back wrapped with the number of the source.
func Join(sources []Source, p bloom.Params) ([][]byte, Report, error) {
	if len(sources) == 0 {
		return nil, Report{}, ErrNoSources
	}
	j := coordinator{sources: sources}
	if err := j.measure(); err != nil {
		return nil, Report{}, err
	}
	if p == (bloom.Params{Seed: p.Seed}) {
		p = Plan(j.sizes, p.Seed)
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
	sources []Source
	sizes   []Size
	filters []*bloom.Filter
	and     *bloom.Filter
	report  Report
}

func (j *coordinator) measure() error {
	for i, s := range j.sources {
		size, err := s.Size()
		if err != nil {
			return fmt.Errorf("join: size of source %d: %w", i, err)
		}
		j.sizes = append(j.sizes, size)
		j.report.Shipping += size.Bytes
	}
	return nil
}

// collect gets the filters and ANDs them: steps (a) and (b) of section 6.
func (j *coordinator) collect(p bloom.Params) error {
	j.report.Params = p
	codec, err := bloom.NewCodec(p)
	if err != nil {
		return err
	}
	for i, s := range j.sources {
		message, err := s.Filter(p)
		if err != nil {
			return fmt.Errorf("join: filter of source %d: %w", i, err)
		}
		f, err := codec.Decode(message, nil)
		if err != nil {
			return fmt.Errorf("join: filter of source %d: %w", i, err)
		}
		j.report.Collected += len(message)
		j.filters = append(j.filters, f)
	}
	j.and, err = intersection(j.filters...)
	return err
}

// reduce adjusts the AND to what it holds: before step (c).
func (j *coordinator) reduce() error {
	p := j.report.Params
	each := make([]int, len(j.filters))
	for i, f := range j.filters {
		each[i] = f.OnesCount()
	}
	common := math.Inf(1)
	if p.BlockBits > 1 { // a block of one bit says nothing
		array := estimate.Array{Bits: p.BlockBits, Blocks: p.Blocks, Hashes: p.Hashes}
		estimated, err := array.Common(0.9, j.and.OnesCount(), each...)
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

// gather sends the AND back, collects the candidates and keeps those that all sources sent: steps (c) and (d).
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
	seen := make(map[string]int) // how many of the first sources sent a key
	for i, s := range j.sources {
		keys, err := s.Matching(p, message)
		if err != nil {
			return nil, fmt.Errorf("join: keys of source %d: %w", i, err)
		}
		j.report.Returned += len(message)
		j.report.Candidates += len(keys)
		for _, key := range keys {
			j.report.KeysMoved += KeyBytes(len(key))
			if seen[string(key)] == i {
				seen[string(key)] = i + 1
			}
		}
	}
	var common [][]byte
	for key, n := range seen {
		if n == len(j.sources) {
			common = append(common, []byte(key))
		}
	}
	slices.SortFunc(common, bytes.Compare)
	return common, nil
}

// intersection returns the AND of all filters, of the lowest number of blocks.
func intersection(filters ...*bloom.Filter) (*bloom.Filter, error) {
	and := filters[0].Clone()
	for _, f := range filters[1:] {
		if err := and.Intersect(f); err != nil {
			return nil, err
		}
	}
	return and, nil
}
