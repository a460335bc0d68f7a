// Package repo manages the folder in which a daemon keeps its identity, its configuration and its store.
package repo

import (
	"bytes"
	"context"
	"crypto/ed25519"
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

	"github.com/venn-p2p/venn/node/bounded"
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
	// ErrNone says that a folder has no repository.
	ErrNone = errors.New("no repository")
	// ErrExists says that a folder has a repository already.
	ErrExists = errors.New("repository exists")
	// ErrIdentity says that the identity file cannot be used.
	ErrIdentity = errors.New("identity")
	// ErrLocked says that a daemon is running on the repository.
	ErrLocked = errors.New("a daemon is running")
)

// Repo is the folder of a repository.
type Repo struct{ Dir string }

// Default returns the folder that is used when none is named: VENN_PATH, or .venn in the home folder.
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

// atHome returns the default folder of a user's one peer: .venn in the home folder.
func atHome() (string, error) {
	home, err := os.UserHomeDir()
	return filepath.Join(home, ".venn"), err
}

// isDefault reports whether the repository is .venn in the home folder.
func (r Repo) isDefault() bool {
	home, err := atHome()
	if err != nil {
		return false
	}
	dir, err := filepath.Abs(r.Dir)
	return err == nil && dir == filepath.Clean(home)
}

// Init makes a repository with a new identity. For the rest see InitAs.
func Init(dir string, change ...func(*Config)) (Repo, error) {
	key, _, err := crypto.GenerateEd25519Key(rand.Reader)
	if err != nil {
		return Repo{dir}, err
	}
	return InitAs(dir, key, change...)
}

// InitAs makes a repository with an identity and a new configuration, which the functions change may change. It
// keeps a configuration that is there already. The ports are free ones; in .venn in the home folder, peers have
// DefaultPort. If it fails, it removes a folder that it made.
func InitAs(dir string, key crypto.PrivKey, change ...func(*Config)) (Repo, error) {
	r := Repo{dir}
	if err := os.MkdirAll(filepath.Dir(filepath.Clean(dir)), 0o700); err != nil {
		return r, err
	}
	made := os.Mkdir(dir, 0o700)
	if made != nil && !errors.Is(made, fs.ErrExist) {
		return r, made
	}
	// if several processes do this at once, one of them makes the repository
	return r, whileLocked(context.Background(), r.path(configLock), func() error {
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
	return writeFile(r.path(identityFile), b) // written last, because the file makes the folder a repository
}

// Open returns the repository in a folder. The error matches ErrNone if there is none.
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

// Option returns the option of the command line that names the repository, for use in messages. It begins with a
// space, and is quoted for a shell where needed. It is empty for the default folder.
func (r Repo) Option() string {
	if dir, err := Default(); err == nil && dir == r.Dir {
		return ""
	}
	if strings.Trim(r.Dir, plain) == "" {
		return " --repo " + r.Dir
	}
	return " --repo '" + strings.ReplaceAll(r.Dir, "'", `'\''`) + "'"
}

// plain has the characters that mean nothing special to a shell.
const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:+,@%-"

func (r Repo) path(name string) string { return filepath.Join(r.Dir, name) }

// Store returns the folder of the store.
func (r Repo) Store() string { return r.path(storeFolder) }

// Mirror returns the folder of the mirror's cache.
func (r Repo) Mirror() string { return r.path(mirrorFolder) }

// Socket returns the path of the Unix socket on which the daemon listens for commands.
func (r Repo) Socket() string { return r.path(socketFile) }

// ConfigPath returns the path of the configuration file.
func (r Repo) ConfigPath() string { return r.path(configFile) }

// Free returns the number of free bytes on the repository's disk.
func (r Repo) Free() (uint64, error) { return FreeBytes(r.Dir) }

// FreeBytes returns the number of bytes that are free for the user on the disk of a folder.
func FreeBytes(dir string) (uint64, error) {
	free, err := freeBytes(dir)
	if err != nil {
		return 0, fmt.Errorf("free space of %s: %w", dir, err)
	}
	return free, nil
}

// Identity reads the private key of the peer. It returns an error if others may read the file.
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

// errNoKey says that a file has no private key in it.
var errNoKey = errors.New("no private key")

// ReadIdentity reads the private key of a peer from a copy of its identity file.
func ReadIdentity(name string) (crypto.PrivKey, error) {
	b, err := bounded.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrIdentity, err)
	}
	key, err := crypto.UnmarshalPrivateKey(b)
	if err != nil || !whole(key) {
		return nil, fmt.Errorf("%w: %s holds %w", ErrIdentity, name, errNoKey)
	}
	return key, nil
}

// whole reports whether the public key that an Ed25519 key holds is its own: libp2p does not check that. Keys of other
// types hold none.
func whole(key crypto.PrivKey) bool {
	raw, err := key.Raw()
	return key.Type() != crypto.Ed25519 || err == nil && bytes.Equal(raw, ed25519.NewKeyFromSeed(raw[:ed25519.SeedSize]))
}

// SwarmKey reads the file swarm.key of the repository, the key of a private network. It returns nil if there is none.
func (r Repo) SwarmKey() (name string, key []byte, err error) {
	name = r.path(swarmFile)
	key, err = bounded.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return name, nil, nil
	}
	return name, key, err
}

// Lock locks the repository, so that only one daemon runs on it. The lock ends with the process, or with unlock.
func (r Repo) Lock() (unlock func(), err error) {
	unlock, err = lock(r.path(lockFile))
	if errors.Is(err, errHeld) {
		err = fmt.Errorf("%w on %s already: stop it first, or use another repository (--repo)", ErrLocked, r.Dir)
	}
	return unlock, err
}

// errHeld says that another process holds a lock.
var errHeld = errors.New("locked")

// lock locks a file, and makes it if it is missing. The lock ends with the process, or with unlock.
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

// whileLocked calls f while this process holds the lock of a file. It waits for other processes that hold the lock,
// until ctx ends.
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

// Create opens a file and truncates it, as os.Create does. It returns an error while another process writes the file
// by Create. It does not truncate a file that is not regular, such as a pipe.
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

// writeFile replaces a file, whole or not at all. Only its owner may read it.
func writeFile(name string, b []byte) error {
	return WriteFile(name, 0o600, func(w io.Writer) error { _, err := w.Write(b); return err })
}

// WriteFile replaces a file with what write writes. After an error the file is as before. mode is the new file's
// mode, before the umask.
func WriteFile(name string, mode fs.FileMode, write func(io.Writer) error) error {
	return put(name, mode, write, func() error { return nil })
}

// MakeFile does the same as WriteFile for a file that does not exist. It returns fs.ErrExist if it does, even if it
// was made meanwhile.
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

// temporaryFile is a file that is renamed once it is whole. Its errors have the name that the user knows.
type temporaryFile struct {
	file *os.File
	name string
}

func (f temporaryFile) Write(b []byte) (int, error) {
	n, err := f.file.Write(b)
	return n, named(err, f.name)
}

// named sets the name of the file in an error.
func named(err error, name string) error {
	if p := (*fs.PathError)(nil); errors.As(err, &p) {
		p.Path = name
	}
	return err
}

// put writes a temporary file beside the named one. Then it calls take, and if that returns no error, renames the
// file.
func put(name string, mode fs.FileMode, write func(io.Writer) error, take func() error) (err error) {
	temporary := filepath.Join(filepath.Dir(name), "."+filepath.Base(name)+"."+rand.Text())
	f, err := os.OpenFile(temporary, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return named(err, name)
	}
	if err = write(temporaryFile{f, name}); err == nil {
		err = named(f.Sync(), name)
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

// SyncFolder makes earlier changes of a folder durable: files made, renamed or removed. Some systems cannot sync a
// folder, and keep its changes in order themselves: then there is no error.
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
