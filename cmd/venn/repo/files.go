package repo

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// filesFolder has a file for each folder whose files were hashed.
const filesFolder = "files"

// File is what is remembered of a file: while size and time of change are the same, so is the hash.
type File struct {
	Path string // below the folder
	Size int64
	Time int64 // of the last change, in nanoseconds since 1970
	Sum  [sha256.Size]byte
}

// Files are the files of a folder as they were when they were hashed. Its file on disk has the folder on the first line, and then
// size, time, SHA-256 and path, in quotes, of a file a line.
type Files struct {
	name   string
	Root   string // absolute
	byPath map[string]File
}

// OpenFiles opens what is remembered of a folder. What cannot be read of it is forgotten: it is only hashed again.
func (r Repo) OpenFiles(root string) (*Files, error) {
	root, err := filepath.Abs(root)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(r.path(filesFolder), 0o700); err != nil {
		return nil, err
	}
	sum := sha256.Sum256([]byte(root))
	f := &Files{name: filepath.Join(r.path(filesFolder), hex.EncodeToString(sum[:8])), Root: root, byPath: make(map[string]File)}
	_, err = readFiles(f.name, func(x File) bool {
		f.byPath[x.Path] = x
		return true
	})
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return f, err
}

// Known returns what is remembered of a file, if it has not changed since.
func (f *Files) Known(path string, size, time int64) (File, bool) {
	x, ok := f.byPath[path]
	return x, ok && x.Size == size && x.Time == time
}

// Last returns what was remembered last of a file, whether it has changed or not.
func (f *Files) Last(path string) (File, bool) {
	x, ok := f.byPath[path]
	return x, ok
}

// Below yields what was remembered last of the files below a folder; ".": of all.
func (f *Files) Below(folder string) iter.Seq[File] {
	return func(yield func(File) bool) {
		for path, x := range f.byPath {
			if (folder == "." || strings.HasPrefix(path, folder+string(filepath.Separator))) && !yield(x) {
				return
			}
		}
	}
}

// Save remembers these files in the place of those before.
func (f *Files) Save(files []File) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%q\n", f.Root)
	f.byPath = make(map[string]File, len(files))
	for _, x := range files {
		f.byPath[x.Path] = x
		fmt.Fprintf(&b, "%d %d %x %q\n", x.Size, x.Time, x.Sum, x.Path)
	}
	return writeFile(f.name, b.Bytes())
}

// FilesWith yields the paths, absolute, of the files remembered that have a SHA-256.
func (r Repo) FilesWith(sum [sha256.Size]byte) iter.Seq2[File, error] {
	return func(yield func(File, error) bool) {
		all, err := os.ReadDir(r.path(filesFolder))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			yield(File{}, err)
			return
		}
		for _, e := range all {
			var found []File
			root, err := readFiles(filepath.Join(r.path(filesFolder), e.Name()), func(x File) bool {
				if x.Sum == sum {
					found = append(found, x)
				}
				return true
			})
			if err != nil && !yield(File{}, err) {
				return
			}
			for _, x := range found {
				x.Path = filepath.Join(root, x.Path)
				if !yield(x, nil) {
					return
				}
			}
		}
	}
}

// readFiles calls f with the files of a list until it returns false. It returns the folder.
func readFiles(name string, f func(File) bool) (root string, err error) {
	file, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer func() { _ = file.Close() }()
	in := bufio.NewScanner(file)
	in.Buffer(make([]byte, 0, 1<<16), 1<<20)
	if in.Scan() {
		if root, err = strconv.Unquote(in.Text()); err != nil {
			return "", nil //nolint:nilerr // no list: nothing is remembered
		}
	}
	for in.Scan() {
		if x, ok := parseFile(in.Text()); !ok || !f(x) {
			break
		}
	}
	return root, in.Err()
}

func parseFile(line string) (x File, ok bool) {
	words := strings.SplitN(line, " ", 4)
	if len(words) < 4 || len(words[2]) != 2*sha256.Size {
		return x, false
	}
	var errs [4]error
	x.Size, errs[0] = strconv.ParseInt(words[0], 10, 64)
	x.Time, errs[1] = strconv.ParseInt(words[1], 10, 64)
	_, errs[2] = hex.Decode(x.Sum[:], []byte(words[2]))
	x.Path, errs[3] = strconv.Unquote(words[3])
	return x, errors.Join(errs[:]...) == nil
}
