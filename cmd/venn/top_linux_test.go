package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// newTerminal returns the two ends of a terminal: what its user has, and what a program has.
func newTerminal(t *testing.T) (user, program *os.File) {
	t.Helper()
	user, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { _ = user.Close() })
	noErr(t, unix.IoctlSetPointerInt(int(user.Fd()), unix.TIOCSPTLCK, 0))
	n := must(unix.IoctlGetInt(int(user.Fd()), unix.TIOCGPTN))
	program = must(os.OpenFile(fmt.Sprint("/dev/pts/", n), os.O_RDWR|syscall.O_NOCTTY, 0))
	t.Cleanup(func() { _ = program.Close() })
	return user, program
}

// TestTopKeys: q and Ctrl-C end top, as a signal does and an error, and the terminal is then as it was.
func TestTopKeys(t *testing.T) {
	for name, c := range map[string]struct {
		end  func(user *os.File, top *exec.Cmd) // once the terminal is raw; nil: top ends itself
		code int
	}{
		"q":       {func(user *os.File, _ *exec.Cmd) { _, _ = user.WriteString("xyq") }, 0},
		"Ctrl-C":  {func(user *os.File, _ *exec.Cmd) { _, _ = user.WriteString("\x03") }, 0},
		"signal":  {func(_ *os.File, top *exec.Cmd) { _ = top.Process.Signal(syscall.SIGTERM) }, 0},
		"hang-up": {func(_ *os.File, top *exec.Cmd) { _ = top.Process.Signal(syscall.SIGHUP) }, 0},
		"error":   {nil, 1},
	} {
		t.Run(name, func(t *testing.T) {
			dir := daemonSaying(t, "word")
			if c.end == nil {
				dir = breakingDaemon(t, "{")
			}
			user, program := newTerminal(t)
			var shown bytes.Buffer // to be read when top has ended
			go func() { _, _ = io.Copy(&shown, user) }()
			was := must(unix.IoctlGetTermios(int(program.Fd()), unix.TCGETS))
			mode := func() unix.Termios {
				now := must(unix.IoctlGetTermios(int(program.Fd()), unix.TCGETS))
				return *now
			}
			// Whoever runs the tests by nohup ignores SIGHUP, and so would top.
			top := exec.Command("env", "--default-signal=HUP", "venn", "top", "--every", "100ms", "--repo", dir)
			top.Stdin, top.Stdout, top.Stderr = program, program, program
			noErr(t, top.Start())
			ended := make(chan error, 1)
			go func() { ended <- top.Wait() }()
			for begun := time.Now(); c.end != nil && mode() == *was; time.Sleep(10 * time.Millisecond) {
				if time.Since(begun) > 30*time.Second {
					_ = top.Process.Kill()
					t.Fatalf("the terminal is not raw: %q", shown.String())
				}
			}
			if c.end != nil {
				c.end(user, top)
			}
			select {
			case <-ended:
			case <-time.After(30 * time.Second):
				_ = top.Process.Kill()
				t.Fatal("top goes on")
			}
			if code := top.ProcessState.ExitCode(); code != c.code {
				t.Errorf("top ends with %d, want %d", code, c.code)
			}
			if now := mode(); now != *was {
				t.Errorf("the terminal is %+v, was %+v", now, *was)
			}
		})
	}
}
