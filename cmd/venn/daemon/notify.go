package daemon

import (
	"net"
	"os"
)

// The states that a service manager hears of.
const (
	stateReady    = "READY=1"
	stateStopping = "STOPPING=1"
)

// notify sends a state to the service manager that started the process, if it wants to know. It sends a datagram to the
// socket that NOTIFY_SOCKET names, as systemd's sd_notify does.
func notify(state string) error {
	name := os.Getenv("NOTIFY_SOCKET")
	if name == "" {
		return nil
	}
	// A name that begins with @ is an abstract one, which package net takes as it is.
	c, err := net.DialUnix("unixgram", nil, &net.UnixAddr{Name: name, Net: "unixgram"})
	if err != nil {
		return err
	}
	defer func() { _ = c.Close() }()
	_, err = c.Write([]byte(state))
	return err
}
