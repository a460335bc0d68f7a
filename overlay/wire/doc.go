// Package wire is the format of the messages that nodes exchange. They go on the streams of /venn/hello/1.0.0,
// /venn/have/1.0.0, /venn/query/1.0.0, /venn/parts/1.0.0, /venn/tails/1.0.0 and /venn/join/1.0.0, and in pubsub's
// partial messages. [ProtocolIn] adds the network to the protocols' ids.
//
// Every message is a protocol buffer, described by wire.proto beside this file. On a stream it stands behind its
// length, an unsigned varint (WriteFrame, ReadFrame). A decoder guarantees, for bytes from a stranger:
//
//   - the message, and each of its fields, is within the limit that its Max constant states, checked before anything is
//     allocated. A decoded message shares the memory of the bytes it was read from and allocates only its lists;
//   - varints and tags are in their shortest form; fields come in any order, and a field that is not repeated stands at
//     most once;
//   - unknown fields and bits of flags are skipped, so that a later version may add some. A message that has unknown
//     fields and none of the forms known here is of a later version: ErrLater;
//   - on error it returns the zero value and an error that names the message and the field, matched by errors.Is with
//     ErrMalformed, ErrLimit or ErrLater.
//
// Costs are linear in the length of the message.
package wire
