// Package httpapi serves a node over HTTP. Control serves its owner's commands. Public serves programs on the same
// machine: a delegated router (/routing/v1), metrics and health.
//
// Control can change the node, so it should listen on a socket that only the owner can open. Both bound the size of a
// request, the time that it takes, and the number of requests served at once. Beyond that number they answer 503.
// openapi.json describes Control.
package httpapi
