package daemon

import (
	"net"
	"os"
)

// The states that are sent to a service manager.
const (
	stateReady    = "READY=1"
	stateStopping = "STOPPING=1"
)

// notify sends a state to the service manager that started the process. It sends a datagram to the socket that
// NOTIFY_SOCKET names, as systemd's sd_notify does. Without that variable it sends nothing.
func notify(state string) error {
	name := os.Getenv("NOTIFY_SOCKET")
	if name == "" {
		return nil
	}
	// A name that begins with @ is in the abstract namespace. Package net understands it.
	c, err := net.DialUnix("unixgram", nil, &net.UnixAddr{Name: name, Net: "unixgram"})
	if err != nil {
		return err
	}
	defer func() { _ = c.Close() }()
	_, err = c.Write([]byte(state))
	return err
}
