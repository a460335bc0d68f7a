package node

import (
	"time"

	"github.com/venn-p2p/venn/overlay/wire"
)

// Peers whose pubsub knows no partial messages get the sample of this node's summary. It is an ordinary message on the
// same topic, signed by pubsub as usual: a Parts with header, record and part 0. It is sent with each epoch, and when
// such a peer joins. Pubsub does not send it to other peers.
const sampleEvery = 5 * time.Second // least time between two of these messages

// sampleMessage returns the ordinary message about a new epoch; nil if it would be too large.
func sampleMessage(b built) []byte {
	run, err := b.stream.Run(0, 1)
	if err != nil {
		return nil
	}
	msg := wire.Parts{Envelope: b.envelope, Record: b.record, Run: run}.Append(nil)
	if len(msg) > wire.MaxSample {
		return nil
	}
	return msg
}
