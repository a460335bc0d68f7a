//go:build unix

package repo

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// modesCount is true because a file's mode decides who may read it.
const modesCount = true

// asItIs has the flags to open what is at a path itself. A link is an error, and nobody waits for a pipe's other end.
const asItIs = unix.O_NOFOLLOW | unix.O_NONBLOCK

// tryLock locks a file until it is closed. It returns errHeld if another process has locked it.
func tryLock(f *os.File) error {
	err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return errHeld
	}
	return err
}

// Private calls f. Only the user may open the files and sockets that the process makes meanwhile.
func Private(f func() error) error {
	defer unix.Umask(unix.Umask(0o077))
	return f()
}

func freeBytes(dir string) (uint64, error) {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return 0, err
	}
	return uint64(s.Bavail) * uint64(s.Bsize), nil //nolint:unconvert // other types on other systems
}

// Refused reports whether a connection failed because nobody listens.
func Refused(err error) bool {
	return errors.Is(err, os.ErrNotExist) || errors.Is(err, unix.ECONNREFUSED)
}
