package repo

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Source is the state of a source of keys, as last noted by the command that follows it.
type Source struct {
	Name     string    `json:"source"`
	Servers  []string  `json:"served_by"`        // multiaddrs with /p2p/ID of peers that serve the content; empty: none known
	Failed   string    `json:"failed,omitempty"` // why its keys are suspended; empty: they are not
	Since    time.Time `json:"since"`            // of the last change of servers or failed
	Followed bool      `json:"followed"`         // a command follows it now
}

// sourceSuffix ends the names of the files of sources, which lie beside the claims of their imports.
const sourceSuffix = ".json"

// Note stores s, the import's knowledge of its source, for Sources. Note sets Followed itself.
func (i *Import) Note(s Source) error {
	b, err := json.Marshal(s)
	if err != nil {
		return err
	}
	return writeFile(i.name+sourceSuffix, append(b, '\n'))
}

// Sources returns the sources that commands follow or have followed.
func (r Repo) Sources() (all []Source, err error) {
	names, err := fs.Glob(os.DirFS(r.path(importsFolder)), "*"+sourceSuffix)
	for _, name := range names {
		var s Source
		name = filepath.Join(r.path(importsFolder), name)
		b, readErr := os.ReadFile(name)
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
