package store

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"

	ds "github.com/ipfs/go-datastore"
)

// Names in the datastore. Keys and peers are in base64, because names are text.
//
//	/version        layoutVersion
//	/epoch          generation and last sequence number reserved, big-endian, 4 bytes each
//	/keys/<key>     empty
//	/peers/<id>     1 if it was a neighbour, else 0; then its signed PeerRecord
//	/filter/<n>     chunk n of the saved filter
//	/private/…      a store of the same layout, of the private keys
//	/saved          tag of the seed, number of keys and of chunks; without chunks the saved filter is outdated
var (
	versionName = ds.NewKey("/version")
	epochName   = ds.NewKey("/epoch")
	savedName   = ds.NewKey("/saved")
)

const (
	keysPrefix   = "/keys"
	peersPrefix  = "/peers"
	filterPrefix = "/filter"

	privatePrefix = "/private"

	layoutVersion = "1"

	wayBack = "Start the newer program, or restore a backup of before its first start with this one"
)

// upgrades holds, by version, the step to the next version, up to layoutVersion. A step must bear to be run twice.
var upgrades = map[string]struct {
	to string
	do func(context.Context, ds.Batching) error
}{}

var (
	// ErrVersion means that a newer version of this package wrote the datastore or the backup.
	ErrVersion = errors.New("store: of a newer version")
	// ErrDamaged means that the datastore has contents that this package does not write.
	ErrDamaged = errors.New("store: damaged")
	// ErrFailed means that a write failed. Until a later write succeeds, it is unknown whether that write's keys are
	// held.
	ErrFailed = errors.New("store: a write failed")
	// ErrClosed means that the store is closed.
	ErrClosed = errors.New("store: closed")
)

func name(prefix string, b []byte) ds.Key {
	return ds.RawKey(prefix + "/" + base64.RawURLEncoding.EncodeToString(b))
}

// named is the inverse of name: it returns the bytes that a name encodes.
func named(prefix, name string) ([]byte, error) {
	if len(name) <= len(prefix)+1 {
		return nil, fmt.Errorf("%w: name %q", ErrDamaged, name)
	}
	b, err := base64.RawURLEncoding.DecodeString(name[len(prefix)+1:])
	if err != nil {
		return nil, fmt.Errorf("%w: name %q: %w", ErrDamaged, name, err)
	}
	return b, nil
}
