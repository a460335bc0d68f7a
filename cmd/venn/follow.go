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
// those that it finds claimed by another follower. It removes only keys that it alone claims, in this run or an earlier
// one, and only when two lists in a row lack them. The reason is that an IPFS node stopped midway ends its list without
// an error. It takes about 450 bytes of memory a key at most.
type follower struct {
	cl         *client
	source     source
	parameters url.Values

	log   *repo.Import
	keys  map[string]sight
	looks uint32 // so far, the one under way included
	whole uint32 // the last of them in which every list was whole
}

// source is what a follower follows.
type source struct {
	what string                                                    // names it in the repository
	each func(ctx context.Context, f func(key string) error) error // lists its keys, as texts; some may come more than once
}

// kuboNodes are IPFS nodes by the URLs of their APIs; with pins, only what is pinned.
func kuboNodes(apis []string, pins bool) source {
	what := "blocks"
	if pins {
		what = "pins"
	}
	return source{
		what: what + " of " + strings.Join(slices.Sorted(slices.Values(apis)), " "),
		each: func(ctx context.Context, f func(key string) error) error {
			for _, api := range apis {
				if err := listKubo(ctx, api, pins, f); err != nil {
					return err
				}
			}
			return nil
		},
	}
}

// fileTrees are folders; unread gets the errors of files that cannot be read.
func fileTrees(folders []*tree, unread func(error)) source {
	roots := make([]string, len(folders))
	for i, d := range folders {
		roots[i] = d.files.Root
	}
	return source{
		what: "files below " + strings.Join(slices.Sorted(slices.Values(roots)), "\n"),
		each: func(ctx context.Context, f func(key string) error) error {
			for _, d := range folders {
				give := func(x repo.File, _ bool) error { return f(keyOf(x.Sum)) }
				if err := d.each(ctx, give, func() (string, error) { return "", nil }); err != nil {
					return err
				}
				if err := d.unread(); err != nil {
					unread(err)
				}
			}
			return nil
		},
	}
}

// sight is what a follower knows of a key.
type sight struct {
	ours bool   // the follower claims it: it added it, or was about to, or another follower did
	held bool   // the peer has it, as far as is known
	look uint32 // the last one that found it
}

// followed is what one look did.
type followed struct {
	Keys    int `json:"keys"`    // listed
	Added   int `json:"added"`   // to those of the peer
	Removed int `json:"removed"` // from them
}

func follow(ctx context.Context, c *cli.Command, from string) (err error) {
	if err := checkArguments(c, 1, -1, "at least one argument after --from "+from); err != nil {
		return err
	}
	if c.Duration("every") < time.Second {
		return usageError{fmt.Errorf("--every %v: must be 1s or more", c.Duration("every"))}
	}
	cl, err := newClient(c)
	if err != nil {
		return err
	}
	f := &follower{cl: cl, source: kuboNodes(c.Args().Slice(), c.Bool("pins")), parameters: ofKeys(c)}
	if from == "dir" {
		folders, err := openTrees(cl.repo, c.Args().Slice())
		if err != nil {
			return err
		}
		said := ""
		f.source = fileTrees(folders, func(err error) {
			if text := err.Error(); text != said {
				said = text
				fmt.Fprintln(c.Root().ErrWriter, "venn:", text)
			}
		})
	}
	if err := f.open(ctx); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.log.Close()) }()
	return f.run(ctx, c)
}

// open opens the record of what was added from the same nodes before.
func (f *follower) open(ctx context.Context) (err error) {
	var before map[string]bool
	f.log, before, err = f.cl.repo.OpenImport(ctx, f.source.what)
	f.keys = make(map[string]sight, len(before))
	for key := range before {
		f.keys[key] = sight{ours: true}
	}
	return err
}

// run looks again and again until ctx ends. If the first look fails, that is it; later, what is not there may come
// back.
func (f *follower) run(ctx context.Context, c *cli.Command) error {
	for begun := false; ; begun = true {
		started := time.Now()
		did, err := f.look(ctx)
		if did.Added+did.Removed > 0 || err == nil && !begun {
			if err := show(c, did, func(w io.Writer) error {
				_, err := fmt.Fprintf(w, "added %d keys, removed %d, of %d there\n", did.Added, did.Removed, did.Keys)
				return err
			}); err != nil {
				return err
			}
		}
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil && !begun:
			return err
		case err != nil:
			fmt.Fprintf(c.Root().ErrWriter, "venn: %v; next look in %v\n", err, c.Duration("every"))
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(max(c.Duration("every"), time.Since(started))): // at most half of the time is spent listing
		}
	}
}

// look takes in what is listed now. After an error, what it did stays done, and the next look does the rest.
func (f *follower) look(ctx context.Context) (did followed, err error) {
	f.looks++
	missing, err := f.list(ctx, &did)
	if err != nil {
		return did, err
	}
	gone := f.gone(f.whole)
	f.whole = f.looks
	if len(missing)+len(gone) == 0 {
		return did, nil
	}
	err = f.log.Alone(ctx, func() error {
		others, err := f.log.Others()
		if err != nil {
			return err
		}
		for batch := range slices.Chunk(missing, requestKeys) {
			added, err := f.add(ctx, batch, others)
			did.Added += added
			if err != nil {
				return err
			}
		}
		for batch := range slices.Chunk(gone, requestKeys) {
			removed, err := f.remove(ctx, batch, others)
			did.Removed += removed
			if err != nil {
				return err
			}
		}
		return nil
	})
	return did, err
}

// list notes what is listed, and returns what of it the peer lacks as far as is known.
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
	if err != nil {
		return nil, err
	}
	return missing, nil
}

// add claims the keys that the peer lacks and those that other followers claim, then adds the keys that the peer lacks.
func (f *follower) add(ctx context.Context, keys []string, others map[string]bool) (added int, err error) {
	var lacking, claims []string
	err = eachHas(ctx, f.cl, lines(keys), func(h httpapi.Has) error {
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
		return 0, err
	}
	if err := f.log.Adds(claims); err != nil {
		return 0, err
	}
	f.note(claims, func(s *sight) { s.ours = true })
	did, err := sendKeys(ctx, f.cl, lines(lacking), "add", f.parameters, func(int) {})
	if err == nil {
		f.note(lacking, func(s *sight) { s.held = true })
	}
	return did.Changed, err
}

func (f *follower) note(keys []string, what func(*sight)) {
	for _, k := range keys {
		s := f.keys[k]
		what(&s)
		f.keys[k] = s
	}
}

// gone forgets the keys not seen since some look, and returns those of them that the follower claims: they are to be
// removed.
func (f *follower) gone(since uint32) (ours []string) {
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

// remove takes back the claims of keys, and removes from the peer's those that no other follower claims.
func (f *follower) remove(ctx context.Context, keys []string, others map[string]bool) (removed int, err error) {
	alone := slices.DeleteFunc(slices.Clone(keys), func(k string) bool { return others[k] })
	did, err := sendKeys(ctx, f.cl, lines(alone), "remove", nil, func(int) {})
	if err != nil {
		return did.Changed, err
	}
	for _, k := range keys {
		delete(f.keys, k)
	}
	return did.Changed, f.log.Removed(keys)
}

func lines(keys []string) io.Reader { return strings.NewReader(strings.Join(keys, "\n")) }
