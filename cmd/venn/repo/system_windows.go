package repo

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// modesCount is false because a file's mode does not decide who may read it. Access lists do, and those of a user's
// own folders admit only the user.
const modesCount = false

// asItIs has no flags: only administrators make links, and no pipe is among files.
const asItIs = 0

// tryLock locks a file until it is closed. It returns errHeld if another process has locked it. The locked byte is
// beyond the end of every file, so that others may read the file.
func tryLock(f *os.File) error {
	const flags = windows.LOCKFILE_EXCLUSIVE_LOCK | windows.LOCKFILE_FAIL_IMMEDIATELY
	err := windows.LockFileEx(windows.Handle(f.Fd()), flags, 0, 1, 0, &windows.Overlapped{OffsetHigh: 1 << 30})
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return errHeld
	}
	return err
}

// Private calls f. The access lists of the user's own folders admit only the user.
func Private(f func() error) error { return f() }

func freeBytes(dir string) (uint64, error) {
	name, err := windows.UTF16PtrFromString(dir)
	if err != nil {
		return 0, err
	}
	var free uint64
	err = windows.GetDiskFreeSpaceEx(name, &free, nil, nil)
	return free, err
}

// Refused reports whether a connection failed because nobody listens.
func Refused(err error) bool {
	return errors.Is(err, os.ErrNotExist) || errors.Is(err, windows.WSAECONNREFUSED)
}
