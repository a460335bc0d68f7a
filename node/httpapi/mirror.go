package httpapi

import "time"

// Mirror is a mirror's state, with its counts. Numbers of bytes count from the start of the program.
type Mirror struct {
	Listen     string  `json:"listen"`      // host:port for clients
	Files      int     `json:"files"`       // contents in its cache
	Bytes      int64   `json:"bytes"`       // that the cache takes
	Limit      int64   `json:"limit"`       // of these
	Fetching   int     `json:"fetching"`    // contents that are being fetched
	FromPeers  int64   `json:"from_peers"`  // bytes
	FromOrigin int64   `json:"from_origin"` // bytes
	FromCache  int64   `json:"from_cache"`  // bytes of contents that were asked for and were there
	ToPeers    int64   `json:"to_peers"`    // bytes
	ToClients  int64   `json:"to_clients"`  // bytes
	Recent     []Fetch `json:"recent"`      // the last fetches that ended, the newest first
}

// Fetch is a fetch of a mirror that has ended.
type Fetch struct {
	Name       string    `json:"name"`
	Sum        string    `json:"sum"`
	Ended      time.Time `json:"ended"`
	Took       float64   `json:"took_ms"`
	FromPeers  int64     `json:"from_peers"`      // bytes
	FromOrigin int64     `json:"from_origin"`     // bytes
	Tried      []string  `json:"tried,omitempty"` // failures on the way
	Error      string    `json:"error,omitempty"` // why it failed
}
