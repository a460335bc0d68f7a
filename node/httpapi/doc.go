// Package httpapi serves a node over HTTP. Control serves the commands of its owner. Public serves programs on the
// machine: a delegated router (/routing/v1), metrics and health.
//
// Control can change the node, so it belongs on a socket that only the owner can open. Both bound the size of a
// request, the time it takes and how many are served at once; beyond that they answer 503. openapi.json describes
// Control.
package httpapi
