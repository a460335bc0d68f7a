package daemon

import (
	"fmt"
	"syscall"

	"golang.org/x/sys/unix"
)

// A store moves its data about, and one that finds no room to log a change ends the process. So something must stay free on
// its disk: enough for all that it may do after changes of keys, less for what keeps it running, such as the number of a summary.
const (
	spare      = 16 << 20
	spareSmall = 4 << 20
	small      = 1 << 12 // bytes
)

// roomOn returns what says whether so many bytes may be written to the disk of a folder.
func roomOn(dir string) func(bytes int) error {
	return func(bytes int) error {
		var s unix.Statfs_t
		if err := unix.Statfs(dir, &s); err != nil {
			return fmt.Errorf("free space of %s: %w", dir, err)
		}
		free := uint64(s.Bavail) * uint64(s.Bsize) //nolint:unconvert // other types on other systems
		need := uint64(spareSmall)
		if bytes > small {
			need = uint64(spare + 2*bytes) // the log and the data
		}
		if free < need {
			return fmt.Errorf("%w: %d MiB free for %s, %d MiB needed; make room and try again", syscall.ENOSPC, free>>20, dir, (need+1<<20-1)>>20)
		}
		return nil
	}
}
