package mirror

import (
	"errors"
	"net/http"
)

// fault is a kind of error. Metrics count it by its reason, and clients and peers get its status.
type fault struct {
	reason string
	status int
	text   string
}

func (f *fault) Error() string { return "mirror: " + f.text }

// bad makes a kind of error with the status for an origin or peer at fault.
func bad(reason, text string) *fault { return &fault{reason, http.StatusBadGateway, text} }

// The errors of sources of bytes, of peers' answers, and of this mirror.
var (
	errSilent = bad("silent", "the peer does not answer any more")
	errSlow   = bad("slow", "the peer sends too slowly")
	errWaits  = bad("stalled", "nothing comes any more")
	errRange  = bad("wrong range", "a source sends another range than it was asked for")
	errSize   = bad("wrong size", "a source says another size")
	errWrong  = bad("wrong content", "content has another hash")
	errLied   = bad("lied", "what peers gave was wrong")
	errFound  = bad("found", "another brings it")
	errLeft   = bad("left", "nobody waits for it any more")

	errBusy   = &fault{"busy", http.StatusServiceUnavailable, "the peer has no room for another"}
	errBehind = &fault{"behind", http.StatusConflict, "the peer waits for this one, or for another like it"}
	errLacks  = &fault{"lacks", http.StatusNotFound, "the peer does not have it"}

	errDisk     = bad("disk", "the cache takes no more")
	errShare    = bad("share", "peers send more than may come before its hash is known to be right")
	errRegistry = &fault{"registry", http.StatusNotFound, "not one of the registries that are configured"}
	errPath     = &fault{"path", http.StatusBadRequest, "a path has an empty part or a dot part"}
	errSum      = &fault{"sum", http.StatusBadRequest, "no sum"}
)

// kind returns the kind of an error, for metrics and answers.
func kind(err error) *fault {
	f := bad("broken off", "broken off")
	_ = errors.As(err, &f)
	return f
}
