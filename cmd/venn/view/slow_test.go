package view

import (
	"bufio"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// slowLine is the reading end of a line of some rate, in virtual time.
type slowLine struct {
	net.Conn
	rate float64 // bytes a second
}

func (l slowLine) Read(b []byte) (int, error) {
	n, err := l.Conn.Read(b[:min(len(b), 4096)])
	time.Sleep(time.Duration(float64(n) / l.rate * float64(time.Second)))
	return n, err
}

// pipes is a listener of connections within this process.
type pipes struct {
	conns chan net.Conn
	done  chan struct{}
}

func (p pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.done:
		return nil, net.ErrClosed
	}
}
func (p pipes) Close() error   { close(p.done); return nil }
func (p pipes) Addr() net.Addr { return &net.UnixAddr{} }

// crowd publishes a network of peers with 20 links each. Over a number of looks, each peer learns of all the others.
func crowd(f *Feed, peers, looks int) {
	rng := rand.New(rand.NewPCG(1, 2))
	id := func() string {
		b := make([]byte, 46)
		for i := range b {
			b[i] = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"[rng.IntN(58)]
		}
		return string(b)
	}
	for n := range peers {
		f.Publish(Peer{N: n, Name: "peer-" + id()[:4], ID: "12D3KooW" + id(), Class: "10mbit", Rate: 1e7, Self: true})
	}
	held := make([][]Cell, peers)
	for look := range looks {
		time.Sleep(time.Duration(1+peers/smallWorld) * lookEvery)
		for n := range peers {
			for of := look * peers / looks; of < (look+1)*peers/looks; of++ {
				parts := 1 + rng.IntN(20)
				held[n] = append(held[n], NewCell(of, parts, parts*(900+rng.IntN(300)), rng.Float64()))
			}
			l := Links{N: n}
			for range 20 {
				l.Links = append(l.Links, Link{
					To: rng.IntN(peers), Kind: "overlap", Share: rng.Float64(), RTT: 200 * rng.Float64(), Sent: rng.Uint64N(1e7), Received: rng.Uint64N(1e7),
				})
			}
			f.Publish(Status{
				N: n, Keys: 1000 + rng.IntN(1000), Links: 20, Origins: len(held[n]), Parts: rng.IntN(1e4), Bytes: rng.IntN(1e7),
				False: rng.Float64(), Sent: rng.Uint64N(1e8), Received: rng.Uint64N(1e8), LineOut: 4e5, LineIn: 4e5,
			}, Held{n, held[n]}, l)
		}
	}
}

// A viewer at the far end of a slow line sees all of a large network within seconds, and learns all of it in the end.
func TestSlowViewerSeesLargeNetwork(t *testing.T) {
	const peers, rate, seen = 1000, 2e6, 20 * time.Second
	synctest.Test(t, func(t *testing.T) {
		f := NewFeed(Header{}, 0)
		crowd(f, peers, 4)
		t.Logf("the history has %d bytes", f.bytes)
		listener := pipes{make(chan net.Conn), make(chan struct{})}
		server := &http.Server{Handler: Handler(Config{Source: f})}
		go func() { _ = server.Serve(listener) }()
		here, there := net.Pipe()
		listener.conns <- there
		began := time.Now()
		must(io.WriteString(here, "GET /events HTTP/1.1\r\nHost: view\r\nAccept-Encoding: gzip\r\n\r\n"))
		response, err := http.ReadResponse(bufio.NewReader(slowLine{here, rate / 8}), nil)
		if err != nil {
			t.Fatal(err)
		}
		body := io.Reader(response.Body)
		if response.Header.Get("Content-Encoding") == "gzip" {
			if body, err = gzip.NewReader(body); err != nil {
				t.Fatal(err)
			}
		}
		known, linked, cells, shown := map[int]bool{}, map[int]bool{}, 0, time.Duration(0)
		in := bufio.NewScanner(body)
		in.Buffer(nil, 64<<20)
		for in.Scan() && cells < peers*peers {
			data, ok := strings.CutPrefix(in.Text(), "data: ")
			if !ok {
				continue
			}
			var lines []struct {
				View  int `json:"venn_view"`
				Type  string
				N     int
				Held  []json.RawMessage
				Links json.RawMessage
			}
			if err := json.Unmarshal([]byte(data), &lines); err != nil {
				t.Fatal(err)
			}
			for _, l := range lines {
				switch {
				case l.View > 0:
					clear(known)
					clear(linked)
					cells = 0
				case l.Type == "peer":
					known[l.N] = true
				case l.Type == "links":
					linked[l.N] = true
				}
				cells += len(l.Held)
			}
			if shown == 0 && len(known) == peers && len(linked) == peers {
				shown = time.Since(began)
			}
		}
		t.Logf("all peers and links after %v, all that they hold after %v", shown, time.Since(began))
		if shown == 0 || shown > seen || cells != peers*peers {
			t.Errorf("all peers and links after %v, want at most %v; %d of %d cells: %v", shown, seen, cells, peers*peers, in.Err())
		}
		_ = here.Close()
		_ = server.Close()
		f.Close()
	})
}

// A viewer that reads quickly gets the whole history.
func TestQuickViewerGetsHistory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := NewFeed(Header{}, 0)
		crowd(f, 200, 4)
		f.Close()
		headers, bytes := 0, 0
		err := f.Follow(t.Context(), func(lines [][]byte) error {
			for _, l := range lines {
				bytes += len(l)
				if strings.Contains(string(l), "venn_view") {
					headers++
				}
			}
			time.Sleep(10 * time.Millisecond)
			return nil
		})
		if err != nil || headers != 1 || bytes != f.bytes {
			t.Errorf("%d headers and %d of %d bytes, %v", headers, bytes, f.bytes, err)
		}
	})
}

// Where nothing happens, a browser gets a comment every 15 s, by which both ends learn that the other is there.
func TestSignsOfLife(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var got []string
		ctx, end := context.WithTimeout(t.Context(), 2*keepAlive+time.Second)
		defer end()
		err := NewFeed(Header{}, 0).Follow(ctx, func(lines [][]byte) error {
			got = append(got, string(message(lines)))
			return nil
		})
		if !errors.Is(err, context.DeadlineExceeded) || len(got) != 3 || got[1] != ": still here\n\n" || got[2] != got[1] {
			t.Errorf("%q, %v: want the header and two comments", got, err)
		}
	})
}

// A recorder keeps the whole history, however slow its disk is.
func TestSlowRecorderKeepsHistory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := NewFeed(Header{}, 0)
		crowd(f, 200, 4)
		f.Close()
		var disk slowDisk
		if err := Record(t.Context(), f, &disk); err != nil || disk.bytes != f.bytes {
			t.Errorf("%d of %d bytes, %v", disk.bytes, f.bytes, err)
		}
	})
}

type slowDisk struct{ bytes int }

func (d *slowDisk) Write(b []byte) (int, error) {
	time.Sleep(time.Duration(len(b)) * 20 * time.Microsecond)
	d.bytes += len(b)
	return len(b), nil
}
