package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/libp2p/go-libp2p/core/protocol"
	mss "github.com/multiformats/go-multistream"

	"github.com/venn-p2p/venn/overlay/wire"
)

// attacker is one of the identities of an attack.
type attacker struct {
	on     *daemon
	spread string
	i, of  int // number of the attacker, and how many there are
	who    identity
	c      *conn // connection that stays; nil: none yet
}

// address returns the source address of the attacker's nth connection.
func (a *attacker) address(n int) string {
	far := func(at, rest int) string {
		return fmt.Sprintf("%d.%d.%d.%d", 40+at/250, at%250, 1+rest%200, 1+rest/200%200)
	}
	switch a.spread {
	case "far":
		return far((a.i+n*a.of)%1000, a.i)
	case "farther":
		return far(rand.IntN(1000), rand.IntN(40_000))
	case "wide":
		return fmt.Sprintf("40.0.%d.%d", rand.IntN(250), 1+rand.IntN(200))
	case "eight":
		return fmt.Sprintf("40.%d.0.%d", a.i/8, 1+a.i%8)
	case "each":
		return fmt.Sprintf("40.%d.0.1", a.i)
	case "near":
		return fmt.Sprintf("40.0.0.%d", 1+a.i)
	case "sibling":
		return fmt.Sprintf("30.%d.%d.1", 1+a.i%3, 1+a.i/3)
	}
	return ""
}

// renew gives the attacker another identity, on the address of its nth connection.
func (a *attacker) renew(n int) { a.who = newIdentity(a.address(n)) }

// connect makes a new connection of the attacker.
func (a *attacker) connect(ctx context.Context) (*conn, error) {
	ctx, cancel := context.WithTimeout(ctx, 3*time.Second)
	defer cancel()
	return a.on.dial(ctx, a.who)
}

// behaviours has what attackers do again and again, for the nth time. They end with ctx.
var behaviours = map[string]func(ctx context.Context, a *attacker, n int) error{
	"fleeting": func(ctx context.Context, a *attacker, n int) error {
		a.renew(n)
		c, err := a.connect(ctx)
		if err != nil {
			return err
		}
		defer c.Close()
		return c.has(ctx, key("v", n))
	},
	"opener": func(ctx context.Context, a *attacker, n int) error {
		a.renew(n)
		c, err := a.connect(ctx)
		if err == nil {
			_ = c.Close()
		}
		return err
	},
	"half": func(ctx context.Context, a *attacker, n int) error {
		c, err := a.on.open(ctx, a.address(n))
		if err != nil {
			return err
		}
		defer c.Close()
		_, _ = c.Write([]byte("\x13/multistream/1.0.0\n"))
		_ = c.SetReadDeadline(time.Now().Add(time.Second))
		for b := make([]byte, 64); err == nil && ctx.Err() == nil; {
			_, err = c.Read(b)
		}
		return nil
	},
	"crowd": func(ctx context.Context, a *attacker, n int) error {
		a.renew(n)
		c, err := a.connect(ctx)
		if err == nil {
			go func() {
				defer c.Close()
				for ctx.Err() == nil && !c.IsClosed() {
					_ = c.has(ctx, key("v", n))
					pause(ctx, 500*time.Millisecond)
				}
			}()
		}
		pause(ctx, 20*time.Millisecond)
		return err
	},
	"have": staying(func(ctx context.Context, c *conn, n int) error { // the dearest question
		asked := make([][]byte, wire.MaxHaveKeys)
		for i := range asked {
			asked[i] = fmt.Append(nil, "lacking ", n, i)
		}
		_, err := c.ask(ctx, haveID, wire.HaveRequest{Keys: asked}.Append(nil), wire.MaxHaveAnswer)
		return err
	}),
	"small": staying(func(ctx context.Context, c *conn, n int) error { return c.has(ctx, key("v", n)) }),
	"query": staying(func(ctx context.Context, c *conn, n int) error {
		err := c.search(ctx, fmt.Append(nil, "lacking ", rand.Uint64()), 128)
		if errors.Is(err, errNobody) {
			return nil
		}
		return err
	}),
	"hello": staying(func(ctx context.Context, c *conn, n int) error {
		_, err := c.ask(ctx, helloID, wire.Hello{Origins: 1}.Append(nil), wire.MaxHello)
		return err
	}),
	"garbage": staying(func(ctx context.Context, c *conn, n int) error {
		_, err := c.ask(ctx, []protocol.ID{haveID, queryID, helloID, peersID}[n%4], []byte{0xff, 0xff, 0xff}, 1<<16)
		return err
	}),
	"idle": staying(func(ctx context.Context, c *conn, n int) error { return trickle(ctx, c, 0) }),
	"slow": staying(func(ctx context.Context, c *conn, n int) error { return trickle(ctx, c, 9) }),
}

// mixed has the behaviours of attackers that differ.
var mixed = []string{"idle", "have", "query", "hello", "garbage", "slow", "fleeting", "half"}

// staying returns a behaviour on a connection that stays.
func staying(do func(ctx context.Context, c *conn, n int) error) func(context.Context, *attacker, int) error {
	return func(ctx context.Context, a *attacker, n int) (err error) {
		if a.c == nil || a.c.IsClosed() {
			if a.who.key == nil || a.spread == "far" || a.spread == "farther" {
				a.renew(n)
			}
			if a.c, err = a.connect(ctx); err != nil {
				a.c = nil
				return err
			}
		}
		return do(ctx, a.c, n)
	}
}

// trickle begins a message of nine bytes on a stream, and sends some of them slowly. It leaves the stream open unless
// the message is complete.
func trickle(ctx context.Context, c *conn, bytes int) error {
	s, err := c.OpenStream(ctx)
	if err != nil {
		return err
	}
	rw := mss.NewMSSelect(s, wire.ProtocolIn("venn", haveID))
	_ = s.SetDeadline(time.Now().Add(10 * time.Second))
	_, err = rw.Write([]byte{9})
	for range bytes {
		pause(ctx, 50*time.Millisecond)
		_, _ = rw.Write([]byte{1})
	}
	if bytes > 0 {
		_ = s.Reset()
	}
	pause(ctx, 20*time.Millisecond)
	return err
}

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// misbehave does what the attacker does until ctx ends.
func (a *attacker) misbehave(ctx context.Context, behaviour string, t *tally) {
	if behaviour == "mixed" {
		behaviour = mixed[a.i%len(mixed)]
	}
	for n := 0; ctx.Err() == nil; n++ {
		if t.note(func() error { return behaviours[behaviour](ctx, a, n) }) != nil {
			pause(ctx, time.Millisecond)
		}
	}
	if a.c != nil {
		_ = a.c.Close()
	}
}
