package httpapi

import "time"

// Mirror is the state of a mirror. Counts of bytes from and to others begin with the program.
type Mirror struct {
	Listen     string  `json:"listen"`      // host:port at which clients connect
	Files      int     `json:"files"`       // number of contents in the cache
	Bytes      int64   `json:"bytes"`       // bytes that the cache takes
	Limit      int64   `json:"limit"`       // most bytes of the cache
	Fetching   int     `json:"fetching"`    // contents that are being fetched
	FromPeers  int64   `json:"from_peers"`  // bytes
	FromOrigin int64   `json:"from_origin"` // bytes
	FromCache  int64   `json:"from_cache"`  // bytes of contents that clients asked for and the cache had
	ToPeers    int64   `json:"to_peers"`    // bytes
	ToClients  int64   `json:"to_clients"`  // bytes
	Recent     []Fetch `json:"recent"`      // the last fetches that ended, newest first
}

// Fetch is a fetch of a mirror that has ended.
type Fetch struct {
	Name       string    `json:"name"`
	Sum        string    `json:"sum"`
	Ended      time.Time `json:"ended"`
	Took       float64   `json:"took_ms"`
	FromPeers  int64     `json:"from_peers"`      // bytes
	FromOrigin int64     `json:"from_origin"`     // bytes
	Tried      []string  `json:"tried,omitempty"` // failures of sources before the fetch ended
	Error      string    `json:"error,omitempty"` // reason of the failure; absent after success
}
