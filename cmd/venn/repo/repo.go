// Package repo is the folder in which a daemon keeps its identity, its configuration and its store.
package repo

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/libp2p/go-libp2p/core/crypto"
)

// The files of a repository.
const (
	configFile   = "config.toml"
	identityFile = "identity.key"
	configLock   = "config.lock"
	lockFile     = "daemon.lock"
	socketFile   = "control.sock"
	storeFolder  = "store"
	mirrorFolder = "mirror"
	swarmFile    = "swarm.key"
)

var (
	// ErrNone says that there is no repository.
	ErrNone = errors.New("no repository")
	// ErrExists says that there is one already.
	ErrExists = errors.New("repository exists")
	// ErrIdentity says that the identity file cannot be used.
	ErrIdentity = errors.New("identity")
	// ErrLocked says that a daemon runs on the repository.
	ErrLocked = errors.New("a daemon is running")
)

// Repo is the folder of a repository.
type Repo struct{ Dir string }

// Default returns the folder used when none is named: VENN_PATH, or .venn in the home folder.
func Default() (string, error) {
	if dir := os.Getenv("VENN_PATH"); dir != "" {
		return dir, nil
	}
	dir, err := atHome()
	if err != nil {
		return "", fmt.Errorf("no home folder (%w): name a folder with --repo or VENN_PATH", err)
	}
	return dir, nil
}

// atHome returns the folder of a user's one peer.
func atHome() (string, error) {
	home, err := os.UserHomeDir()
	return filepath.Join(home, ".venn"), err
}

// isDefault reports whether the repository is in the default folder, for a user's one peer.
func (r Repo) isDefault() bool {
	home, err := atHome()
	if err != nil {
		return false
	}
	dir, err := filepath.Abs(r.Dir)
	return err == nil && dir == filepath.Clean(home)
}

// Init makes a repository with a new identity, as InitAs does.
func Init(dir string, change ...func(*Config)) (Repo, error) {
	key, _, err := crypto.GenerateEd25519Key(rand.Reader)
	if err != nil {
		return Repo{dir}, err
	}
	return InitAs(dir, key, change...)
}

// InitAs makes a repository with an identity and a configuration, which change, if any, changes; a configuration that
// is there already is kept. Ports are free ones; in the default folder, peers are listened to on DefaultPort. Nothing
// is left behind when it fails.
func InitAs(dir string, key crypto.PrivKey, change ...func(*Config)) (Repo, error) {
	r := Repo{dir}
	if err := os.MkdirAll(filepath.Dir(filepath.Clean(dir)), 0o700); err != nil {
		return r, err
	}
	made := os.Mkdir(dir, 0o700)
	if made != nil && !errors.Is(made, fs.ErrExist) {
		return r, made
	}
	return r, whileLocked(context.Background(), r.path(configLock), func() error { // of several at once, one makes it
		err := r.fill(key, change)
		if err != nil && made == nil && !errors.Is(err, ErrExists) {
			_ = os.RemoveAll(dir)
		}
		return err
	})
}

// fill makes the files of a repository in its folder.
func (r Repo) fill(key crypto.PrivKey, change []func(*Config)) error {
	if _, err := os.Lstat(r.path(identityFile)); err == nil {
		return fmt.Errorf("%w in %s", ErrExists, r.Dir)
	}
	b, err := crypto.MarshalPrivateKey(key)
	if err != nil {
		return err
	}
	if _, err := os.Lstat(r.ConfigPath()); errors.Is(err, fs.ErrNotExist) {
		cfg, err := newConfig()
		if err != nil {
			return err
		}
		if r.isDefault() {
			cfg.UseDefaultPort()
		}
		for _, f := range change {
			f(&cfg)
		}
		if err := r.SaveConfig(cfg); err != nil {
			return err
		}
	}
	return writeFile(r.path(identityFile), b) // last: it makes the folder a repository
}

// Open finds the repository in a folder.
func Open(dir string) (Repo, error) {
	r := Repo{dir}
	_, err := os.Stat(r.path(identityFile))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return r, fmt.Errorf("%w in %s: make one with `venn init%s`", ErrNone, dir, r.Option())
	case errors.Is(err, fs.ErrPermission):
		return r, fmt.Errorf("%w: only the user it belongs to may use the repository", err)
	}
	return r, err
}

// Option returns the option of the command line that names the repository, after a space and quoted for a shell if need
// be; empty if it is the default one.
func (r Repo) Option() string {
	if dir, err := Default(); err == nil && dir == r.Dir {
		return ""
	}
	if strings.Trim(r.Dir, plain) == "" {
		return " --repo " + r.Dir
	}
	return " --repo '" + strings.ReplaceAll(r.Dir, "'", `'\''`) + "'"
}

// plain are the characters that mean nothing to a shell.
const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:+,@%-"

func (r Repo) path(name string) string { return filepath.Join(r.Dir, name) }

// Store returns the folder of the store.
func (r Repo) Store() string { return r.path(storeFolder) }

// Mirror returns the folder of the mirror's cache.
func (r Repo) Mirror() string { return r.path(mirrorFolder) }

// Socket returns the Unix socket on which the daemon listens to commands.
func (r Repo) Socket() string { return r.path(socketFile) }

// ConfigPath returns the configuration file.
func (r Repo) ConfigPath() string { return r.path(configFile) }

// Free returns the bytes that are free on the repository's disk.
func (r Repo) Free() (uint64, error) { return FreeBytes(r.Dir) }

// FreeBytes returns the bytes that are free for the user on the disk of a folder.
func FreeBytes(dir string) (uint64, error) {
	free, err := freeBytes(dir)
	if err != nil {
		return 0, fmt.Errorf("free space of %s: %w", dir, err)
	}
	return free, nil
}

// Identity reads the private key. It refuses a file that others may read.
func (r Repo) Identity() (crypto.PrivKey, error) {
	name := r.path(identityFile)
	info, err := os.Stat(name)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrIdentity, err)
	}
	if mode := info.Mode().Perm(); modesCount && info.Mode().IsRegular() && mode&0o077 != 0 {
		return nil, fmt.Errorf("%w: %s may be read by others (mode %#o): `chmod 600 %s`, if only you had access", ErrIdentity, name, mode, name)
	}
	key, err := ReadIdentity(name)
	if errors.Is(err, errNoKey) {
		return nil, fmt.Errorf("%w: put back a copy of it, or move it away and run `venn init%s` for a new one; keys and configuration stay", err, r.Option())
	}
	return key, err
}

// errNoKey says that a file holds something other than a private key.
var errNoKey = errors.New("no private key")

// ReadIdentity reads the private key of a peer from a copy of its identity file.
func ReadIdentity(name string) (crypto.PrivKey, error) {
	b, err := os.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrIdentity, err)
	}
	key, err := crypto.UnmarshalPrivateKey(b)
	if err != nil {
		return nil, fmt.Errorf("%w: %s holds %w", ErrIdentity, name, errNoKey)
	}
	return key, nil
}

// SwarmKey returns the key of a private network: the file swarm.key in the repository. It is nil if there is none.
func (r Repo) SwarmKey() (*os.File, error) {
	f, err := os.Open(r.path(swarmFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return f, err
}

// Lock makes sure that one daemon runs on a repository. The lock ends with the process, or with unlock.
func (r Repo) Lock() (unlock func(), err error) {
	unlock, err = lock(r.path(lockFile))
	if errors.Is(err, errHeld) {
		err = fmt.Errorf("%w on %s already: stop it first, or use another repository (--repo)", ErrLocked, r.Dir)
	}
	return unlock, err
}

// errHeld says that another process holds a lock.
var errHeld = errors.New("locked")

// lock locks a file, which it makes if there is none. The lock ends with the process, or with unlock.
func lock(name string) (unlock func(), err error) {
	f, err := os.OpenFile(name, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := tryLock(f); err != nil {
		_ = f.Close()
		return nil, err
	}
	return func() { _ = f.Close() }, nil
}

// lockWait is the time between two tries for a lock that another process holds.
const lockWait = 20 * time.Millisecond

// whileLocked calls f while no other process holds the lock of a file. It waits for processes that do, until ctx ends.
func whileLocked(ctx context.Context, name string, f func() error) error {
	for {
		unlock, err := lock(name)
		switch {
		case err == nil:
			defer unlock()
			return f()
		case !errors.Is(err, errHeld):
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(lockWait):
		}
	}
}

// Create opens a file to be written from its beginning, as os.Create does. It returns an error while another process
// writes the file. One that is not regular, such as a pipe, is not truncated.
func Create(name string) (*os.File, error) {
	f, err := os.OpenFile(name, os.O_CREATE|os.O_RDWR, 0o666)
	if err != nil {
		return nil, err
	}
	if err = tryLock(f); errors.Is(err, errHeld) {
		err = fmt.Errorf("%s: another process writes it", name)
	}
	if info, statErr := f.Stat(); err == nil && statErr == nil && info.Mode().IsRegular() {
		err = f.Truncate(0)
	}
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}

// writeFile writes a file whole or not at all, for its owner only.
func writeFile(name string, b []byte) error {
	return WriteFile(name, 0o600, func(w io.Writer) error { _, err := w.Write(b); return err })
}

// WriteFile replaces a file with the output of write, or leaves the file as it was after an error. mode is the new
// file's, before the umask.
func WriteFile(name string, mode fs.FileMode, write func(io.Writer) error) error {
	return put(name, mode, write, func() error { return nil })
}

// MakeFile does WriteFile for a name that is free: else it returns fs.ErrExist, also if the file is made meanwhile.
func MakeFile(name string, mode fs.FileMode, write func(io.Writer) error) error {
	claim := func() error {
		f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
		if err == nil {
			err = f.Close()
		}
		return err
	}
	return put(name, mode, write, claim)
}

// put writes a file beside the place of another, and puts it there if the place may be taken.
func put(name string, mode fs.FileMode, write func(io.Writer) error, take func() error) (err error) {
	temporary := filepath.Join(filepath.Dir(name), "."+filepath.Base(name)+"."+rand.Text())
	f, err := os.OpenFile(temporary, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if p := (*fs.PathError)(nil); errors.As(err, &p) {
		p.Path = name // the user knows of no other
	}
	if err != nil {
		return err
	}
	if err = write(f); err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = take()
	}
	if err == nil {
		err = os.Rename(temporary, name)
	}
	if err != nil {
		return errors.Join(err, os.Remove(temporary))
	}
	return SyncFolder(filepath.Dir(name))
}

// SyncFolder makes earlier changes of a folder durable: files made, renamed or removed. Some systems have folders that
// cannot be synced: they keep their own order, and there is no error.
func SyncFolder(dir string) error {
	f, err := os.Open(dir)
	if err == nil {
		err = errors.Join(f.Sync(), f.Close())
	}
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EINVAL) || errors.Is(err, errors.ErrUnsupported) {
		return nil
	}
	return err
}
