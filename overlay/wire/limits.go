package wire

import (
	"encoding/binary"
	"math"
	"time"

	"github.com/venn-p2p/venn/overlay/space"
)

// The limits of what a message may hold. They are part of the format: peers refuse what is over a limit.
const (
	MaxKey      = 1024        // most bytes of a key
	MaxPeer     = 64          // most bytes of a peer id
	MaxEnvelope = 1024        // most bytes of a signed header
	MaxRecord   = 2048        // most bytes of a signed PeerRecord
	MaxTail     = MaxEnvelope // most bytes of a signed tail
	MaxBatch    = 64 << 10    // most bytes of keys, tails, pieces of a filter or (mostly) parts in a message

	MaxHaveKeys  = 256         // most keys in a HaveRequest
	MaxTailItems = MaxHaveKeys // most items in a message of tails
	MaxItemTails = 32          // most tails in an item
	MaxItems     = 4096        // most items in a catalogue

	MaxNamed        = 16                     // most peers in the Peers of a [Names]
	MaxHelloRecords = MaxNamed               // most records in a Hello
	MaxIntroduced   = 8                      // most summaries in the Introductions of a Names
	MaxKnown        = 96                     // most origins in the Known of an [Inquiry]
	MaxLacks        = 1 << space.MaxBits / 8 // most bytes in the Lacks of an Inquiry

	MaxAnswerRecords = 64                                // most records in an Answer
	MaxVisited       = MaxAnswerRecords                  // most marks of visited peers in a Query; the latest are kept
	MaxHops          = math.MaxUint8                     // most times that a query is forwarded
	MaxWithin        = math.MaxUint32 * time.Millisecond // most time that a query may have left

	MaxPart       = math.MaxUint16       // highest number of a part, and most parts of a summary
	MaxJoinBits   = 1 << 28              // most bits of a filter, whatever sizes the sources claim for their sets
	MaxJoinFilter = 5 * MaxJoinBits / 32 // most bytes of a filter's message: the filter's bits, and what the coding may add

	groupBytes = len(GroupID{})
	givenBytes = groupBytes + 2 // bytes of a Given
	knownBytes = 6              // bytes of a KnownOrigin
)

// The most bytes of each message. Most follow from what a message may hold, and leave it room for the rest.
const (
	// room is enough for tags, lengths and small fields of a message, and for some that a later version may add.
	room = 256

	MaxHello        = MaxHelloRecords*maxRecordField + room
	MaxHave         = MaxBatch
	MaxHaveAnswer   = MaxHaveKeys + room
	MaxQuery        = MaxKey + MaxPeer + 4*MaxVisited + room
	MaxAnswer       = MaxAnswerRecords*maxRecordField + room
	MaxPartsRequest = room
	MaxParts        = 512 << 10 // on a stream
	MaxPartsRPC     = 136 << 10 // in pubsub
	MaxIntroduction = 6 << 10   // in an Inquiry or in Names
	MaxInquiry      = MaxLacks + MaxKnown*knownBytes + MaxIntroduction + room
	MaxNames        = MaxNamed*MaxRecord + MaxIntroduced*MaxIntroduction + room
	MaxCatalogue    = MaxItems*(groupBytes+binary.MaxVarintLen16+binary.MaxVarintLen16+givenBytes) + room
	MaxTails        = MaxBatch
	MaxJoinRequest  = room
	MaxJoinPiece    = MaxBatch + room

	maxRecordField = MaxPeer + MaxRecord + room // of an encoded Record
)
