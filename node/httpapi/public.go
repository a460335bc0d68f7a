package httpapi

import "net/http"

// Public is the handler for programs on the machine: /routing/v1, metrics and health. It changes nothing.
func Public(c Config) http.Handler {
	a := newAPI(c)
	mux := http.NewServeMux()
	a.common(mux)
	return mux
}
