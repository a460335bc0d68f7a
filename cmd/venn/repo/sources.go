package repo

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/venn-p2p/venn/node/bounded"
)

// Source is the state of a source of keys, as the command that follows it has last noted it.
type Source struct {
	Name string `json:"source"`
	// multiaddrs with /p2p/ID of peers that serve the content; empty: none is known
	Servers  []string  `json:"served_by"`
	Failed   string    `json:"failed,omitempty"` // reason why its keys are suspended; empty: they are not suspended
	Since    time.Time `json:"since"`            // time of the last change of Servers or Failed
	Followed bool      `json:"followed"`         // a command follows it now
}

// sourceSuffix ends the names of the files of sources, which are in the folder of imports.
const sourceSuffix = ".json"

// Note stores s as the state of the import's source. Sources sets Followed, whatever is stored.
func (i *Import) Note(s Source) error {
	b, err := json.Marshal(s)
	if err != nil {
		return err
	}
	return writeFile(i.name+sourceSuffix, append(b, '\n'))
}

// Sources returns the sources that commands follow or have followed. If some cannot be read, it returns the others
// with the error.
func (r Repo) Sources() (all []Source, err error) {
	names, err := fs.Glob(os.DirFS(r.path(importsFolder)), "*"+sourceSuffix)
	for _, name := range names {
		var s Source
		name = filepath.Join(r.path(importsFolder), name)
		b, readErr := bounded.ReadFile(name)
		if readErr == nil {
			readErr = json.Unmarshal(b, &s)
		}
		if readErr != nil {
			err = errors.Join(err, readErr)
			continue
		}
		unlock, lockErr := lock(strings.TrimSuffix(name, sourceSuffix) + lockSuffix)
		if s.Followed = errors.Is(lockErr, errHeld); lockErr == nil {
			unlock()
		}
		all = append(all, s)
	}
	return all, err
}
