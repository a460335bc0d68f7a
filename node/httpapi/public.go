package httpapi

import (
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/ipfs/boxo/routing/http/server"
	"github.com/prometheus/client_golang/prometheus"
)

// routingTime is the most time for one search for providers: more than a query takes, and less than clients wait.
const routingTime = 20 * time.Second

// Public returns the handler for programs on the same machine: /routing/v1, metrics and health. It changes nothing.
func Public(c Config) http.Handler {
	a := newAPI(c, "public")
	mux := http.NewServeMux()
	a.common(mux)
	var registry prometheus.Registerer = prometheus.NewRegistry() // without one, boxo's server would use the process's
	if a.Registry != nil {
		registry = a.Registry
	}
	router := server.Handler(delegated{a.Node, a.Servers}, server.WithPrometheusRegistry(registry), server.WithRoutingTimeout(routingTime))
	mux.Handle("/routing/v1/", a.limited(func(w http.ResponseWriter, r *http.Request) error {
		if !offered(r) {
			return fault{http.StatusNotImplemented, errors.New("only GET of providers and peers is offered")}
		}
		router.ServeHTTP(w, r)
		return nil
	}))
	return mux
}

// offered reports whether a request is for something that [delegated] supports. It answers other methods and paths of
// the protocol with errors, and boxo's server makes failures of them, or, of records that it does not look at, success.
func offered(r *http.Request) bool {
	switch r.Method {
	case http.MethodGet, http.MethodHead, http.MethodOptions:
		return !strings.HasPrefix(r.URL.Path, "/routing/v1/ipns/") && !strings.HasPrefix(r.URL.Path, "/routing/v1/dht/")
	}
	return false
}
