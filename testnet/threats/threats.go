// Package threats runs attacks on several cores of venn, or by many misdeeds at a time. Each attack runs twice: with the
// defence that is meant for it, and without. A row fails if its defence is too weak. It also fails if the attack does
// not hurt the undefended system, because then it proves nothing.
//
// The cores run alone, in virtual time. Without the defence their limits are replaced. Attacks on one limit of a core, on
// values, on a disk and on real hosts are tests of their packages, and rows of .ci/attack.
package threats

import (
	"context"
	"fmt"
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

// attack is an attack that is run with a defence and without it.
type attack struct {
	name, measured, defence string
	most                    float64 // largest measurement with which the defence holds
	slow                    bool    // the attack takes seconds, not milliseconds
	run                     func(defended bool) (float64, error)
}

var all = []attack{
	{
		name: "half of the network boasts with its victim's own keys", measured: "slots that boasters have after five minutes, of the four for overlap",
		defence: "neighbours by overlap are audited", most: 0, slow: true, run: boasters,
	},
	{
		name: "one hostile link does all of this beside an honest one", measured: "time until 120 origins are learned whole, in that without it",
		defence: "all those of a link", most: 2, run: hostileLink,
	},
}

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

// try runs an attack on the defended system and on the undefended one.
func (a *attack) try() Row {
	r := Row{Attack: a.name, Where: "cores", Measured: a.measured, Defence: a.defence, Target: fmt.Sprintf("≤ %g", a.most)}
	began := time.Now()
	var err error
	if r.Defended, err = a.run(true); err == nil {
		r.Undefended, err = a.run(false)
	}
	r.Seconds = time.Since(began).Seconds()
	if err != nil {
		r.Err = err.Error()
		return r
	}
	r.OK = r.Defended <= a.most && r.Undefended > a.most
	return r
}
