package wire

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// WriteFrame writes a message after its length, in one call of Write.
func WriteFrame(w io.Writer, msg []byte) error {
	b := binary.AppendUvarint(make([]byte, 0, len(msg)+binary.MaxVarintLen32), uint64(len(msg)))
	_, err := w.Write(append(b, msg...))
	return err
}

// ReadFrame reads a length and then a message of that many bytes, at most limit. If reserve is not nil, ReadFrame
// calls it once the length is checked and before it allocates; an error of reserve ends the read. At the end of the
// stream ReadFrame returns io.EOF, inside a message io.ErrUnexpectedEOF.
func ReadFrame(r io.Reader, limit int, reserve func(bytes int) error) ([]byte, error) {
	n, err := readLength(r)
	if err != nil {
		return nil, err
	}
	if n > uint64(limit) {
		return nil, fmt.Errorf("%w: frame of %d bytes, at most %d", ErrLimit, n, limit)
	}
	if reserve != nil {
		if err := reserve(int(n)); err != nil {
			return nil, err
		}
	}
	b := make([]byte, n)
	if _, err := io.ReadFull(r, b); err != nil {
		return nil, unexpected(err)
	}
	return b, nil
}

// readLength reads a length byte by byte, so that it reads nothing of the message behind it.
func readLength(r io.Reader) (uint64, error) {
	var n uint64
	var b [1]byte
	for i := 0; i < binary.MaxVarintLen64; i++ {
		if _, err := io.ReadFull(r, b[:]); err != nil {
			if i > 0 {
				err = unexpected(err)
			}
			return 0, err
		}
		if i == 9 && b[0] > 1 {
			break
		}
		n |= uint64(b[0]&0x7f) << (7 * i)
		if b[0] < 0x80 {
			if b[0] == 0 && i > 0 {
				break // not the shortest form
			}
			return n, nil
		}
	}
	return 0, fmt.Errorf("%w: length of a frame", ErrMalformed)
}

func unexpected(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
