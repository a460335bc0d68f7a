package main

import (
	"io"
	"testing"

	"github.com/urfave/cli/v3"
)

// A backup that is closed early, as after a failed write, has closed the store: another can be made at once.
func TestBackupClosesTheStore(t *testing.T) {
	r := newRepo(t)
	noErr(t, must(fetchBackup(t.Context(), &cli.Command{ErrWriter: io.Discard}, r, func(int) {})).Close())
	must(r.Lock())()
}
