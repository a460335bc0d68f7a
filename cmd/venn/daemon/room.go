package daemon

import (
	"fmt"
	"syscall"

	"github.com/venn-p2p/venn/cmd/venn/repo"
)

// A store rewrites its data, and ends the process if it has no room to log a change. So some bytes must stay free on
// its disk. A change of keys needs spare, for all that the store may do afterwards. Small writes that the store
// needs to run, such as the number of a summary, need spareSmall.
const (
	spare      = 16 << 20
	spareSmall = 4 << 20
	small      = 1 << 12 // bytes
)

// roomOn returns a function that checks whether the disk of a folder has room for a write of a number of bytes.
func roomOn(dir string) func(bytes int) error {
	return func(bytes int) error {
		free, err := repo.FreeBytes(dir)
		if err != nil {
			return err
		}
		need := uint64(spareSmall)
		if bytes > small {
			need = uint64(spare + 2*bytes) // room for the log and for the data
		}
		if free < need {
			return fmt.Errorf("%w: %d MiB free for %s, %d MiB needed; make room and try again", syscall.ENOSPC, free>>20, dir, (need+1<<20-1)>>20)
		}
		return nil
	}
}
