package store

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"io"
	"time"

	ds "github.com/ipfs/go-datastore"
	"github.com/ipfs/go-datastore/namespace"
	"github.com/libp2p/go-libp2p/core/peer"
)

// A backup is backupMagic, then items, of which the last is an end item, then the SHA-256 of all these bytes. An item
// is its kind in one byte, the length of its content as a uvarint, and the content.
const (
	backupKind  = "venn backup "
	backupMagic = backupKind + "1\n"

	itemEnd        = 0 // generation, and number of items before this one; 8 bytes each, big-endian
	itemKey        = 1
	itemPrivateKey = 2
	itemPeer       = 3 // length of the id in one byte, the id, the value of /peers/<id>

	maxItem   = 1 << 14 // most bytes of an item's content
	maxKey    = 1 << 10 // most bytes of a key
	itemsOnce = 1 << 14 // items written to the datastore in one batch
)

// ErrBackup says that the input is not a whole backup.
var ErrBackup = errors.New("store: not a whole backup")

// ErrNotEmpty says that a datastore has a store already.
var ErrNotEmpty = errors.New("store: there is a store already")

// Backup writes the content of the store: keys, private keys, peers and the generation of its summaries. Changes made
// meanwhile may or may not be in the backup.
func (s *Store) Backup(ctx context.Context, w io.Writer) error {
	out := &backupWriter{w: bufio.NewWriter(w), sum: sha256.New()}
	out.write([]byte(backupMagic))
	for kind, of := range map[byte]*Store{itemKey: s, itemPrivateKey: s.private} {
		for key, err := range of.Keys(ctx) {
			if err != nil {
				return err
			}
			if out.item(kind, key); out.err != nil {
				return fmt.Errorf("store: backup: %w", out.err)
			}
		}
	}
	for _, p := range s.Peers() {
		out.item(itemPeer, append(append([]byte{byte(len(p.ID))}, p.ID...), encodePeer(p)...))
	}
	s.epochs.mu.Lock()
	generation := s.epochs.last.Generation
	s.epochs.mu.Unlock()
	end := binary.BigEndian.AppendUint64(nil, uint64(generation))
	out.item(itemEnd, binary.BigEndian.AppendUint64(end, out.items))
	if out.err == nil {
		_, out.err = out.w.Write(out.sum.Sum(nil))
	}
	if err := errors.Join(out.err, out.w.Flush()); err != nil {
		return fmt.Errorf("store: backup: %w", err)
	}
	return nil
}

type backupWriter struct {
	w     *bufio.Writer
	sum   hash.Hash
	items uint64
	err   error
}

func (b *backupWriter) write(p []byte) {
	if b.err == nil {
		_, _ = b.sum.Write(p)
		_, b.err = b.w.Write(p)
	}
}

func (b *backupWriter) item(kind byte, p []byte) {
	b.write(binary.AppendUvarint([]byte{kind}, uint64(len(p))))
	b.write(p)
	b.items++
}

// CheckBackup reads a backup to its end and returns the number of keys in it, private ones included. It calls
// progress, if not nil, after each itemsOnce keys with the number so far. Errors match ErrBackup or ErrVersion; errors
// of r are wrapped, too.
func CheckBackup(r io.Reader, progress func(keys int)) (keys int, err error) {
	_, err = readBackup(r, func(kind byte, _ []byte) error {
		if kind != itemKey && kind != itemPrivateKey {
			return nil
		}
		if keys++; progress != nil && keys%itemsOnce == 0 {
			progress(keys)
		}
		return nil
	})
	return keys, err
}

// Restore makes a store from a backup in an empty datastore. Its summaries begin a new generation, later than all
// generations of the old store, even if that store went on after the backup. After an error the datastore may hold a
// part of the backup, and is then useless. The errors: ErrNotEmpty; ErrBackup; ErrVersion; errors of r, the datastore
// and ctx.
func Restore(ctx context.Context, d ds.Batching, r io.Reader) error {
	if has, err := d.Has(ctx, versionName); err != nil || has {
		if err == nil {
			err = ErrNotEmpty
		}
		return err
	}
	w := &restorer{ctx: ctx, all: map[byte]ds.Batching{itemKey: d, itemPrivateKey: namespace.Wrap(d, ds.NewKey(privatePrefix))}, batches: make(map[byte]ds.Batch)}
	w.all[itemPeer] = d
	generation, err := readBackup(r, w.item)
	if err != nil {
		return err
	}
	if err := w.commit(); err != nil {
		return err
	}
	generation = max(generation+1, uint32(time.Now().Unix()))
	for _, kind := range []byte{itemPrivateKey, itemKey} {
		to := w.all[kind]
		if err := to.Put(ctx, epochName, encodeEpoch(generation, 0)); err != nil {
			return fmt.Errorf("store: restore: %w", err)
		}
		if err := to.Put(ctx, versionName, []byte(layoutVersion)); err != nil {
			return fmt.Errorf("store: restore: %w", err)
		}
	}
	return d.Sync(ctx, ds.NewKey("/"))
}

// restorer writes the items of a backup into a datastore, in batches.
type restorer struct {
	ctx     context.Context
	all     map[byte]ds.Batching
	batches map[byte]ds.Batch
	waiting int
}

// item puts an item into the batch of its kind. It commits all batches once itemsOnce items wait.
func (w *restorer) item(kind byte, p []byte) (err error) {
	if err := w.ctx.Err(); err != nil {
		return err
	}
	b := w.batches[kind]
	if b == nil {
		if b, err = w.all[kind].Batch(w.ctx); err != nil {
			return fmt.Errorf("store: restore: %w", err)
		}
		w.batches[kind] = b
	}
	n, value := name(keysPrefix, p), []byte(nil)
	if kind == itemPeer {
		id := 1 + int(p[0])
		n, value = name(peersPrefix, p[1:id]), bytes.Clone(p[id:])
	}
	if err := b.Put(w.ctx, n, value); err != nil {
		return fmt.Errorf("store: restore: %w", err)
	}
	if w.waiting++; w.waiting < itemsOnce {
		return nil
	}
	return w.commit()
}

func (w *restorer) commit() error {
	for kind, b := range w.batches {
		if err := b.Commit(w.ctx); err != nil {
			return fmt.Errorf("store: restore: %w", err)
		}
		delete(w.batches, kind)
	}
	w.waiting = 0
	return nil
}

// readBackup calls do with each item but the end item, and returns the generation. If it returns an error, the items
// are not to be trusted.
func readBackup(r io.Reader, do func(kind byte, p []byte) error) (generation uint32, err error) {
	in := &backupReader{r: bufio.NewReader(r), sum: sha256.New()}
	magic := make([]byte, len(backupMagic))
	if err := in.full(magic); err != nil {
		return 0, fmt.Errorf("%w: %w", ErrBackup, err)
	}
	switch {
	case string(magic) == backupMagic:
	case bytes.HasPrefix(magic, []byte(backupKind)):
		return 0, fmt.Errorf("%w: the backup begins with %q, this program reads %q. Restore it with the newer program", ErrVersion, magic, backupMagic)
	default:
		return 0, fmt.Errorf("%w: it does not begin as one", ErrBackup)
	}
	for items := uint64(0); ; items++ {
		kind, p, err := in.item()
		if err != nil {
			return 0, fmt.Errorf("%w: item %d: %w", ErrBackup, items, err)
		}
		if kind == itemEnd {
			return in.end(p, items)
		}
		if err := do(kind, p); err != nil {
			return 0, err
		}
	}
}

type backupReader struct {
	r   *bufio.Reader
	sum hash.Hash
	buf [maxItem]byte
}

// ReadByte reads one byte, and adds it to the checksum.
func (b *backupReader) ReadByte() (byte, error) {
	var one [1]byte
	err := b.full(one[:])
	return one[0], err
}

func (b *backupReader) full(p []byte) error {
	_, err := io.ReadFull(b.r, p)
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	_, _ = b.sum.Write(p)
	return err
}

// item reads an item and checks its form. The next call overwrites the content.
func (b *backupReader) item() (kind byte, p []byte, err error) {
	if kind, err = b.ReadByte(); err != nil {
		return 0, nil, err
	}
	n, err := binary.ReadUvarint(b)
	switch {
	case err != nil:
		return 0, nil, err
	case n > maxItem:
		return 0, nil, fmt.Errorf("%d bytes, at most %d", n, maxItem)
	}
	p = b.buf[:n]
	if err := b.full(p); err != nil {
		return 0, nil, err
	}
	switch kind {
	case itemEnd:
		if n != 16 {
			return 0, nil, fmt.Errorf("end of %d bytes", n)
		}
	case itemKey, itemPrivateKey:
		if n < 1 || n > maxKey {
			return 0, nil, fmt.Errorf("key of %d bytes", n)
		}
	case itemPeer:
		if n < 1 || int(p[0])+2 > len(p) {
			return 0, nil, fmt.Errorf("peer of %d bytes", n)
		}
		if _, err := peer.IDFromBytes(p[1 : 1+int(p[0])]); err != nil {
			return 0, nil, err
		}
	default:
		return 0, nil, fmt.Errorf("of kind %d, which is not known", kind)
	}
	return kind, p, nil
}

// end checks the end item p, the number of items before it, and the checksum.
func (b *backupReader) end(p []byte, items uint64) (generation uint32, err error) {
	g, n := binary.BigEndian.Uint64(p), binary.BigEndian.Uint64(p[8:])
	want := b.sum.Sum(nil)
	got := make([]byte, sha256.Size)
	if _, err := io.ReadFull(b.r, got); err != nil || !bytes.Equal(got, want) || n != items || g >= 1<<32-1 {
		return 0, fmt.Errorf("%w: its checksum is wrong", ErrBackup)
	}
	if _, err := b.r.ReadByte(); !errors.Is(err, io.EOF) {
		return 0, fmt.Errorf("%w: something follows its end", ErrBackup)
	}
	return uint32(g), nil
}
