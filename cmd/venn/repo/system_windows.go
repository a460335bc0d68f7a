package repo

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// modesCount says that a file's mode does not tell who may read it: access lists do, and those of a user's own folders let in no others.
const modesCount = false

// tryLock locks a file until it is closed. It returns errHeld when another process has locked it.
func tryLock(f *os.File) error {
	err := windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, new(windows.Overlapped))
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return errHeld
	}
	return err
}

func freeBytes(dir string) (uint64, error) {
	name, err := windows.UTF16PtrFromString(dir)
	if err != nil {
		return 0, err
	}
	var free uint64
	err = windows.GetDiskFreeSpaceEx(name, &free, nil, nil)
	return free, err
}

// Refused says that nobody listens where a connection was tried.
func Refused(err error) bool {
	return errors.Is(err, os.ErrNotExist) || errors.Is(err, windows.WSAECONNREFUSED)
}
