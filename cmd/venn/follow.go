package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v3"

	"github.com/venn-p2p/venn/cmd/venn/repo"
	"github.com/venn-p2p/venn/node/httpapi"
)

// follower keeps the peer's keys in step with a source: IPFS nodes, or folders. It claims the keys that it adds, and
// the keys that another follower has claimed already. It removes only keys that it alone claims, in this run or an
// earlier one. Two lists in a row must lack them: an IPFS node stopped midway ends its list without an error. A source
// that does not answer or is not there counts as empty. Its keys are suspended after two looks, and come back with it.
// A follower takes at most about 450 bytes of memory a key.
type follower struct {
	cl         *client
	source     source
	parameters url.Values

	log   *repo.Import
	keys  map[string]sight
	looks uint32 // number of looks so far, the one under way included
	whole uint32 // number of the last look in which every list was whole
	gone  int    // looks in a row, the last one included, that found a source gone
	noted repo.Source
}

// source is a source of keys, with its servers.
type source struct {
	what string // name of the source in the repository
	// each lists its keys, as texts; some may come more than once. After a goneError the list is whole, but a part of
	// the source is gone.
	each func(ctx context.Context, f func(key string) error) error
	// serves returns the multiaddrs of the peers that serve the content; nil: the daemon's configuration names them.
	serves func(ctx context.Context) ([]string, error)
}

// eachPart calls list with each part of a source. It goes on after a part that is gone, and returns the errors of all
// parts that are gone.
func eachPart[T any](parts []T, list func(T) error) error {
	var gone error
	for _, part := range parts {
		if err := list(part); errors.As(err, new(goneError)) {
			gone = errors.Join(gone, err)
		} else if err != nil {
			return err
		}
	}
	return gone
}

// kuboNodes returns a source of IPFS nodes, by the URLs of their APIs; with pins, of pinned blocks only.
func kuboNodes(apis []string, pins bool) source {
	what := "blocks"
	if pins {
		what = "pins"
	}
	return source{
		what: what + " of " + strings.Join(slices.Sorted(slices.Values(apis)), " "),
		each: func(ctx context.Context, f func(key string) error) error {
			return eachPart(apis, func(api string) error { return listKubo(ctx, api, pins, f) })
		},
		serves: func(ctx context.Context) (all []string, err error) {
			err = eachPart(apis, func(api string) error {
				servers, err := kuboServers(ctx, api)
				all = append(all, servers...)
				return err
			})
			return all, err
		},
	}
}

// fileTrees returns a source of folders; unread gets the errors of files that cannot be read.
func fileTrees(folders []*tree, unread func(error)) source {
	roots := make([]string, len(folders))
	for i, d := range folders {
		roots[i] = d.files.Root
	}
	return source{
		what: "files below " + strings.Join(slices.Sorted(slices.Values(roots)), "\n"),
		each: func(ctx context.Context, f func(key string) error) error {
			return eachPart(folders, func(d *tree) error {
				give := func(x repo.File, _ bool) error { return f(keyOf(x.Sum)) }
				if err := d.each(ctx, give, func() (string, error) { return "", nil }); err != nil {
					return err
				}
				if err := d.unread(); err != nil {
					unread(err)
				}
				return nil
			})
		},
	}
}

// sight is the state of one key in a follower.
type sight struct {
	ours bool   // the follower claims the key: it or another follower added the key, or was about to
	held bool   // the peer has it, as far as is known
	look uint32 // number of the last look that found the key
}

// followed counts what one look found and changed.
type followed struct {
	Keys    int `json:"keys"`    // keys that the source listed
	Added   int `json:"added"`   // keys added to the peer's
	Removed int `json:"removed"` // keys removed from the peer's
}

// follow keeps the peer's keys in step with the folders or IPFS nodes of the arguments, until ctx ends.
func follow(ctx context.Context, c *cli.Command, cl *client) (err error) {
	f := &follower{cl: cl, source: kuboNodes(c.Args().Slice(), c.Bool("pins")), parameters: ofKeys(c)}
	if c.String("from") == "dir" {
		folders, err := openTrees(cl.repo, c.Args().Slice())
		if err != nil {
			return err
		}
		said := ""
		f.source = fileTrees(folders, func(err error) {
			if text := err.Error(); text != said {
				said = text
				complain(c.Root().ErrWriter, text)
			}
		})
	}
	if err := f.open(ctx); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.log.Close()) }()
	return f.run(ctx, c)
}

// open opens the record of the keys that were claimed for the same source before, and claims them.
func (f *follower) open(ctx context.Context) (err error) {
	var before map[string]bool
	f.log, before, err = f.cl.repo.OpenImport(ctx, f.source.what)
	f.keys = make(map[string]sight, len(before))
	for key := range before {
		f.keys[key] = sight{ours: true}
	}
	return err
}

// run looks again and again until ctx ends. If the first look fails and nothing was followed before, run fails; later,
// a source that is gone may come back.
func (f *follower) run(ctx context.Context, c *cli.Command) error {
	before, said := len(f.keys) > 0, ""
	for begun := false; ; begun = true {
		started := time.Now()
		did, err := f.look(ctx)
		if did.Added+did.Removed > 0 || err == nil && !begun {
			if err := say(c, did, "added %s, removed %d, of %d there", keyCount(did.Added), did.Removed, did.Keys); err != nil {
				return err
			}
		}
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil && !begun && !before:
			return err
		}
		if text := f.news(err, c.Duration("every")); text != said {
			if said = text; text != "" {
				complain(c.Root().ErrWriter, text)
			}
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(max(c.Duration("every"), time.Since(started))): // at most half of the time is spent listing
		}
	}
}

// news returns what the user has to know after a look that ended with err; empty if there is nothing.
func (f *follower) news(err error, every time.Duration) string {
	switch {
	case err != nil && f.gone >= suspendAfter:
		return err.Error() + "; its keys are suspended until it is back"
	case err != nil:
		return fmt.Sprintf("%v; next look in %v", err, every)
	case f.source.serves != nil && len(f.noted.Servers) == 0:
		return unserved(f.cl.repo)
	}
	return ""
}

// unserved returns a warning if peers are sent to the daemon for content that it does not serve; else an empty text.
func unserved(r repo.Repo) string {
	if cfg, err := r.Config(); err != nil || len(cfg.Content.ServedBy) > 0 {
		return "" // the daemon tells of a wrong configuration
	}
	if all, err := r.Sources(); err == nil && slices.ContainsFunc(all, func(s repo.Source) bool { return len(s.Servers) > 0 }) {
		return ""
	}
	return "nobody serves the content: peers that ask for it are sent to this daemon, which has none. --follow tells them the IPFS node's addresses, as does " +
		"`venn config set content.served_by MULTIADDR" + r.Option() + "`"
}

// suspendAfter is the number of looks in a row that must find a source gone before its keys are suspended. A key is
// removed after as many complete lists in a row without it.
const suspendAfter = 2

// note records what is known of the source, for the daemon and for other commands, if that has changed. gone is the
// error of the look.
func (f *follower) note(ctx context.Context, gone error) error {
	now := repo.Source{Name: f.source.what, Servers: f.noted.Servers, Since: time.Now().UTC()}
	if gone != nil && f.gone >= suspendAfter {
		now.Failed = gone.Error()
	}
	if f.source.serves != nil && (gone == nil || now.Failed != "") {
		if servers, err := f.source.serves(ctx); err == nil || errors.As(err, new(goneError)) {
			now.Servers = servers
		}
	}
	if f.noted.Name != "" && slices.Equal(now.Servers, f.noted.Servers) && now.Failed == f.noted.Failed {
		return nil
	}
	f.noted = now
	return f.log.Note(now)
}

// look brings the peer's keys in step with what the source lists now. After an error, the changes made stay, and the
// next look makes the others.
func (f *follower) look(ctx context.Context) (did followed, err error) {
	f.looks++
	missing, listErr := f.list(ctx, &did)
	isGone := errors.As(listErr, new(goneError))
	if ctx.Err() != nil || listErr != nil && !isGone {
		return did, listErr
	}
	if f.gone++; !isGone {
		f.gone = 0
	}
	if err := f.note(ctx, listErr); err != nil {
		return did, err
	}
	lost := f.lost(f.whole)
	f.whole = f.looks
	if len(missing)+len(lost) == 0 {
		return did, listErr
	}
	err = f.log.Alone(ctx, func() error {
		others, err := f.log.Others()
		if err != nil {
			return err
		}
		for batch := range slices.Chunk(missing, requestKeys) {
			if err := f.add(ctx, batch, others, &did.Added); err != nil {
				return err
			}
		}
		for batch := range slices.Chunk(lost, requestKeys) {
			if err := f.remove(ctx, batch, others, &did.Removed); err != nil {
				return err
			}
		}
		return nil
	})
	return did, errors.Join(listErr, err)
}

// list notes the keys that the source lists, and returns the listed keys that the peer lacks as far as is known.
func (f *follower) list(ctx context.Context, did *followed) (missing []string, err error) {
	err = f.source.each(ctx, func(key string) error {
		s, known := f.keys[key]
		if known && s.look == f.looks {
			return nil
		}
		did.Keys++
		s.look = f.looks
		if !s.held {
			missing = append(missing, key)
		}
		f.keys[key] = s
		return nil
	})
	return missing, err
}

// add claims the keys that the peer lacks or that other followers claim, then adds the keys that the peer lacks, and
// counts them.
func (f *follower) add(ctx context.Context, keys []string, others map[string]bool, added *int) error {
	var lacking, claims []string
	err := eachHas(ctx, f.cl, lines(keys), func(h httpapi.Has) error {
		s := f.keys[h.Key]
		if s.held = h.Has; s.held {
			f.keys[h.Key] = s
		} else {
			lacking = append(lacking, h.Key)
		}
		if !s.ours && (!h.Has || others[h.Key]) {
			claims = append(claims, h.Key)
		}
		return nil
	})
	if err != nil || len(lacking)+len(claims) == 0 {
		return err
	}
	if err := f.log.Adds(claims); err != nil {
		return err
	}
	f.mark(claims, func(s *sight) { s.ours = true })
	did, err := sendKeys(ctx, f.cl, lines(lacking), "add", f.parameters, func(int) {})
	*added += did.Changed
	if err == nil {
		f.mark(lacking, func(s *sight) { s.held = true })
	}
	return err
}

func (f *follower) mark(keys []string, what func(*sight)) {
	for _, k := range keys {
		s := f.keys[k]
		what(&s)
		f.keys[k] = s
	}
}

// lost returns the claimed keys that were last found before look number since. It forgets such keys without a claim.
func (f *follower) lost(since uint32) (ours []string) {
	for k, s := range f.keys {
		switch {
		case s.look >= since:
		case s.ours:
			ours = append(ours, k)
		default:
			delete(f.keys, k)
		}
	}
	slices.Sort(ours)
	return ours
}

// remove takes back the claims of keys, and removes from the peer the keys that no other follower claims, and counts
// them.
func (f *follower) remove(ctx context.Context, keys []string, others map[string]bool, removed *int) error {
	alone := slices.DeleteFunc(slices.Clone(keys), func(k string) bool { return others[k] })
	did, err := sendKeys(ctx, f.cl, lines(alone), "remove", nil, func(int) {})
	*removed += did.Changed
	if err != nil {
		return err
	}
	for _, k := range keys {
		delete(f.keys, k)
	}
	return f.log.Removed(keys)
}

func lines(keys []string) io.Reader { return strings.NewReader(strings.Join(keys, "\n")) }
