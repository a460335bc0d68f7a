package store

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/libp2p/go-libp2p/core/peer"
)

// peerBytes is the approximate number of bytes that a peer takes on disk.
const peerBytes = 1 << 10

// Peer is a peer that a node knew, with its signed record, which certifies its addresses.
type Peer struct {
	ID        peer.ID
	Neighbour bool
	Record    []byte
}

func encodePeer(p Peer) string {
	flag := "\x00"
	if p.Neighbour {
		flag = "\x01"
	}
	return flag + string(p.Record)
}

// openPeers reads the saved peers. It drops malformed ones, because peers only help at the start.
func (s *Store) openPeers(ctx context.Context) error {
	s.peers = make(map[string]string)
	return s.each(ctx, peersPrefix, false, func(id, value []byte) bool {
		if _, err := peer.IDFromBytes(id); err == nil && len(value) > 0 {
			s.peers[string(id)] = string(value)
		}
		return true
	})
}

// Peers returns the peers that were saved last, in the order of their ids.
func (s *Store) Peers() []Peer {
	s.peersMu.Lock()
	defer s.peersMu.Unlock()
	out := make([]Peer, 0, len(s.peers))
	for _, id := range slices.Sorted(maps.Keys(s.peers)) {
		v := s.peers[id]
		out = append(out, Peer{ID: peer.ID(id), Neighbour: v[0] == 1, Record: []byte(v[1:])})
	}
	return out
}

// SavePeers replaces the saved peers. Peers returns them from now on, and after the next Open. It writes only what
// changed.
func (s *Store) SavePeers(ctx context.Context, peers []Peer) error {
	s.peersMu.Lock()
	defer s.peersMu.Unlock()
	b, err := s.ds.Batch(ctx)
	if err != nil {
		return fmt.Errorf("store: save peers: %w", err)
	}
	if err := s.mayWrite(len(peers) * peerBytes); err != nil {
		return err
	}
	now := make(map[string]string, len(peers))
	for _, p := range peers {
		id, v := string(p.ID), encodePeer(p)
		if now[id] = v; s.peers[id] == v {
			continue
		}
		if err := b.Put(ctx, name(peersPrefix, []byte(id)), []byte(v)); err != nil {
			return fmt.Errorf("store: save peers: %w", err)
		}
	}
	for id := range s.peers {
		if _, ok := now[id]; ok {
			continue
		}
		if err := b.Delete(ctx, name(peersPrefix, []byte(id))); err != nil {
			return fmt.Errorf("store: save peers: %w", err)
		}
	}
	if err := b.Commit(ctx); err != nil {
		return fmt.Errorf("store: save peers: %w", err)
	}
	s.peers = now
	return nil
}
