package scenario

import (
	"fmt"
	"slices"
	"strings"

	"github.com/venn-p2p/venn/testnet/misdeed"
)

// The kinds of events.
const (
	Kill      = "kill"
	Join      = "join"
	Partition = "partition"
	Heal      = "heal"
	Crowd     = "crowd"
	Slow      = "slow"
	Clock     = "clock"
	Older     = "older"
)

// The kinds of adversaries that any strategy can have. venn has those of misdeed.Kinds besides.
const (
	Silent    = "silent"
	FreeRider = "free-rider"
	Censor    = "censor"
	Liar      = "liar"
)

// Doc describes a kind of event or adversary.
type Doc struct{ Kind, Keys, Does string }

// Events are the kinds of events.
var Events = []Doc{
	{Kill, "share, of, back", "a share of the peers, or of those of a class of lines, goes at once; back: after which they come again"},
	{Join, "share, of, over", "a share of the peers is not there until then, and comes within a time"},
	{Partition, "parts", "the network falls into parts, which cannot reach each other"},
	{Heal, "", "the last partition ends"},
	{Crowd, "queries, over", "many peers ask for one key within a time: a flash crowd"},
	{Slow, "share, of, up, down, lasts", "the lines of a share of the peers become slow, as those of a reader of 1 kB/s: down = \"8kbit\""},
	{Clock, "share, of, by", "the clocks of a share of the peers jump ahead; in the simulator"},
	{Older, "share, of", "a share of the peers is of the version before, from the start; in the simulator"},
}

// AdversaryDocs are the kinds of adversaries.
var AdversaryDocs = []Doc{
	{Silent, "number", "takes everything in and says nothing"},
	{FreeRider, "number", "asks, but does nothing for the queries of others"},
	{Censor, "number", "denies a tenth of the keys"},
	{Liar, "number", "says that it holds whatever it is asked for, and claims the keys of others"},
	{misdeed.Garbage, "number", "sends bytes that are no messages, and claims lengths over all limits; venn"},
	{misdeed.Twins, "number", "signs two summaries under one number, and spoils parts and signatures; venn"},
	{misdeed.Unasked, "number", "sends parts of summaries that nobody asked for; venn"},
	{misdeed.Future, "number", "claims to have newer epochs of others, again and again; venn"},
	{misdeed.Ghosts, "number, identities", "speaks of peers that there are not, and names them as holders; venn"},
	{misdeed.Identities, "number, identities", "makes up as many peers as it can: with summaries in the simulator, with signed addresses on real hosts; venn"},
	{misdeed.Faulty, "number, identities", "all of these in turn, from garbage on; venn"},
}

// ghosts is the default number of identities that an adversary makes up.
const ghosts = 32

// maxIdentities is the largest number of identities that all adversaries together make up.
const maxIdentities = 1_000_000

// invents reports whether an adversary makes up identities.
func (a *Adversary) invents() bool {
	return slices.Contains([]string{misdeed.Ghosts, misdeed.Identities, misdeed.Faulty}, a.Kind)
}

// OfAny reports whether every strategy can have adversaries of a kind.
func OfAny(kind string) bool { return slices.Contains([]string{Silent, FreeRider, Censor, Liar}, kind) }

func kinds(of []Doc) (out []string) {
	for _, d := range of {
		out = append(out, d.Kind)
	}
	return out
}

// Help lists the kinds of events and adversaries, a line each.
func Help() string {
	var b strings.Builder
	for _, of := range []struct {
		title string
		docs  []Doc
	}{{"Events, each with at = TIME and kind:", Events}, {"Adversaries:", AdversaryDocs}} {
		fmt.Fprintln(&b, of.title)
		for _, d := range of.docs {
			fmt.Fprintf(&b, "   %-11s %s", d.Kind, d.Does)
			if d.Keys != "" {
				fmt.Fprintf(&b, " (%s)", d.Keys)
			}
			fmt.Fprintln(&b)
		}
	}
	return strings.TrimSpace(b.String())
}
