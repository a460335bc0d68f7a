package repo

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"strings"
	"sync"

	"github.com/venn-p2p/venn/node/bounded"
)

const removalsFile = "removals"

// Removals keeps a mark on disk that changes when keys are removed. While the mark is the same, every key that was
// given to the daemon is still there. The mark is written again only at the first removal after Mark returned it. It
// is safe for concurrent use.
type Removals struct {
	name string

	mu   sync.Mutex
	mark string
	told bool // a caller of Mark may remember the mark
}

// OpenRemovals reads the mark of a repository. It makes a new mark if there is none, or if the store has lost its
// keys.
func (r Repo) OpenRemovals(lost bool) (*Removals, error) {
	m := &Removals{name: r.path(removalsFile), told: true}
	b, err := bounded.ReadFile(m.name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if m.mark = strings.TrimSpace(string(b)); m.mark == "" || lost {
		return m, m.change()
	}
	return m, nil
}

// Mark returns the mark. It waits until removals under way have ended.
func (m *Removals) Mark() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.told = true
	return m.mark
}

// Remove changes the mark if a caller of Mark may remember it, and then calls f, which removes keys.
func (m *Removals) Remove(f func() error) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.told {
		if err := m.change(); err != nil {
			return err
		}
	}
	return f()
}

func (m *Removals) change() error {
	mark := rand.Text()
	if err := writeFile(m.name, []byte(mark+"\n")); err != nil {
		return err
	}
	m.mark, m.told = mark, false
	return nil
}
