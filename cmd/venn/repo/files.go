package repo

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// filesFolder is a folder with a list for each folder whose files were hashed.
const filesFolder = "files"

// File has what is remembered of a file. While its size and time of change stay the same, its hash is taken to be
// the same.
type File struct {
	Path string // path below the folder
	Size int64
	Time int64 // time of the last change, in nanoseconds since 1970
	Sum  [sha256.Size]byte
}

// Files has the files of a folder as they were when they were hashed. It is kept on disk as a list. The first line
// of the list has the folder and the mark. Each other line has the size, time, SHA-256 and quoted path of a file.
type Files struct {
	name string
	Root string // absolute path of the folder
	// Given is the mark under which the keys of all files were given to the daemon; "": not known. See [Removals].
	Given string
	Known map[string]File // remembered files, by path below the folder
}

// OpenFiles reads the list of a folder's files. If the list is not valid, its files are forgotten, and only have to
// be hashed again.
func (r Repo) OpenFiles(root string) (*Files, error) {
	root, err := filepath.Abs(root)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(r.path(filesFolder), 0o700); err != nil {
		return nil, err
	}
	sum := sha256.Sum256([]byte(root))
	f := &Files{name: filepath.Join(r.path(filesFolder), hex.EncodeToString(sum[:8])), Root: root, Known: make(map[string]File)}
	_, f.Given, err = readFiles(f.name, func(x File) { f.Known[x.Path] = x })
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return f, err
}

// Save replaces the remembered files, and notes that their keys were given under a mark.
func (f *Files) Save(files map[string]File, given string) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%q %s\n", f.Root, given)
	for _, x := range files {
		fmt.Fprintf(&b, "%d %d %x %q\n", x.Size, x.Time, x.Sum, x.Path)
	}
	f.Known, f.Given = files, given
	return writeFile(f.name, b.Bytes())
}

// FilesWith returns the remembered files of all folders with a SHA-256, in the order of their paths, which are absolute.
// If a list cannot be read, it returns those of the others with the error.
func (r Repo) FilesWith(sum [sha256.Size]byte) (found []File, err error) {
	lists, err := fs.Glob(os.DirFS(r.path(filesFolder)), "*")
	for _, name := range lists {
		var below []File
		root, _, readErr := readFiles(filepath.Join(r.path(filesFolder), name), func(x File) {
			if x.Sum == sum {
				below = append(below, x)
			}
		})
		err = errors.Join(err, readErr)
		for _, x := range below {
			x.Path = filepath.Join(root, x.Path)
			found = append(found, x)
		}
	}
	slices.SortFunc(found, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	return found, err
}

// readFiles calls f with the files of a list. It returns the list's folder and mark.
func readFiles(name string, f func(File)) (root, given string, err error) {
	file, err := os.Open(name)
	if err != nil {
		return "", "", err
	}
	defer func() { _ = file.Close() }()
	in := bufio.NewScanner(file)
	in.Buffer(make([]byte, 0, 1<<16), 1<<20)
	if in.Scan() {
		quoted, err := strconv.QuotedPrefix(in.Text())
		if err != nil {
			return "", "", nil //nolint:nilerr // no list: nothing is remembered
		}
		root, _ = strconv.Unquote(quoted) // no error: it is quoted
		given = strings.TrimSpace(in.Text()[len(quoted):])
	}
	for in.Scan() {
		x, ok := parseFile(in.Bytes())
		if !ok {
			given = "" // the list is incomplete
			break
		}
		f(x)
	}
	return root, given, in.Err()
}

// parseFile parses a line of a list, as [Files] describes it.
func parseFile(line []byte) (x File, ok bool) {
	size, line, _ := bytes.Cut(line, []byte(" "))
	changed, line, _ := bytes.Cut(line, []byte(" "))
	sum, path, ok := bytes.Cut(line, []byte(" "))
	if !ok || len(sum) != 2*sha256.Size {
		return x, false
	}
	var errs [4]error
	x.Size, errs[0] = strconv.ParseInt(string(size), 10, 64)
	x.Time, errs[1] = strconv.ParseInt(string(changed), 10, 64)
	_, errs[2] = hex.Decode(x.Sum[:], sum)
	x.Path, errs[3] = strconv.Unquote(string(path))
	return x, errors.Join(errs[:]...) == nil
}

// OpenRegular opens a regular file for reading. It returns an error if anything else has taken the file's place: a
// link, which may lead anywhere, or a pipe, on which a reader may wait for ever.
func OpenRegular(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|asItIs, 0)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s: no regular file any more", path)
	}
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}
