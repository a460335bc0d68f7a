// Package threats runs attacks on venn, each twice: with the defence that is meant for it, and without. A row fails
// if its defence is too weak. It also fails if the attack does not hurt the undefended system, because then it
// proves nothing.
//
// The cores run alone, in virtual time. Without the defence a limit is replaced (overlay.Limits, routing.Limits), or a
// parameter that the defence rests on. Attacks on values, on a disk and on real hosts are tests of their packages, and
// rows of .ci/attack.
package threats

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"
)

// Row is the result of one attack.
type Row struct {
	Attack     string  `json:"attack"`
	Where      string  `json:"where"` // "cores": one core or several, in virtual time
	Measured   string  `json:"measured"`
	Defence    string  `json:"defence"`
	Undefended float64 `json:"undefended"`
	Defended   float64 `json:"defended"`
	Target     string  `json:"target"` // range that Measured should reach
	OK         bool    `json:"ok"`     // the defended system reaches the target, and the undefended one does not
	Seconds    float64 `json:"seconds"`
	Err        string  `json:"error,omitempty"` // reason why the attack could not be run
}

// target is the range in which a measurement should lie.
type target struct {
	least, most float64
}

func atLeast(x float64) target { return target{x, math.Inf(1)} }
func atMost(x float64) target  { return target{math.Inf(-1), x} }

func (t target) reached(x float64) bool { return t.least <= x && x <= t.most }

func (t target) String() string {
	if math.IsInf(t.most, 1) {
		return fmt.Sprintf("≥ %g", t.least)
	}
	return fmt.Sprintf("≤ %g", t.most)
}

// attack is an attack that is run with a defence and without it.
type attack struct {
	name, measured, defence string
	target                  target
	slow                    bool // the attack takes seconds, not milliseconds
	run                     func(defended bool) float64
}

// all has all attacks, by families; each family has a file.
var all = slices.Concat(claimAttacks, hostileAttacks, queryAttacks)

// Options are the options of Run.
type Options struct {
	Quick bool           // only attacks that are not slow
	Part  func(int) bool // reports whether the attack of a number is run; nil: all are
	Done  func(Row)      // called after each attack; may be nil
}

// Run runs the attacks, one after the other. When ctx ends, it returns the rows so far and ctx's error.
func Run(ctx context.Context, o Options) (rows []Row, err error) {
	for i, a := range all {
		if o.Quick && a.slow || o.Part != nil && !o.Part(i) {
			continue
		}
		r := a.try()
		if ctx.Err() != nil {
			return rows, ctx.Err()
		}
		rows = append(rows, r)
		if o.Done != nil {
			o.Done(r)
		}
	}
	return rows, nil
}

func (a *attack) try() Row {
	r := Row{Attack: a.name, Where: "cores", Measured: a.measured, Defence: a.defence, Target: a.target.String()}
	began := time.Now()
	err := a.both(&r)
	r.Seconds = time.Since(began).Seconds()
	if err != nil {
		r.Err = err.Error()
		return r
	}
	r.OK = a.target.reached(r.Defended) && !a.target.reached(r.Undefended)
	return r
}

// both runs an attack on the defended system and on the undefended one. An error is that of a check.
func (a *attack) both(r *Row) (err error) {
	defer func() {
		if p := recover(); p != nil {
			f, is := p.(failure)
			if !is {
				panic(p)
			}
			err = f.error
		}
	}()
	r.Defended = a.run(true)
	r.Undefended = a.run(false)
	return nil
}

// failure is the panic that ends an attack which cannot be run.
type failure struct{ error }

// check ends the attack if err is not nil.
func check(err error) {
	if err != nil {
		panic(failure{err})
	}
}

// must returns v, or ends the attack if err is not nil.
func must[T any](v T, err error) T {
	check(err)
	return v
}

// limited returns an attack that runs with every node's own settings, the zero value, or with the loose ones.
func limited[L any](run func(L) float64, loose L) func(defended bool) float64 {
	return func(defended bool) float64 { return run(unless(defended, loose)) }
}

// unless returns loose for an undefended run, else the zero value, which stands for every node's settings.
func unless[L any](defended bool, loose L) (l L) {
	if !defended {
		l = loose
	}
	return l
}

// unbounded is a bound that no run reaches.
const unbounded = math.MaxInt
