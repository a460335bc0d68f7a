package mirror

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/test"

	"github.com/venn-p2p/venn/overlay/admission"
)

const blobs = "/v2/some/image/blobs/"

// TestOneOfManyAsksTheOrigin has eight mirrors begin at once. Who asks the origin before it hears of another leaves it
// as soon as it does, so all together take at most a tenth more than the content.
func TestOneOfManyAsksTheOrigin(t *testing.T) {
	if testing.Short() {
		t.Skip("weighs bytes against time")
	}
	o, b := newRegistry(t), newBoard()
	content := some(3<<20, 1)
	digest, _ := o.add(content)
	o.rate = 6 << 20
	var all []peerOf
	for range 8 {
		p := b.start(t, Upstream{OCI: []string{o.URL}})
		for _, other := range all { // shaking hands takes longer than the rest
			if err := p.cfg.Host.Connect(t.Context(), *host.InfoFromHost(other.host)); err != nil {
				t.Fatal(err)
			}
		}
		all = append(all, p)
	}
	allGet(t, all, digest, content)
	o.sentAtMost(t, int64(len(content))*11/10)
}

func TestManyClientsShareAFetch(t *testing.T) {
	t.Parallel()
	o, b := newRegistry(t), newBoard()
	content := some(1<<20, 2)
	digest, sum := o.add(content)
	o.rate = 4 << 20
	var lines strings.Builder
	p := b.start(t, Upstream{OCI: []string{o.URL}}, func(c *Config) { c.Log = slog.New(slog.NewTextHandler(&lines, nil)) })
	allGet(t, slices.Repeat([]peerOf{p}, 10), digest, content)
	if got := lines.String(); strings.Count(got, "\n") != 1 || !strings.Contains(got, `why="no peer gave all of it"`) {
		t.Errorf("it logs %q", got)
	}
	get(t, p.url+blobs+digest).is(t, content)
	part := get(t, p.url+blobs+digest, "Range", "bytes=1000-1999")
	if part.status != http.StatusPartialContent || !bytes.Equal(part.body, content[1000:2000]) {
		t.Errorf("a range: status %d, %d bytes", part.status, len(part.body))
	}
	if n := o.count("GET " + blobs); n != 1 || !p.has(sum) {
		t.Errorf("the origin was asked %d times; advertised: %v", n, p.has(sum))
	}
}

// TestManyContentsOfOneHolder has clients ask for 64 contents at once, which one peer has. Its host takes 32 streams of a
// peer.
func TestManyContentsOfOneHolder(t *testing.T) {
	t.Parallel()
	o, b := newRegistry(t), newBoard()
	up := Upstream{OCI: []string{o.URL}}
	holder := b.start(t, up, func(c *Config) { c.Host = newLimitedHost(t); c.Router = view{b, c.Host} })
	digests, contents := make([]string, 64), make([][]byte, 64)
	for i := range digests {
		contents[i] = some(256<<10, uint64(100+i))
		digests[i], _ = o.add(contents[i])
		get(t, holder.url+blobs+digests[i]).is(t, contents[i])
	}
	given := o.given()
	p := b.start(t, up)
	p.connect(t, holder.cfg.Host)
	var clients sync.WaitGroup
	for i := range digests {
		clients.Go(func() { get(t, p.url+blobs+digests[i]).is(t, contents[i]) })
	}
	clients.Wait()
	if more := o.given() - given; more > 0 {
		t.Errorf("the origin sent %d bytes of what a peer has", more)
	}
	until(t, "no request is open", func() bool { return holder.served.Held() == 0 })
}

// TestWaitingForAStreamIsNotSilence has two contents share one stream to their holder, and the questions for them another.
// Two in turn take longer than a silent holder is waited for, one does not.
func TestWaitingForAStreamIsNotSilence(t *testing.T) {
	t.Parallel()
	o, b := newRegistry(t), newBoard()
	digests, contents := make(map[string]string), make(map[string][]byte)
	var h host.Host
	answer := func(w http.ResponseWriter, r *http.Request) {
		content := contents[r.URL.Path]
		if r.Method == http.MethodHead {
			time.Sleep(testTimes.silent * 2 / 3)
		}
		gives(w, len(content))
		for i := 0; i < len(content) && r.Method == http.MethodGet; i += holdBack {
			time.Sleep(testTimes.silent * 2 / 3)
			_, _ = w.Write(content[i : i+holdBack])
			_ = http.NewResponseController(w).Flush()
		}
	}
	for i := range uint64(2) {
		content := some(4*holdBack, 40+i)
		digest, sum := o.add(content)
		digests[digest], contents["/"+string(sum)] = string(sum), content
		if h == nil {
			h = b.liar(t, sum, answer)
		} else if err := (view{b, h}).Advertise(t.Context(), sum.Key()); err != nil {
			t.Fatal(err)
		}
	}
	p := b.start(t, Upstream{OCI: []string{o.URL}})
	p.peers.MaxConnsPerHost, p.probes.MaxConnsPerHost = 1, 1
	p.connect(t, h)
	var clients sync.WaitGroup
	for digest, sum := range digests {
		clients.Go(func() { get(t, p.url+blobs+digest).is(t, contents["/"+sum]) })
	}
	clients.Wait()
	if o.given() > 0 {
		t.Errorf("the origin sent %d bytes of what a peer has", o.given())
	}
}

// TestSeveralHoldersGiveRanges has two holders, which give nothing before both are asked for bytes. They answer at once,
// or one of them only when the other was asked for all of the content.
func TestSeveralHoldersGiveRanges(t *testing.T) {
	t.Parallel()
	content := some(5*segment+12345, 3)
	for name, late := range map[string]bool{"both at once": false, "one late": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o, b := newRegistry(t), newBoard()
			digest, sum := o.add(content)
			asked := []chan struct{}{make(chan struct{}), make(chan struct{})}
			for i := range asked {
				ask := sync.OnceFunc(func() { close(asked[i]) })
				b.liar(t, sum, func(w http.ResponseWriter, r *http.Request) {
					switch {
					case r.Method == http.MethodGet:
						ask()
						<-asked[1-i]
					case late && i == 1:
						<-asked[0]
					}
					claims(w, len(content))
					http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(content))
				})
			}
			p := b.start(t, Upstream{OCI: []string{o.URL}})
			p.times.silent, p.times.late, p.times.stuck = time.Hour, time.Hour, time.Hour // who waits for the other is not given up
			get(t, p.url+blobs+digest).is(t, content)
			if got := counter(t, p, "venn_mirror_bytes_total", "peers"); got != float64(len(content)) || o.given() > 0 {
				t.Errorf("peers gave %v bytes of %d, the origin %d", got, len(content), o.given())
			}
		})
	}
}

// TestFirstRangeComesLast has a holder fall silent in the first range. When the others have brought the later ones, what is
// left of the first one does not reach the content's end.
func TestFirstRangeComesLast(t *testing.T) {
	t.Parallel()
	o, b := newRegistry(t), newBoard()
	content := some(2*segment+400_000, 40)
	digest, sum := o.add(content)
	up := Upstream{OCI: []string{o.URL}}
	for range 2 {
		get(t, b.start(t, up).url+blobs+digest).is(t, content)
	}
	o.Close()
	b.liar(t, sum, func(w http.ResponseWriter, r *http.Request) {
		state{Whole: true, Have: 1 << 40, Size: int64(len(content))}.write(w.Header()) // more than others: it is asked first
		if r.Method == http.MethodGet {
			w.Header().Set("Content-Range", fmt.Sprintf("bytes 0-%d/%d", len(content)-1, len(content)))
			w.WriteHeader(http.StatusPartialContent)
			_, _ = w.Write(content[:100_000])
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
		}
	})
	get(t, b.start(t, up).url+blobs+digest).is(t, content)
}

// TestKilledHolderIsReplaced has a holder die in the middle: its connections end, or it is silent, as over QUIC.
func TestKilledHolderIsReplaced(t *testing.T) {
	t.Parallel()
	content := some(2<<20, 4)
	for name, die := range map[string]func(host.Host){
		"ends":   func(h host.Host) { _ = h.Close() },
		"silent": func(h host.Host) { h.Network().SetStreamHandler(func(network.Stream) {}) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o, b := newRegistry(t), newBoard()
			digest, sum := o.add(content)
			killed := make(chan struct{})
			var dead host.Host
			dead = b.liar(t, sum, func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Connection", "close") // the next question needs another stream
				gives(w, len(content))
				if r.Method == http.MethodGet {
					_, _ = w.Write(content[:1<<20])
					close(killed)
					die(dead)
					<-t.Context().Done()
				}
			})
			p := b.start(t, Upstream{OCI: []string{o.URL}})
			begun := time.Now()
			get(t, p.url+blobs+digest).is(t, content)
			if took := time.Since(begun); took > 3*time.Second {
				t.Errorf("took %v", took)
			}
			<-killed
			if o.given() > int64(len(content))-500<<10 {
				t.Errorf("the origin sent %d bytes, the first half was there", o.given())
			}
		})
	}
}

// TestSilentHolderIsOvertaken has a peer that stops in the middle, and still answers probes: another holder brings the rest
// at once. The first has the whole, or says that it waits for bytes itself.
func TestSilentHolderIsOvertaken(t *testing.T) {
	t.Parallel()
	content := some(segment, 35) // more would be cut into ranges for both
	size := int64(len(content))
	for name, first := range map[string]state{"whole": {Whole: true, Have: size, Size: size}, "waits": {Have: size / 2, Size: size}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o, b := newRegistry(t), newBoard()
			digest, sum := o.add(content)
			var asked atomic.Int32
			stopped := make(chan struct{})
			b.liar(t, sum, func(w http.ResponseWriter, r *http.Request) {
				if r.Method == http.MethodHead {
					first.write(w.Header())
					return
				}
				asked.Add(1)
				w.Header().Set("Content-Range", fmt.Sprintf("bytes 0-%d/%d", size-1, size))
				first.write(w.Header())
				w.WriteHeader(http.StatusPartialContent)
				_, _ = w.Write(content[:size/2])
				_ = http.NewResponseController(w).Flush()
				close(stopped)
				<-r.Context().Done()
			})
			b.liar(t, sum, func(w http.ResponseWriter, r *http.Request) {
				if r.Method == http.MethodGet {
					asked.Add(1)
				}
				<-stopped
				claims(w, len(content))
				http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(content))
			})
			p := b.start(t, Upstream{OCI: []string{o.URL}})
			p.times.slow, p.times.stuck, p.times.late = time.Hour, time.Hour, time.Hour
			get(t, p.url+blobs+digest).is(t, content)
			if o.given() > 0 || asked.Load() != 2 {
				t.Errorf("the origin sent %d bytes; holders were asked %d times", o.given(), asked.Load())
			}
		})
	}
}

// TestAllThatIsThereIsPassedOn has one mirror wait for its origin, and another take from it meanwhile. Readers sleep while
// nothing comes.
func TestAllThatIsThereIsPassedOn(t *testing.T) {
	t.Parallel()
	o, b := newRegistry(t), newBoard()
	content := some(1<<20, 21)
	digest, sum := o.add(content)
	goOn := make(chan struct{})
	o.before = func(w http.ResponseWriter, _ *http.Request) bool {
		w.Header().Set("Content-Length", strconv.Itoa(len(content)))
		_, _ = w.Write(content[:200_001])
		_ = http.NewResponseController(w).Flush()
		<-goOn
		_, _ = w.Write(content[200_001:])
		return true
	}
	up := Upstream{OCI: []string{o.URL}}
	first, second := b.start(t, up), b.start(t, up)
	has := func(p peerOf, bytes int64) {
		until(t, "bytes are there", func() (yes bool) {
			if f := p.join(sum, named{}); f != nil {
				f.news(func(time.Time) { yes = f.there >= bytes })
				f.leave()
			}
			return yes
		})
	}
	var clients sync.WaitGroup
	for _, p := range []peerOf{first, second} {
		clients.Go(func() { get(t, p.url+blobs+digest).is(t, content) })
		has(p, 200_001)
	}
	f := first.join(sum, named{})
	ctx, cancel := context.WithTimeout(t.Context(), 6*watchTick)
	defer cancel()
	woken := -1
	_ = f.until(ctx, f.come, func() (bool, error) { woken++; return false, nil })
	if f.leave(); woken > 1 {
		t.Errorf("a reader was woken %d times while nothing came", woken)
	}
	close(goOn)
	clients.Wait()
	if second.Status().FromOrigin > 0 {
		t.Error("both asked the origin")
	}
}

// TestLyingPeers has peers that answer in bad ways. The client gets the content all the same, if at the second try.
func TestLyingPeers(t *testing.T) {
	t.Parallel()
	content := some(1<<20, 5)
	wrong := bytes.Clone(content)
	wrong[700] ^= 1
	size := len(content)
	partial := func(w http.ResponseWriter, contentRange string) {
		claims(w, size)
		w.Header().Set("Content-Range", contentRange)
		w.WriteHeader(http.StatusPartialContent)
	}
	for name, c := range map[string]struct {
		answer http.HandlerFunc
		noted  string // by the fetch
		blamed bool
	}{
		"wrong bytes": {func(w http.ResponseWriter, _ *http.Request) {
			gives(w, size)
			_, _ = w.Write(wrong)
		}, "", true},
		"stops": {func(w http.ResponseWriter, r *http.Request) {
			gives(w, size)
			_, _ = w.Write(content[:1000])
			_ = http.NewResponseController(w).Flush()
			if r.Method == http.MethodGet {
				<-r.Context().Done()
			}
		}, "mirror: the peer", false},
		"drips": {func(w http.ResponseWriter, r *http.Request) {
			gives(w, size)
			for i := 0; i < size && r.Method == http.MethodGet; i++ {
				if _, err := w.Write(content[i : i+1]); err != nil || http.NewResponseController(w).Flush() != nil {
					return
				}
				time.Sleep(20 * time.Millisecond)
			}
		}, errSlow.Error(), false},
		"another range": {func(w http.ResponseWriter, _ *http.Request) {
			partial(w, "bytes 5-1048575/1048576")
			_, _ = w.Write(content[5:])
		}, errRange.Error(), false},
		"another size": {func(w http.ResponseWriter, _ *http.Request) { partial(w, "bytes 0-1048575/9999999999") }, errSize.Error(), false},
		"too long": {func(w http.ResponseWriter, r *http.Request) {
			gives(w, size)
			for r.Method == http.MethodGet {
				if _, err := w.Write(content); err != nil {
					return
				}
			}
		}, "", false},
		"all instead of a range": {func(w http.ResponseWriter, _ *http.Request) {
			claims(w, size)
			_, _ = w.Write(content)
		}, "", false},
		"an absurd size": {func(w http.ResponseWriter, _ *http.Request) {
			claims(w, 1<<62)
			w.Header().Set("Content-Range", "bytes 0-4611686018427387903/4611686018427387904")
			w.WriteHeader(http.StatusPartialContent)
		}, "peer", false},
		"never answers": {func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, "", false},
		"breaks off":    {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, "", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o, b := newRegistry(t), newBoard()
			digest, sum := o.add(content)
			liar := b.liar(t, sum, c.answer).ID()
			p := b.start(t, Upstream{OCI: []string{o.URL}})
			a := get(t, p.url+blobs+digest)
			a.notWrong(t, content)
			if a.err != nil || a.status != http.StatusOK {
				get(t, p.url+blobs+digest).is(t, content)
			}
			if c.noted != "" {
				p.tried(t, c.noted)
			}
			if got := p.isBlamed(string(liar)); got != c.blamed {
				t.Errorf("blamed: %v, want %v", got, c.blamed)
			}
		})
	}
}

// TestPartialLies has a peer give wrong bytes of contents that it says it fetches. It is asked no more after some of them.
func TestPartialLies(t *testing.T) {
	t.Parallel()
	o, b := newRegistry(t), newBoard()
	liar := b.liar(t, meeting, func(w http.ResponseWriter, _ *http.Request) {
		state{Have: 1 << 40, Size: -1}.write(w.Header())
		w.Header().Set("Content-Range", "bytes 0-999/1000")
		w.WriteHeader(http.StatusPartialContent)
		_, _ = w.Write(make([]byte, 1000))
	})
	p := b.start(t, Upstream{OCI: []string{o.URL}})
	for i := range maxBlame + 1 {
		if got := p.isBlamed(string(liar.ID())); got != (i == maxBlame) {
			t.Errorf("blamed after %d lies: %v", i, got)
		}
		content := some(1000, uint64(100+i))
		digest, sum := o.add(content)
		if err := (view{b, liar}).Advertise(t.Context(), sum.Key()); err != nil {
			t.Fatal(err)
		}
		get(t, p.url+blobs+digest).is(t, content)
	}
}

// TestWastedTimeAddsUp has several peers give all bytes but the last, or some more each time, and then nothing. All together
// are waited for as long as one of them.
func TestWastedTimeAddsUp(t *testing.T) {
	t.Parallel()
	content := some(300_000, 6)
	for name, more := range map[string]int{"all but the last": len(content) - 1, "some more": 2 * trickle} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o, b := newRegistry(t), newBoard()
			digest, sum := o.add(content)
			var asked atomic.Int32
			for range 8 {
				b.liar(t, sum, func(w http.ResponseWriter, r *http.Request) {
					claims(w, len(content))
					if r.Method == http.MethodHead {
						return
					}
					asked.Add(1)
					var first int
					_, _ = fmt.Sscanf(r.Header.Get("Range"), "bytes=%d-", &first)
					w.Header().Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", first, len(content)-1, len(content)))
					w.WriteHeader(http.StatusPartialContent)
					_, _ = w.Write(content[first:min(first+more, len(content)-1)])
					_ = http.NewResponseController(w).Flush()
					<-r.Context().Done()
				})
			}
			p := b.start(t, Upstream{OCI: []string{o.URL}})
			p.times.busy = time.Second
			get(t, p.url+blobs+digest).is(t, content)
			if n, most := asked.Load(), int32(p.times.busy/p.times.silent)+2; n > most {
				t.Errorf("silent peers were asked %d times, want at most %d", n, most)
			}
		})
	}
}

// TestSmallLies has a peer give wrong bytes of content that nobody gets before its hash is right: the client notices
// nothing.
func TestSmallLies(t *testing.T) {
	o, b := newRegistry(t), newBoard()
	content := some(1000, 43)
	digest, sum := o.add(content)
	liar := b.liar(t, sum, func(w http.ResponseWriter, _ *http.Request) {
		gives(w, len(content))
		_, _ = w.Write(make([]byte, len(content)))
	}).ID()
	p := b.start(t, Upstream{OCI: []string{o.URL}})
	if get(t, p.url+blobs+digest).is(t, content); !p.isBlamed(string(liar)) {
		t.Error("the liar is not blamed")
	}
}

func TestFullDisk(t *testing.T) {
	o, b := newRegistry(t), newBoard()
	p := b.start(t, Upstream{OCI: []string{o.URL}}, func(c *Config) { c.Size = LeastSize })
	content := some(LeastSize+1<<20, 7)
	digest, sum := o.add(content)
	get(t, p.url+blobs+digest).is(t, content)
	if p.has(sum) {
		t.Error("what was not kept is advertised")
	}
	if err := os.RemoveAll(filepath.Join(p.cfg.Dir, filesFolder)); err != nil {
		t.Fatal(err)
	}
	small := some(1000, 8)
	digest, _ = o.add(small)
	get(t, p.url+blobs+digest).is(t, small)
}

// TestDiskFillsUp has less room on the disk than the cache may take: it is full while a client gets content. That answer
// breaks off; the next one is whole.
func TestDiskFillsUp(t *testing.T) {
	t.Parallel()
	o, b := newRegistry(t), newBoard()
	content := some(4<<20, 45)
	digest, _ := o.add(content)
	o.rate = 8 << 20
	p := b.start(t, Upstream{OCI: []string{o.URL}})
	p.cache.limit = 2 << 20
	if got := get(t, p.url+blobs+digest); got.err == nil {
		t.Errorf("the first answer: status %d, %d bytes, whole", got.status, len(got.body))
	}
	get(t, p.url+blobs+digest).is(t, content)
}

func TestEvictedContentIsWithdrawn(t *testing.T) {
	t.Parallel()
	o, b := newRegistry(t), newBoard()
	p := b.start(t, Upstream{OCI: []string{o.URL}}, func(c *Config) { c.Size = LeastSize })
	sums := fill(t, o, p, 5, 4<<20)
	get(t, p.url+blobs+strings.Replace(string(sums[1]), "-", ":", 1)).is(t, some(4<<20, 101)) // the oldest is used again
	last, _ := o.add(some(4<<20, 7))
	get(t, p.url+blobs+last).is(t, some(4<<20, 7))
	for i, s := range sums {
		_, there := p.cache.size(s)
		_, err := os.Stat(p.cache.path(s))
		if there != p.has(s) || there != (err == nil) || there != (i == 1 || i >= 3) {
			t.Errorf("content %d: there %v, advertised %v, file: %v", i, there, p.has(s), err)
		}
	}
	if used, _ := p.cache.usage(); used > LeastSize {
		t.Errorf("%d bytes are used", used)
	}
}

// TestRecordsEvictNothing: what is noted of names takes their bytes of the cache, and no more.
func TestRecordsEvictNothing(t *testing.T) {
	o, b := newRegistry(t), newBoard()
	p := b.start(t, Upstream{OCI: []string{o.URL}}, func(c *Config) { c.Size = LeastSize })
	content := some(LeastSize-1<<20, 19)
	digest, sum := o.add(content)
	get(t, p.url+blobs+digest).is(t, content)
	small, _ := o.add([]byte("{}"))
	for i := range 20 {
		o.set(func() { o.tags[fmt.Sprint("v", i)] = small })
		get(t, p.url+"/v2/some/image/manifests/"+fmt.Sprint("v", i)).is(t, []byte("{}"))
	}
	if _, there := p.cache.size(sum); !there {
		t.Error("20 tags evicted a layer")
	}
	tag := record{Name: "oci/" + strings.TrimPrefix(o.URL, "http://") + "/some/image/manifests/v1"}.sum()
	if _, there := p.cache.size(tag); !there || p.has(tag) {
		t.Errorf("the record of a tag: there %v, advertised %v", there, p.has(tag))
	}
	if s := p.Status(); s.Files != 2 {
		t.Errorf("%d contents", s.Files)
	}
	status := httptest.NewRecorder()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/"+string(tag), nil)
	r.RemoteAddr = test.RandPeerIDFatal(t).String()
	if p.servePeer(status, r); status.Code != http.StatusBadRequest {
		t.Errorf("a peer asks for a record: status %d", status.Code)
	}
}

func TestOriginDown(t *testing.T) {
	t.Parallel()
	o, b := newRegistry(t), newBoard()
	content := some(300_000, 9)
	digest, _ := o.add(content)
	o.tags["v1"] = digest
	up := Upstream{OCI: []string{o.URL}}
	first, second := b.start(t, up), b.start(t, up)
	get(t, first.url+blobs+digest).is(t, content)
	get(t, first.url+"/v2/some/image/manifests/v1").is(t, content)
	for name, answer := range map[string]func(http.ResponseWriter, *http.Request) bool{
		"429": func(w http.ResponseWriter, _ *http.Request) bool {
			w.Header().Set("Retry-After", "7")
			w.WriteHeader(http.StatusTooManyRequests)
			return true
		},
		"503": func(w http.ResponseWriter, _ *http.Request) bool {
			w.WriteHeader(http.StatusServiceUnavailable)
			return true
		},
		"cuts off":  func(http.ResponseWriter, *http.Request) bool { panic(http.ErrAbortHandler) },
		"is silent": func(_ http.ResponseWriter, r *http.Request) bool { <-r.Context().Done(); return true },
	} {
		o.set(func() { o.before = answer })
		get(t, second.url+blobs+digest).is(t, content)
		third := b.start(t, up)
		if head := do(t, http.MethodHead, third.url+blobs+digest); head.status != http.StatusOK || head.header.Get("Content-Length") != "300000" {
			t.Errorf("%s: HEAD of what peers have: %d %v", name, head.status, head.header)
		}
		tag := get(t, first.url+"/v2/some/image/manifests/v1")
		if name != "is silent" {
			tag.is(t, content)
			if tag.header.Get("Age") == "" {
				t.Errorf("%s: the last word has no age: %v", name, tag.header)
			}
		}
		lost := get(t, second.url+blobs+"sha256:"+strings.Repeat("ab", 32))
		if lost.status != http.StatusBadGateway && lost.status != http.StatusServiceUnavailable && lost.status != http.StatusTooManyRequests {
			t.Errorf("%s: status %d for what nobody has", name, lost.status)
		}
		if name == "429" && lost.header.Get("Retry-After") != "7" {
			t.Errorf("429 is passed on without its time: %v", lost.header)
		}
	}
}

// TestClockAhead has a mirror ask for a tag while its clock is an hour ahead, which is then put right.
func TestClockAhead(t *testing.T) {
	o, b := newRegistry(t), newBoard()
	before, _ := o.add([]byte("before"))
	after, _ := o.add([]byte("after"))
	o.tags["v1"] = before
	p := b.start(t, Upstream{OCI: []string{o.URL}})
	get(t, p.url+"/v2/some/image/manifests/v1").is(t, []byte("before"))
	name := "oci/" + strings.TrimPrefix(o.URL, "http://") + "/some/image/manifests/v1"
	r, ok := p.recall(name)
	if !ok {
		t.Fatal("nothing is noted of the tag")
	}
	r.Asked = time.Now().Add(time.Hour)
	p.remember(r)
	o.set(func() { o.tags["v1"] = after })
	get(t, p.url+"/v2/some/image/manifests/v1").is(t, []byte("after"))
}

// TestTooLongForAName has the origin give more for a name than is kept: the client gets it all the same.
func TestTooLongForAName(t *testing.T) {
	o, b := newRegistry(t), newBoard()
	o.before = func(w http.ResponseWriter, _ *http.Request) bool {
		w.Header().Set("Content-Length", strconv.Itoa(maxNamed+1))
		_, _ = w.Write([]byte("its beginning"))
		return true
	}
	p := b.start(t, Upstream{OCI: []string{o.URL}})
	if got := get(t, p.url+"/v2/some/image/manifests/v1"); got.status != http.StatusOK || got.header.Get("Content-Length") != strconv.Itoa(maxNamed+1) {
		t.Errorf("status %d, %v", got.status, got.header)
	}
}

// TestSlowIndexIsKept has the origin take longer for the content of a name than for an answer's beginning.
func TestSlowIndexIsKept(t *testing.T) {
	t.Parallel()
	o, b := newRegistry(t), newBoard()
	content := some(10_000, 36)
	digest, sum := o.add(content)
	o.tags["v1"] = digest
	o.before = func(w http.ResponseWriter, _ *http.Request) bool {
		for part := range slices.Chunk(content, 1000) {
			_, _ = w.Write(part)
			_ = http.NewResponseController(w).Flush()
			time.Sleep(100 * time.Millisecond)
		}
		return true
	}
	p := b.start(t, Upstream{OCI: []string{o.URL}})
	p.times.stuck = 700 * time.Millisecond
	get(t, p.url+"/v2/some/image/manifests/v1").is(t, content)
	if _, there := p.cache.size(sum); !there {
		t.Error("it is not kept")
	}
}

func TestOriginThatBreaksOffIsResumed(t *testing.T) {
	o, b := newRegistry(t), newBoard()
	content := some(1<<20, 10)
	digest, _ := o.add(content)
	o.before = func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method != http.MethodGet || r.Header.Get("Range") != "" {
			return false
		}
		w.Header().Set("Content-Length", "1048576")
		_, _ = w.Write(content[:600_000])
		panic(http.ErrAbortHandler)
	}
	p := b.start(t, Upstream{OCI: []string{o.URL}})
	get(t, p.url+blobs+digest).is(t, content)
	if o.sent > int64(len(content))-500_000 {
		t.Errorf("%d bytes were sent again", o.sent)
	}
}

// TestOriginWithoutRanges has an origin break off late, and send all again: skipping what is there takes longer than a
// silent origin is waited for.
func TestOriginWithoutRanges(t *testing.T) {
	t.Parallel()
	o, b := newRegistry(t), newBoard()
	content := some(2<<20, 38)
	digest, _ := o.add(content)
	o.before = func(w http.ResponseWriter, _ *http.Request) bool {
		w.Header().Set("Content-Length", strconv.Itoa(len(content)))
		for i := 0; i < len(content); i += holdBack {
			if i == len(content)*7/8 && o.count("GET "+blobs) == 1 {
				panic(http.ErrAbortHandler)
			}
			_, _ = w.Write(content[i : i+holdBack])
			_ = http.NewResponseController(w).Flush()
			time.Sleep(20 * time.Millisecond)
		}
		return true
	}
	p := b.start(t, Upstream{OCI: []string{o.URL}})
	p.times.stuck = 300 * time.Millisecond
	get(t, p.url+blobs+digest).is(t, content)
}

func TestOriginOfWrongBytes(t *testing.T) {
	o, b := newRegistry(t), newBoard()
	digest, sum := o.add(some(1<<20, 11))
	o.set(func() { o.blobs[digest] = some(1<<20, 12) })
	p := b.start(t, Upstream{OCI: []string{o.URL}})
	a := get(t, p.url+blobs+digest)
	if a.err == nil && a.status == http.StatusOK {
		t.Error("wrong content was served as whole")
	}
	if _, there := p.cache.size(sum); there || p.has(sum) {
		t.Error("wrong content was kept, or is advertised")
	}
}

func TestDamagedCache(t *testing.T) {
	t.Parallel()
	o, b := newRegistry(t), newBoard()
	content := some(200_000, 13)
	digest, sum := o.add(content)
	up := Upstream{OCI: []string{o.URL}}
	p := b.start(t, up)
	other := b.start(t, up)
	for name, damage := range map[string]func(string) error{
		"other bytes": func(path string) error { return os.WriteFile(path, make([]byte, len(content)), 0o600) },
		"cut":         func(path string) error { return os.Truncate(path, 1000) },
		"gone":        os.Remove,
	} {
		get(t, p.url+blobs+digest).is(t, content)
		time.Sleep(20 * time.Millisecond) // file systems keep times in ticks
		if err := damage(p.cache.path(sum)); err != nil {
			t.Fatal(err)
		}
		if got := get(t, other.url+blobs+digest); name != "gone" {
			got.notWrong(t, content)
		}
		get(t, p.url+blobs+digest).is(t, content)
		other.cache.drop(sum)
	}
}

func TestTwoMirrorsOnOneFolder(t *testing.T) {
	o, b := newRegistry(t), newBoard()
	p := b.start(t, Upstream{OCI: []string{o.URL}})
	c := p.cfg
	c.Host = newHost(t)
	if _, err := New(c); !errors.Is(err, ErrInUse) {
		t.Fatalf("a second mirror: %v", err)
	}
	for _, change := range []func(*Config){
		func(c *Config) { c.Size = LeastSize - 1 }, func(c *Config) { c.Place = strings.Repeat("a", MaxPlace+1) }, func(c *Config) { c.Router = nil },
	} {
		bad := c
		change(&bad)
		if _, err := New(bad); err == nil || errors.Is(err, ErrInUse) {
			t.Errorf("a bad configuration: %v", err)
		}
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	m, err := New(c)
	if err != nil {
		t.Fatalf("after the first has ended: %v", err)
	}
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestCrash looks at a folder as a crash leaves it: with whole content, and some that was being fetched, by its hash and by
// a name.
func TestCrash(t *testing.T) {
	o, b := newRegistry(t), newBoard()
	content := some(100_000, 14)
	digest, sum := o.add(content)
	_, half := o.add(some(100_000, 15))
	up := Upstream{OCI: []string{o.URL}}
	p := b.start(t, up)
	get(t, p.url+blobs+digest).is(t, content)
	f, err := p.cache.create(half)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = f.WriteAt(make([]byte, 5000), 0)
	_ = f.f.Close()
	named, origin := io.Pipe()
	defer func() { _ = origin.Close() }()
	go func() { _, _, _ = p.cache.put("", named, 1) }()
	_, _ = origin.Write([]byte{0})
	_ = p.Advertise(t.Context(), half.Key())
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	h := p.cfg.Host
	again := b.start(t, up, func(c *Config) { c.Dir, c.Host, c.Router = p.cfg.Dir, h, p.view })
	o.Close()
	get(t, again.url+blobs+digest).is(t, content)
	if !p.has(sum) || p.has(half) {
		t.Errorf("advertised: whole %v, half %v", p.has(sum), p.has(half))
	}
	left, err := os.ReadDir(filepath.Join(p.cfg.Dir, filesFolder))
	if err != nil || len(left) != 1 || left[0].Name() != string(sum) {
		t.Errorf("left: %v, %v", left, err)
	}
}

// TestTheFirstKeepsTheOrigin has a mirror ask the origin before it hears of one that has much already. It leaves the
// origin, whatever their hashes say, and the first goes on.
func TestTheFirstKeepsTheOrigin(t *testing.T) {
	t.Parallel()
	o, b := newRegistry(t), newBoard()
	content := some(6<<20, 27)
	digest, sum := o.add(content)
	o.rate = 2 << 20
	first, second := b.start(t, Upstream{OCI: []string{o.URL}}), b.start(t, Upstream{OCI: []string{o.URL}})
	if lotOf(first.cfg.Host.ID(), sum) < lotOf(second.cfg.Host.ID(), sum) {
		first, second = second, first
	}
	second.times.lookup = 0
	var both sync.WaitGroup
	both.Go(func() { get(t, first.url+blobs+digest).is(t, content) })
	for o.given() < 1<<20 {
		time.Sleep(time.Millisecond)
	}
	both.Go(func() { get(t, second.url+blobs+digest).is(t, content) })
	both.Wait()
	o.sentAtMost(t, int64(len(content))*9/8)
}

// hanging is a router that never names anybody.
type hanging struct {
	view
	looks atomic.Int32 // under way
}

func (h *hanging) Lookup(ctx context.Context, _ []byte) iter.Seq[peer.AddrInfo] {
	return func(func(peer.AddrInfo) bool) {
		h.looks.Add(1)
		defer h.looks.Add(-1)
		<-ctx.Done()
	}
}

// TestOriginDoesNotWaitForRouter has the origin asked while nobody was named yet: within .1 s, as a daemon is set.
func TestOriginDoesNotWaitForRouter(t *testing.T) {
	o, b := newRegistry(t), newBoard()
	content := some(1000, 44)
	digest, _ := o.add(content)
	router := &hanging{}
	p := b.start(t, Upstream{OCI: []string{o.URL}}, func(c *Config) { router.view, c.Router = view{b, c.Host}, router })
	p.times.late = time.Minute
	o.before = func(http.ResponseWriter, *http.Request) bool {
		if router.looks.Load() != 1 {
			t.Error("the look has ended")
		}
		return false
	}
	get(t, p.url+blobs+digest).is(t, content)
	if defaultTimes.lookup > 100*time.Millisecond {
		t.Errorf("a look without an answer takes %v", defaultTimes.lookup)
	}
}

// TestOriginIsNotLeftForALaterMirror has a peer that gets its bytes from a mirror answer it: late, with more than the
// mirror said in the question, and less than the mirror has by then; or at once, with as many.
func TestOriginIsNotLeftForALaterMirror(t *testing.T) {
	t.Parallel()
	for name, of := range map[string]struct {
		late time.Duration
		more int64
	}{"late": {100 * time.Millisecond, 1}, "at once": {}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o, b := newRegistry(t), newBoard()
			content := some(4<<20, 28)
			digest, sum := o.add(content)
			o.rate = 4 << 20
			b.liar(t, sum, func(w http.ResponseWriter, r *http.Request) {
				if r.Method == http.MethodGet {
					w.WriteHeader(errBehind.status)
					return
				}
				asker, _ := parseState(r.Header)
				time.Sleep(of.late)
				state{Have: asker.Have + of.more, Size: int64(len(content))}.write(w.Header())
			})
			p := b.start(t, Upstream{OCI: []string{o.URL}})
			p.times.lookup = 0
			get(t, p.url+blobs+digest).is(t, content)
			if n := o.count("GET " + blobs); n != 1 {
				t.Errorf("the origin was asked %d times", n)
			}
		})
	}
}

// TestPeerBehindIsAskedAgain has a peer that has not decided where it takes from when it is asked first, and then has.
func TestPeerBehindIsAskedAgain(t *testing.T) {
	t.Parallel()
	o, b := newRegistry(t), newBoard()
	content := some(6<<20, 25)
	digest, sum := o.add(content)
	o.rate = 1 << 20
	var asked atomic.Int32
	b.liar(t, sum, func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet && asked.Add(1) == 1 {
			w.WriteHeader(errBehind.status)
			return
		}
		state{Have: int64(len(content)), Size: int64(len(content))}.write(w.Header())
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(content))
	})
	p := b.start(t, Upstream{OCI: []string{o.URL}})
	get(t, p.url+blobs+digest).is(t, content)
	if o.sent > int64(len(content))/2 {
		t.Errorf("the origin sent %d bytes of %d; the peer was asked %d times", o.sent, len(content), asked.Load())
	}
}

// TestFickleHolder has a peer that claims content whole, and gives none of it. The origin is left for it a few times, and
// another peer is not given up because of it.
func TestFickleHolder(t *testing.T) {
	t.Parallel()
	content := some(4<<20, 39)
	for name, refuses := range map[string]http.HandlerFunc{
		"behind": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(errBehind.status) },
		"busy":   func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(errBusy.status) },
		"absurd size": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Range", "bytes 0-1099511627775/1099511627776")
			w.WriteHeader(http.StatusPartialContent)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o, b := newRegistry(t), newBoard()
			digest, sum := o.add(content)
			o.rate = 4 << 20
			b.liar(t, sum, func(w http.ResponseWriter, r *http.Request) {
				if claims(w, 1<<40); r.Method == http.MethodGet { // more than others: it is asked first
					refuses(w, r)
				}
			})
			p := b.start(t, Upstream{OCI: []string{o.URL}})
			p.times.busy = 300 * time.Millisecond
			get(t, p.url+blobs+digest).is(t, content)
			if n := o.count("GET " + blobs); n > 8 {
				t.Errorf("the origin was asked %d times", n)
			}
			given := o.given()
			get(t, b.start(t, Upstream{OCI: []string{o.URL}}).url+blobs+digest).is(t, content)
			if more := o.given() - given; more > 0 {
				t.Errorf("the origin sent %d bytes of what an honest peer has", more)
			}
		})
	}
}

// TestLyingPeersEvictLittle has peers send as much as the cache takes, which is not what was asked for: one alone, or two
// at once.
func TestLyingPeersEvictLittle(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ lies, bytes, left int }{"one": {1, 15 << 20, 3}, "two": {2, 15 << 19, 2}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o, b := newRegistry(t), newBoard()
			p := b.start(t, Upstream{OCI: []string{o.URL}}, func(c *Config) { c.Size = LeastSize })
			good := fill(t, o, p, 5, 3<<20)
			var sent, clients sync.WaitGroup
			sent.Add(c.lies)
			for i := range c.lies {
				wanted := some(100_000, uint64(17+i))
				digest, sum := o.add(wanted)
				done := sync.OnceFunc(sent.Done) // it may be asked again
				b.liar(t, sum, func(w http.ResponseWriter, r *http.Request) {
					gives(w, c.bytes)
					if r.Method == http.MethodGet {
						_, _ = w.Write(make([]byte, c.bytes-1))
						done()
						sent.Wait() // the last byte comes when all lies are there
						_, _ = w.Write([]byte{0})
					}
				})
				clients.Go(func() {
					get(t, p.url+blobs+digest).notWrong(t, wanted)
					get(t, p.url+blobs+digest).is(t, wanted)
				})
			}
			clients.Wait()
			left := 0
			for _, s := range good {
				if _, there := p.cache.size(s); there {
					left++
				}
			}
			if left < c.left {
				t.Errorf("lies evicted all but %d of 5 contents", left)
			}
		})
	}
}

func TestClientsAreBounded(t *testing.T) {
	o, b := newRegistry(t), newBoard()
	content := some(1000, 18)
	digest, _ := o.add(content)
	asked, release := make(chan bool), make(chan bool)
	o.before = func(http.ResponseWriter, *http.Request) bool {
		asked <- true
		<-release
		return false
	}
	p := b.start(t, Upstream{OCI: []string{o.URL}})
	p.clients = admission.NewSlots(1)
	s := httptest.NewServer(p.Handler())
	defer s.Close()
	p.url = s.URL
	first := make(chan answer)
	go func() { first <- get(t, p.url+blobs+digest) }()
	<-asked
	if got := get(t, p.url+blobs+digest); got.status != http.StatusServiceUnavailable || got.header.Get("Retry-After") == "" {
		t.Errorf("beyond the bound: status %d, %v", got.status, got.header)
	}
	close(release)
	got := <-first
	got.is(t, content)
	get(t, p.url+blobs+digest).is(t, content)
}

// stuck is an answer that is not taken until the test ends.
type stuck struct {
	httptest.ResponseRecorder
	ended chan struct{}
}

func (s *stuck) Write(b []byte) (int, error) {
	<-s.ended
	return len(b), nil
}

// TestPlacesAreShared: eight peers, or eight addresses of one group, take all places that they can, and receive nothing.
// Another one is served.
func TestPlacesAreShared(t *testing.T) {
	o, b := newRegistry(t), newBoard()
	content := some(1000, 18)
	digest, sum := o.add(content)
	p := b.start(t, Upstream{OCI: []string{o.URL}})
	get(t, p.url+blobs+digest).is(t, content)
	peerID := func(int) string { return test.RandPeerIDFatal(t).String() }
	for name, c := range map[string]struct {
		places  *admission.Slots
		most    int
		serve   http.HandlerFunc
		path    string
		address func(i int) string
	}{
		"peers":   {p.served, maxServed, p.peerHandler().ServeHTTP, "/" + string(sum), peerID},
		"clients": {p.clients, maxClients, p.Handler().ServeHTTP, blobs + digest, func(i int) string { return fmt.Sprintf("192.0.2.%d:80", i) }},
	} {
		t.Run(name, func(t *testing.T) {
			ask := func(w http.ResponseWriter, from string) {
				r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, c.path, nil)
				r.RemoteAddr = from
				c.serve(w, r)
			}
			ended := make(chan struct{})
			var wg sync.WaitGroup
			defer wg.Wait()
			defer close(ended)
			for i := range 8 {
				from := c.address(i)
				for range 2 * c.most / 8 {
					wg.Go(func() { ask(&stuck{*httptest.NewRecorder(), ended}, from) })
				}
			}
			until(t, "all places are taken", func() bool { return c.places.Held() == c.most })
			w := httptest.NewRecorder()
			if ask(w, c.address(8)); w.Code != http.StatusOK || !bytes.Equal(w.Body.Bytes(), content) {
				t.Errorf("status %d, %d bytes", w.Code, w.Body.Len())
			}
		})
	}
}
