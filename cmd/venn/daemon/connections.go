package daemon

import (
	"errors"
	"sync"

	"github.com/libp2p/go-libp2p/core/network"
	ma "github.com/multiformats/go-multiaddr"
	manet "github.com/multiformats/go-multiaddr/net"

	"github.com/venn-p2p/venn/overlay/admission"
)

// sharing is a resource manager that leaves some of a host's inbound connections to address groups with few. A group
// has at most as many connections as are free, half-open ones included. So k groups that open all that they can leave
// one in k+1 free.
type sharing struct {
	network.ResourceManager
	most int

	mu  sync.Mutex
	all int
	of  map[string]int // number of connections of each group that has any
}

// newSharing returns a resource manager whose address groups share up to most inbound connections. In all else it acts
// as m.
func newSharing(m network.ResourceManager, most int) *sharing {
	return &sharing{ResourceManager: m, most: most, of: map[string]int{}}
}

// errCrowded says that an address group has its share of the connections.
var errCrowded = errors.New("daemon: the address group has too many connections")

// OpenConnection refuses an inbound connection of a group that has its share. Addresses without an IP are not counted.
func (s *sharing) OpenConnection(
	dir network.Direction, fd bool, a ma.Multiaddr,
) (network.ConnManagementScope, error) {
	group := groupOf(a)
	if dir != network.DirInbound || group == "" {
		return s.ResourceManager.OpenConnection(dir, fd, a)
	}
	if !s.enter(group) {
		return nil, errCrowded
	}
	scope, err := s.ResourceManager.OpenConnection(dir, fd, a)
	if err != nil {
		s.leave(group)
		return nil, err
	}
	return &connection{scope, sync.OnceFunc(func() { s.leave(group) })}, nil
}

func (s *sharing) enter(group string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.of[group] >= s.most-s.all {
		return false
	}
	s.all++
	s.of[group]++
	return true
}

func (s *sharing) leave(group string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all--
	if s.of[group]--; s.of[group] == 0 {
		delete(s.of, group)
	}
}

// connection is the scope of a connection that counts until it is done.
type connection struct {
	network.ConnManagementScope
	leave func()
}

func (c *connection) Done() {
	c.ConnManagementScope.Done()
	c.leave()
}

// groupOf returns the address group of an address; "" if it is not by IP.
func groupOf(a ma.Multiaddr) string {
	ip, err := manet.ToIP(a)
	if err != nil {
		return ""
	}
	return admission.Group(ip)
}
