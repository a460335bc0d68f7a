// Package wire defines the format of the messages that nodes exchange. They go on the streams of /venn/hello/1.0.0,
// /venn/have/1.0.0, /venn/query/1.0.0, /venn/parts/1.0.0, /venn/peers/1.1.0, /venn/tails/1.0.0 and /venn/join/1.0.0, and
// in pubsub's partial messages. [ProtocolIn] adds the network to the protocols' ids.
//
// Every message is a protocol buffer, described by wire.proto beside this file. On a stream its length precedes it,
// as an unsigned varint (WriteFrame, ReadFrame). A decoder guarantees, for bytes from a stranger:
//
//   - The message, and each of its fields, is within the limit that its Max constant states. The limit is checked
//     before anything is allocated. A decoded message shares the memory of the bytes that it was read from. The
//     decoder allocates only the message's lists.
//   - Varints and tags are in their shortest form. Fields come in any order. A field that is not repeated occurs at
//     most once.
//   - Unknown fields and flags are skipped, so that a later version may add some. If a message has unknown fields and
//     none of the forms known here, it is of a later version: ErrLater.
//   - On error the decoder returns the zero value, and an error that names the message and the field. The error
//     matches ErrMalformed, ErrLimit or ErrLater.
//
// Costs are linear in the length of the message.
package wire
