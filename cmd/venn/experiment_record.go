package main

import (
	"errors"
	"os"
	"time"

	"github.com/venn-p2p/venn/cmd/venn/repo"
	"github.com/venn-p2p/venn/cmd/venn/simrecord"
	"github.com/venn-p2p/venn/testnet/sim"
)

// runRecorder records a simulated run in a file. It makes the file when the run begins: a run that is refused
// overwrites nothing.
type runRecorder struct {
	name string
	file *os.File
	out  *simrecord.Recorder
}

func (r *runRecorder) look(s *sim.Sim, now, end time.Duration) (err error) {
	if r.file == nil {
		if r.file, err = repo.Create(r.name); err != nil {
			return err
		}
		if r.out, err = simrecord.New(r.file, buildVersion().Version); err != nil {
			return err
		}
	}
	return r.out.Look(s, now, end)
}

// end closes the file, and returns err joined with the error of closing.
func (r *runRecorder) end(err error) error {
	if r.file == nil {
		return err
	}
	return errors.Join(err, r.file.Close())
}
