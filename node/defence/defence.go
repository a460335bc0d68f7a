// Package defence names the defences of package node that tests and experiments may switch off. They show that each
// attack succeeds without its defence. Nobody else switches one off; a test forbids it to commands.
package defence

// Off is a set of defences that are switched off. The zero value leaves all of them on.
type Off uint32

const (
	// NewestRecord keeps the newest record of each peer: an old one does not hide where it is now.
	NewestRecord Off = 1 << iota
	// FewAddresses dials few of the addresses that a stranger claims.
	FewAddresses
	// OneDial tries a stranger's addresses once.
	OneDial
	// OpenedOutside verifies the signatures in hellos outside the loop.
	OpenedOutside
	// FairQueue gives each peer as much room in the queue of pubsub's messages as is free for all.
	FairQueue
	// PrivateToLinks tells linked peers alone of private keys.
	PrivateToLinks
	// Offenders are not served any more that send on streams what no peer should, again and again.
	Offenders
	// KeptMesh keeps links in the mesh: newcomers do not take their places.
	KeptMesh
	// Admission shares streams and the work that they cause over those who ask.
	Admission
	// StoreOutside asks the key store outside the loop.
	StoreOutside
	// JoinSize bounds what the other end of a join may claim to hold.
	JoinSize
	// JoinKeys takes only those keys of the other end of a join that are in the filter that it was sent.
	JoinKeys
)

// Has says whether a defence is switched off.
func (o Off) Has(d Off) bool { return o&d != 0 }
