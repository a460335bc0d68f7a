package holdings

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"
)

// Logged is a query of a log.
type Logged[P ~int32] struct {
	At    time.Duration
	Asker P
	Key   uint32
}

// ReadLog reads queries from a table of seconds, peer and key, none after an end. Errors name the line.
func ReadLog[P ~int32](r io.Reader, end time.Duration, peer func(string) (P, bool), key func(string) (uint32, bool)) (out []Logged[P], err error) {
	table := csv.NewReader(r)
	table.Comment, table.FieldsPerRecord = '#', 3
	for {
		row, err := table.Read()
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, err
		}
		line, _ := table.FieldPos(0)
		seconds, err := strconv.ParseFloat(row[0], 64)
		if err != nil || !(seconds >= 0 && seconds <= end.Seconds()) {
			return nil, fmt.Errorf("line %d: %q is no time from 0 to %v seconds", line, row[0], end.Seconds())
		}
		p, known := peer(row[1])
		if !known {
			return nil, fmt.Errorf("line %d: there is no peer %q", line, row[1])
		}
		k, known := key(row[2])
		if !known {
			return nil, fmt.Errorf("line %d: there is no key %q", line, row[2])
		}
		out = append(out, Logged[P]{time.Duration(seconds * float64(time.Second)), p, k})
	}
}
