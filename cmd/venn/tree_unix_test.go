//go:build unix

package main

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// TestTreeReadsRegularFilesAlone: what takes the place of a file between a look at its folder and its reading has no key.
func TestTreeReadsRegularFilesAlone(t *testing.T) {
	dir := t.TempDir()
	file, link, pipe := filepath.Join(dir, "file"), filepath.Join(dir, "link"), filepath.Join(dir, "pipe")
	noErr(t, os.WriteFile(file, []byte("x"), 0o600))
	noErr(t, os.Symlink(file, link))
	noErr(t, unix.Mkfifo(pipe, 0o600))
	for name, want := range map[string]bool{file: true, link: false, pipe: false, dir: false} {
		if _, err := hashFile(name); (err == nil) != want {
			t.Errorf("%s: %v", name, err)
		}
	}
}
