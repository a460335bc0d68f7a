package scenario

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/BurntSushi/toml"

	"github.com/venn-p2p/venn/node/bounded"
	"github.com/venn-p2p/venn/testnet/holdings"
	"github.com/venn-p2p/venn/testnet/sim"
)

// ErrScenario is matched by every error about a scenario.
var ErrScenario = errors.New("scenario: bad scenario")

// Scenario is the content of a file. Zero values mean the stated defaults; a file leaves these keys out.
type Scenario struct {
	Name   string `toml:"-"` // name of the scenario's file, without folder and suffix
	Folder string `toml:"-"` // folder of the scenario's file; relative paths in the file begin here

	At    []Coordinate `toml:"-"` // values of the sweep, if the scenario is a point of one
	Whole *Scenario    `toml:"-"` // scenario with the sweep, if this is a point of one; else nil

	Question   string   `toml:"question"`   // question that the scenario answers; required
	Strategies []string `toml:"strategies"` // names of the strategies to run; none: venn
	Peers      int      `toml:"peers"`      // number of peers; 0: 100, or all of the data
	Trials     int      `toml:"trials"`     // number of trials, each with a seed of its own, drawn from Seed; 0: 5
	Seed       uint64   `toml:"seed"`
	Warmup     Duration `toml:"warmup"`   // time before the first query; 0: 60 s
	Asking     Duration `toml:"asking"`   // time over which the queries are spread; 0: 60 s
	Patience   Duration `toml:"patience"` // longest time of a query; 0: 10 s
	All        bool     `toml:"all"`      // queries want every holder; else one
	Undefended bool     `toml:"undefended"`
	Rows       string   `toml:"rows"`       // rows of reports: figures over the trials, or trials; "": figures
	Killed     float64  `toml:"killed"`     // share of the peers killed at once halfway through the warm-up: one event more
	Strong     float64  `toml:"strong"`     // share of peers with 100 Mbit/s that know everybody; others have 1 Mbit/s
	UpkeepAs   string   `toml:"upkeep_as"`  // strategy that runs first; its upkeep in bytes a second limits the others'
	Loss       float64  `toml:"loss"`       // share of packets lost; real hosts lose none
	Reordered  float64  `toml:"reordered"`  // share of messages that later ones overtake; not on real hosts
	Duplicated float64  `toml:"duplicated"` // share of messages that come twice; not on real hosts

	Collections Collections        `toml:"collections"`
	Lines       []Line             `toml:"lines"` // classes of lines; none: 10 Mbit/s each way for all
	Latency     Latency            `toml:"latency"`
	Links       Links              `toml:"links"`
	Queries     Queries            `toml:"queries"`
	Sessions    Sessions           `toml:"sessions"`
	Changes     Changes            `toml:"changes"`
	Parameters  map[string]float64 `toml:"parameters"` // parameters of strategies, by name
	Events      []Event            `toml:"events"`
	Adversaries []Adversary        `toml:"adversaries"`
	Windows     map[string]Window  `toml:"windows"` // parts of the run that have a recall of their own
	Answers     map[string]Answer  `toml:"answers"` // expected figures, by strategy
	Sweep       map[string]any     `toml:"sweep"`   // lists of values by key, as parameters.bits = [2, 4]: see Points

	sweeps []Setting // sweeps in the order of the file
	source source
	built  bool // the program comes with it, and with the files that it names
}

// Collections set the keys that each peer holds.
type Collections struct {
	Data         string `toml:"data"` // "clusters" or "": made up; "debian"; or a table or folder as package workload reads
	sim.Clusters        // of collections that are made up
	Chunk        int    `toml:"chunk"` // data: bytes of a file that make one key; 0: 1 MiB
}

// Line is a class of lines.
type Line struct {
	Name  string  `toml:"name"`
	Share float64 `toml:"share"` // share of the peers, relative to the other classes; 0: 1
	Up    Rate    `toml:"up"`
	Down  Rate    `toml:"down"`
}

// Latency is one of three kinds: by distance in a square, measured, or by region.
type Latency struct {
	Least  Duration `toml:"least"`  // least latency; smaller ones of a matrix are raised to it; 0: 10 ms, or the least of the matrix, from 1 ms
	Most   Duration `toml:"most"`   // largest latency in the square; 0: 100 ms
	Matrix string   `toml:"matrix"` // CSV of numbers in ms, one way: a row and a column a place; peers are placed by turns
	Region []Region `toml:"region"`
}

// Region is the place of a share of the peers.
type Region struct {
	Name   string              `toml:"name"`
	Share  float64             `toml:"share"`  // share of the peers, relative to the other regions; 0: 1
	Within Duration            `toml:"within"` // one-way latency between two of its peers
	To     map[string]Duration `toml:"to"`     // latency to another region's peers, given in one of the two
}

// Links are the links of the peers at the start.
type Links struct {
	sim.Topology
	Whole bool   `toml:"whole"` // links that do not connect all peers are an error
	File  string `toml:"file"`  // CSV of the links, two peers a row, in place of drawn ones; real nodes ignore it
}

// Queries set which keys peers ask for.
type Queries struct {
	Rule    string  `toml:"rule"`    // interest, uniform, popular or zipf; "": interest
	Outside float64 `toml:"outside"` // interest: share of the queries for keys of any peer; 0: 0.1
	Number  int     `toml:"number"`  // number of queries; 0: 500
	Zipf    float64 `toml:"zipf"`    // zipf: exponent of popularity; 0: 0.8
	Log     string  `toml:"log"`     // CSV of seconds, peer, key: replayed in place of a rule
	Untimed bool    `toml:"-"`       // the log's times are ignored
}

// Sessions set how peers come and go.
type Sessions struct {
	Median Duration `toml:"median"` // median length of a session; 0: nobody leaves
	Away   Duration `toml:"away"`   // median length of an absence; 0: a tenth of a session
	Shape  float64  `toml:"shape"`  // shape of the Weibull distribution of both; 0: 0.5
	Log    string   `toml:"log"`    // CSV of peer, from, to in seconds: when each is online, in place of a distribution
}

// Changes set how collections change: a peer drops a key and adds another.
type Changes struct {
	Share float64 `toml:"share"` // share of every collection that changes in a minute
	New   float64 `toml:"new"`   // share of the added keys that nobody held before
}

// Event is something that happens at a time.
type Event struct {
	At      Duration `toml:"at"`
	Kind    string   `toml:"kind"`
	Share   float64  `toml:"share"`   // share of the peers that the event is for
	Of      string   `toml:"of"`      // class of lines of these peers; "": all classes
	Parts   int      `toml:"parts"`   // partition: number of parts into which the network falls; 0: 2
	Back    Duration `toml:"back"`    // kill: time after which the peers come back; 0: never
	Queries int      `toml:"queries"` // crowd: number of queries for one key
	Over    Duration `toml:"over"`    // crowd: time over which the queries begin; join: over which the peers come
	Down    Rate     `toml:"down"`    // slow: new rate down; 0: as before
	Up      Rate     `toml:"up"`      // slow: new rate up; 0: as before
	Lasts   Duration `toml:"lasts"`   // slow: time until the old rates return; 0: never
	By      Duration `toml:"by"`      // clock: time by which it jumps ahead
}

// Adversary is a number of peers that misbehave.
type Adversary struct {
	Kind       string `toml:"kind"`
	Number     int    `toml:"number"`
	Identities int    `toml:"identities"` // identities that all of them make up together; 0: 32 each
}

// Window is a part of the run: its start and its end.
type Window [2]Duration

// Answer is the expected result of a strategy: an interval for each figure.
type Answer map[string][2]float64

// Duration is a time like "90s".
type Duration time.Duration

// UnmarshalText reads a time.
func (d *Duration) UnmarshalText(text []byte) error {
	x, err := time.ParseDuration(string(text))
	if err == nil && x < 0 {
		err = errors.New("below 0")
	}
	if err != nil {
		return fmt.Errorf("%q is no time like \"90s\"", text)
	}
	*d = Duration(x)
	return nil
}

func (d Duration) String() string { return time.Duration(d).String() }

// IsFile reports whether a name is that of a scenario's file. Other names are of scenarios that the program comes with.
func IsFile(name string) bool { return strings.HasSuffix(name, ".toml") }

// Load reads a scenario of a name, see IsFile, and checks it. Errors match ErrScenario or ErrUnknown, or are the file
// system's.
func Load(name string) (*Scenario, error) {
	if !IsFile(name) {
		text, err := TextOf(name)
		if err != nil {
			return nil, fmt.Errorf("%w, or name a file that ends in .toml", err)
		}
		return parse(true, name+".toml", text)
	}
	b, err := bounded.ReadFile(name)
	if errors.Is(err, bounded.ErrTooLong) {
		err = fmt.Errorf("%w: %w", ErrScenario, err)
	}
	if err != nil {
		return nil, err
	}
	return Parse(name, string(b))
}

// Parse loads a scenario from the text of a file.
func Parse(path, text string) (*Scenario, error) { return parse(false, path, text) }

// parse loads a scenario from the text of the file at path. built means that the program comes with it, and with the
// files that it names.
func parse(built bool, path, text string) (*Scenario, error) {
	s := &Scenario{
		Name: strings.TrimSuffix(filepath.Base(path), filepath.Ext(path)), Folder: filepath.Dir(path), source: source{path, text}, built: built,
	}
	meta, err := toml.Decode(text, s)
	if err != nil {
		var parse toml.ParseError
		if errors.As(err, &parse) {
			what := strings.TrimPrefix(parse.LastKey+": "+parse.Message, ": ")
			return nil, fmt.Errorf("%w: %s:%d: %s", ErrScenario, path, parse.Position.Line, what)
		}
		return nil, fmt.Errorf("%w: %s: %w", ErrScenario, path, err)
	}
	var faults []error
	for _, key := range meta.Undecoded() {
		if key[0] == "sweep" { // its keys are checked at each of its points
			continue
		}
		faults = append(faults, s.source.fault(key.String(), "there is no such key"))
	}
	for _, key := range meta.Keys() {
		if t := meta.Type(key...); key[0] == "sweep" && t != "Hash" {
			setting, err := s.swept(key)
			if err != nil {
				faults = append(faults, err)
			}
			s.sweeps = append(s.sweeps, setting)
		}
	}
	faults = append(faults, s.defaults()...)
	if faults = append(faults, s.check()...); len(faults) > 0 {
		return nil, errors.Join(faults...)
	}
	return s, nil
}

// defaulter puts defaults in place of zeros.
type defaulter struct {
	source source
	said   map[string]any // all that the file says
	faults []error
}

// defaultTo puts a default in place of a value that is zero. It adds a fault if the file says zero: the file would do
// something else than it says.
func defaultTo[T comparable](d *defaulter, key string, value *T, instead T) {
	var zero T
	if *value != zero || instead == zero {
		return
	}
	if says(d.said, key) {
		d.faults = append(d.faults, d.source.fault(key, "zero stands for the default, %v: leave the key out, or give it another value", instead))
	}
	*value = instead
}

// says reports whether a decoded file gives a key a value. Keys are named as in [source.fault].
func says(in any, key string) bool {
	for part := range strings.SplitSeq(key, ".") {
		i, err := strconv.Atoi(part)
		if list := reflect.ValueOf(in); err == nil && list.Kind() == reflect.Slice && i < list.Len() {
			in = list.Index(i).Interface()
			continue
		}
		table, _ := in.(map[string]any)
		in = table[part]
	}
	return in != nil
}

// defaults fills in the defaults, and returns a fault for each key that says zero in place of one. It makes an event of
// Killed, and lines of Strong.
func (s *Scenario) defaults() []error {
	d := &defaulter{source: s.source}
	_, _ = toml.Decode(s.Text(), &d.said) // no error: parse has decoded it
	if len(s.Strategies) == 0 {
		s.Strategies = []string{"venn"}
	}
	defaultTo(d, "trials", &s.Trials, 5)
	defaultTo(d, "warmup", &s.Warmup, Duration(time.Minute))
	defaultTo(d, "asking", &s.Asking, Duration(time.Minute))
	defaultTo(d, "rows", &s.Rows, Figures)
	defaultTo(d, "patience", &s.Patience, Duration(10*time.Second))
	c := &s.Collections
	defaultTo(d, "collections.data", &c.Data, Clusters)
	if c.Data == Clusters {
		defaultTo(d, "peers", &s.Peers, 100)
	}
	made := c.Defaults()
	defaultTo(d, "collections.keys", &c.Keys, made.Keys)
	defaultTo(d, "collections.size", &c.Size, made.Size)
	defaultTo(d, "collections.outside", &c.Outside, made.Outside)
	defaultTo(d, "collections.zipf", &c.Zipf, made.Zipf)
	defaultTo(d, "collections.copies", &c.Copies, made.Copies)
	defaultTo(d, "collections.chunk", &c.Chunk, 1<<20)
	if len(s.Lines) == 0 && s.Strong > 0 {
		s.Lines = []Line{{Name: strong, Share: s.Strong, Up: 100_000_000, Down: 100_000_000}, {Name: "weak", Share: 1 - s.Strong, Up: 1_000_000, Down: 1_000_000}}
	}
	if len(s.Lines) == 0 {
		s.Lines = []Line{{Name: "10mbit", Up: 10_000_000, Down: 10_000_000}}
	}
	for i := range s.Lines {
		defaultTo(d, fmt.Sprintf("lines.%d.share", i), &s.Lines[i].Share, 1)
		defaultTo(d, fmt.Sprintf("lines.%d.name", i), &s.Lines[i].Name, fmt.Sprint(i))
	}
	if s.Latency.Matrix == "" {
		defaultTo(d, "latency.least", &s.Latency.Least, Duration(10*time.Millisecond))
	}
	defaultTo(d, "latency.most", &s.Latency.Most, max(s.Latency.Least, Duration(100*time.Millisecond)))
	for i := range s.Latency.Region {
		defaultTo(d, fmt.Sprintf("latency.region.%d.share", i), &s.Latency.Region[i].Share, 1)
	}
	drawn := s.Links.Defaults()
	defaultTo(d, "links.kind", &s.Links.Kind, drawn.Kind)
	defaultTo(d, "links.degree", &s.Links.Degree, drawn.Degree)
	defaultTo(d, "queries.rule", &s.Queries.Rule, holdings.Interest)
	defaultTo(d, "queries.number", &s.Queries.Number, 500)
	defaultTo(d, "queries.zipf", &s.Queries.Zipf, holdings.ZipfExponent)
	defaultTo(d, "sessions.shape", &s.Sessions.Shape, 0.5)
	defaultTo(d, "sessions.away", &s.Sessions.Away, s.Sessions.Median/10)
	for i := range s.Events {
		if e := &s.Events[i]; e.Kind == Partition {
			defaultTo(d, fmt.Sprintf("events.%d.parts", i), &e.Parts, 2)
		}
	}
	if s.Killed > 0 {
		at := s.Warmup / 2
		i := slices.IndexFunc(append(s.Events, Event{At: at + 1}), func(e Event) bool { return e.At > at })
		s.Events = slices.Insert(s.Events, i, Event{At: at, Kind: Kill, Share: s.Killed})
	}
	for i := range s.Adversaries {
		if a := &s.Adversaries[i]; a.invents() {
			defaultTo(d, fmt.Sprintf("adversaries.%d.identities", i), &a.Identities, ghosts*a.Number)
		}
	}
	return d.faults
}

// strong is the class of lines of strong peers.
const strong = "strong"

// Figures and Trials are the kinds of rows in reports.
const (
	Figures = "figures"
	Trials  = "trials"
)

// Clusters are the collections that are made up; Debian names the data that the program holds.
const (
	Clusters = "clusters"
	Debian   = "debian"
)

// End returns the time at which the last query has ended.
func (s *Scenario) End() time.Duration { return time.Duration(s.Warmup + s.Asking + s.Patience) }

// open opens a file that the scenario names.
func (s *Scenario) open(name string) (io.ReadCloser, error) {
	if s.built && !filepath.IsAbs(name) {
		return builtIn.Open("built/" + name)
	}
	return os.Open(s.Path(name))
}

// Files returns the paths of the files and folders that the scenario names, without the program's own.
func (s *Scenario) Files() (paths []string) {
	if d := s.Collections.Data; d != Clusters && d != Debian {
		paths = append(paths, s.Path(d))
	}
	for _, name := range []string{s.Latency.Matrix, s.Queries.Log, s.Sessions.Log, s.Links.File} {
		if name != "" && (!s.built || filepath.IsAbs(name)) {
			paths = append(paths, s.Path(name))
		}
	}
	return paths
}

// Path returns the path of a file or folder that the scenario names.
func (s *Scenario) Path(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(s.Folder, name)
}
