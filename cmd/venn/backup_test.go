package main

import (
	"io"
	"path/filepath"
	"testing"

	"github.com/urfave/cli/v3"

	"github.com/venn-p2p/venn/cmd/venn/repo"
)

// A backup that is closed early, as after a failed write, has closed the store: another can be made at once.
func TestBackupClosesTheStore(t *testing.T) {
	r := must(repo.Init(filepath.Join(t.TempDir(), "r")))
	noErr(t, must(fetchBackup(t.Context(), &cli.Command{ErrWriter: io.Discard}, r, func(int) {})).Close())
	must(r.Lock())()
}
