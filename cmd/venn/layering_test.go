package main

import (
	"go/ast"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"golang.org/x/tools/go/packages"
)

const module = "github.com/venn-p2p/venn/"

// layer is a package, or several, and the packages of this module that it may import.
type layer struct {
	pkg string
	may []string
}

// layers says which packages of this module a package may import. Imports point upward only: what stands here as
// allowed is defined in a line above. "x/..." is x and everything below it.
var layers = []layer{
	{"summary/internal/bitcode", nil},
	{"summary/internal/trie", nil},
	{"summary/internal/variance", nil},
	{"summary/estimate", []string{"summary/internal/variance"}},
	{"summary/counting", []string{"summary/internal/bitcode"}},
	{"summary/bloom", []string{"summary/internal/bitcode"}},
	{"summary", []string{"summary/internal/...", "summary/estimate"}},
	{"summary/inside", []string{"summary", "summary/internal/trie"}},
	{"overlay/index", []string{"summary/..."}},
	{"overlay/compare", []string{"summary/..."}},
	{"overlay/bound", nil},
	{"overlay/agenda", nil},
	{"overlay/rank", []string{"summary/...", "overlay/bound"}},
	{"overlay/admission", []string{"overlay/bound", "overlay/agenda"}},
	{"overlay/space", []string{"overlay/bound"}},
	{"overlay/wire", []string{"summary/...", "overlay/space"}},
	{"overlay/cache", []string{"summary/...", "overlay/wire"}},
	{"overlay/event", []string{"summary/...", "overlay/admission", "overlay/bound", "overlay/wire"}},
	{"overlay/directory", []string{"summary/...", "overlay/cache", "overlay/compare", "overlay/space", "overlay/rank", "overlay/index", "overlay/agenda", "overlay/bound", "overlay/event", "overlay/wire"}},
	{"overlay/exchange", []string{"summary/...", "overlay/admission", "overlay/cache", "overlay/compare", "overlay/space", "overlay/agenda", "overlay/bound", "overlay/event", "overlay/wire", "overlay/directory"}},
	{"overlay/region", []string{"summary/...", "overlay/agenda", "overlay/compare", "overlay/directory", "overlay/bound", "overlay/event", "overlay/wire", "overlay/exchange", "overlay/space"}},
	{"overlay/topology", []string{"summary/...", "overlay/admission", "overlay/bound", "overlay/region", "overlay/space", "overlay/rank", "overlay/agenda", "overlay/event", "overlay/wire", "overlay/directory"}},
	{"overlay", []string{"summary/...", "overlay/admission", "overlay/agenda", "overlay/cache", "overlay/compare", "overlay/directory", "overlay/event", "overlay/wire", "overlay/exchange", "overlay/index", "overlay/rank", "overlay/region", "overlay/space", "overlay/topology"}},
	{"overlay/tails", []string{"summary/...", "overlay/agenda", "overlay/bound", "overlay/event", "overlay/wire"}},
	{"overlay/overlaylab/plain", []string{"summary/...", "overlay/event", "overlay/wire"}},
	{"overlay/overlaylab", []string{"summary/...", "overlay/cache", "overlay/agenda", "overlay/event", "overlay/exchange", "overlay/rank", "overlay/wire", "overlay", "overlay/overlaylab/plain"}},
	{"routing/match", []string{"summary/...", "overlay/bound"}},
	{"routing/cover", nil},
	{"routing", []string{"summary/...", "overlay/admission", "overlay/agenda", "overlay/bound", "overlay/event", "overlay/wire", "overlay", "overlay/region", "overlay/space", "routing/match"}},
	{"routing/routinglab", []string{"summary/...", "overlay/event", "overlay/overlaylab", "overlay/wire", "overlay", "overlay/region", "overlay/space", "routing"}},
	{"node/core", []string{"summary/...", "overlay/...", "routing/..."}},
	{"node/join", []string{"summary/...", "overlay/wire"}},
	{"node/keystore", []string{"summary/..."}},
	{"node/signed", []string{"summary/...", "overlay/admission", "overlay/wire"}},
	{"node/internal/tasks", nil},
	{"node/internal/counters", []string{"summary/...", "node/signed", "overlay/wire"}},
	{"node/internal/limits", []string{"node/core"}},
	{"node/internal/links", nil},
	{"node/internal/admit", []string{"node/signed", "overlay/admission"}},
	{"node/internal/inbox", []string{"summary/...", "overlay/admission", "overlay/event", "overlay/tails", "overlay/wire"}},
	{"node/internal/streams", []string{"overlay/admission", "overlay/wire", "node/internal/admit", "node/internal/counters", "node/internal/tasks"}},
	{"node/internal/pipes", []string{"overlay/wire", "node/internal/streams", "node/internal/tasks"}},
	{"node/internal/mesh", []string{"summary/...", "overlay/admission", "overlay/event", "overlay/wire", "overlay", "node/internal/..."}},
	{"node/interfaces", nil},
	{"node/store", []string{"summary/...", "node/keystore", "node/signed"}},
	{"node/leaktest", nil},
	{"node/units", nil},
	{"node/bounded", nil},
	{"node", []string{"summary/...", "overlay/...", "routing/...", "node/core", "node/join", "node/keystore", "node/signed", "node/interfaces", "node/store", "node/internal/..."}},
	{"node/nodelab", []string{"node", "node/core", "node/internal/limits"}},
	{"node/httpapi", []string{"summary/...", "overlay/admission", "node", "node/bounded"}},
	{"node/mirror", []string{"overlay/admission", "overlay/wire", "node", "node/httpapi", "node/internal/admit", "node/internal/tasks"}},
	{"testnet/holdings", nil},
	{"testnet/statistics", nil},
	{"testnet/judge", []string{"testnet/holdings"}},
	{"testnet/link", []string{"node/units"}},
	{"testnet/workload", []string{"summary/...", "node/bounded", "node/core", "overlay/wire"}},
	{"testnet/misdeed", []string{"summary/...", "overlay/wire"}},
	{"testnet/fault", []string{"summary/...", "testnet/misdeed", "overlay/wire", "node", "node/signed"}},
	{"testnet/strategy", []string{"summary/..."}},
	{"testnet/strategy/links", []string{"testnet/strategy"}},
	{"testnet/strategy/filters", []string{"summary/...", "testnet/strategy"}},
	{"testnet/strategy/venn", []string{"summary/...", "overlay/...", "routing/...", "node/core", "testnet/strategy", "testnet/misdeed"}},
	{"testnet/strategy/...", []string{"summary/...", "testnet/strategy", "testnet/strategy/filters"}},
	{"testnet/strategies", []string{"testnet/strategy/..."}},
	{"testnet/sim", []string{"summary/...", "overlay/...", "routing/...", "node/core", "testnet/strategy", "testnet/strategy/links", "testnet/holdings", "testnet/judge", "testnet/link", "testnet/statistics", "testnet/workload", "testnet/fault"}},
	{"testnet/sim/simtest", []string{"testnet/sim", "testnet/holdings", "testnet/strategy"}},
	{"testnet/page", nil},
	{"testnet/results/report", []string{"testnet/statistics"}},
	{"testnet/scenario", []string{"summary/...", "node/bounded", "testnet/statistics", "testnet/misdeed", "testnet/holdings", "testnet/link", "testnet/sim", "testnet/strategy", "testnet/workload"}},
	{"testnet/results", []string{"testnet/page", "testnet/results/report", "testnet/scenario", "testnet/sim", "testnet/statistics"}},
	{"testnet/drive", []string{"testnet/strategy", "testnet/strategy/links"}},
	{"testnet/dht", []string{"testnet"}},
	{"testnet/...", []string{"summary/...", "overlay/...", "routing/...", "node/...", "testnet/..."}},
	{"cmd/...", []string{"summary/...", "overlay/...", "routing/...", "node/...", "testnet/...", "cmd/..."}},
}

// bans are imports that a package must not have, with the reason. Deep ones must not be reached through others either.
var bans = []struct {
	pkgs    []string
	imports []string
	deep    bool
	reason  string
}{
	{cores, []string{"net", "net/http/...", "os/...", "io/fs", "syscall", "log/..."}, false, "the cores do no I/O: a driver does what their effects say"},
	{cores, []string{"context"}, false, "nothing in the cores blocks, so nothing needs cancelling"},
	{cores, []string{"math/rand", "crypto/rand", "hash/maphash"}, false, "randomness comes in as a seeded *math/rand/v2.Rand, or runs cannot be repeated"},
	{cores, []string{"github.com/libp2p/..."}, true, "the cores know no libp2p types, so that the simulator runs them without it"},
	{[]string{"node"}, []string{"github.com/cockroachdb/pebble/...", "github.com/ipfs/boxo/...", "github.com/libp2p/go-libp2p-kad-dht/..."}, true, "who embeds a node must not pay for the daemon's store, HTTP routing or a DHT"},
	{[]string{"node/...", "testnet/fault", "testnet/link", "testnet/workload"}, []string{module + "testnet/judge", module + "testnet/holdings"}, true, "a network that can look up the truth proves nothing"},
	{[]string{"testnet"}, []string{"github.com/libp2p/go-libp2p-kad-dht/..."}, true, "rivals' libraries stay in packages of their own, which commands hand over"},
	{[]string{"cmd/..."}, []string{module + "node/nodelab"}, false, "no command takes a limit off"},
	{[]string{"cmd/venn/daemon"}, []string{module + "testnet/..."}, true, "the daemon is a peer, not a laboratory: simulator, strategies and the truth have no place in it"},
	{[]string{"testnet/holdings"}, []string{"github.com/..."}, true, "the truth rests on the standard library alone"},
	{[]string{"summary", "summary/bloom", "overlay", "overlay/directory", "overlay/exchange", "overlay/region", "routing/...", "node/...", "cmd/..."}, []string{module + "summary/inside"}, false, "it is for what compares or indexes prefixes, and changes with that"},
	{[]string{"testnet/judge"}, []string{"github.com/libp2p/...", module + "node/...", module + "overlay/...", module + "summary/..."}, true, "the judge's sums rest on the truth alone"},
}

// cores are the packages that take time, randomness and identity as values, and return effects.
var cores = []string{"summary/...", "overlay/...", "routing/...", "node/core", "testnet/strategy/...", "testnet/misdeed", "testnet/sim"}

// judged may import testnet/judge; commands see only reports.
var judged = []string{"testnet", "testnet/sim"}

// imports has the packages of this module, without tests, and behind each what it imports.
var imports = sync.OnceValues(func() ([]*packages.Package, error) {
	const what = packages.NeedName | packages.NeedImports | packages.NeedDeps
	return packages.Load(&packages.Config{Mode: what, Dir: filepath.Join("..", "..")}, "./...")
})

// deps are the paths of all packages that p imports, itself or through others.
func deps(p *packages.Package) map[string]bool {
	paths := make(map[string]bool)
	packages.Visit([]*packages.Package{p}, nil, func(p *packages.Package) { paths[p.PkgPath] = true })
	delete(paths, p.PkgPath)
	return paths
}

// matches reports whether the path is the pattern, or below it where it ends in "/...".
func matches(pattern, path string) bool {
	if root, ok := strings.CutSuffix(pattern, "/..."); ok {
		return path == root || strings.HasPrefix(path, root+"/")
	}
	return path == pattern
}

func matchesAny(patterns []string, path string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool { return matches(p, path) })
}

func TestImportsPointUpward(t *testing.T) {
	for _, p := range must(imports()) {
		name := strings.TrimPrefix(p.PkgPath, module)
		line := slices.IndexFunc(layers, func(l layer) bool { return matches(l.pkg, name) })
		if line < 0 {
			t.Errorf("%s: say in the table of layers what it may import", name)
			continue
		}
		for path := range p.Imports {
			imported, own := strings.CutPrefix(path, module)
			if !own {
				continue
			}
			if !matchesAny(layers[line].may, imported) {
				t.Errorf("%s imports %s: its layer may import only %v", name, imported, layers[line].may)
			}
			if imported == "testnet/judge" && !matchesAny(judged, name) {
				t.Errorf("%s imports %s: only %v judge", name, imported, judged)
			}
		}
	}
}

func TestBannedImports(t *testing.T) {
	for _, p := range must(imports()) {
		name := strings.TrimPrefix(p.PkgPath, module)
		for _, b := range bans {
			if !matchesAny(b.pkgs, name) {
				continue
			}
			paths := slices.Collect(maps.Keys(p.Imports))
			if b.deep {
				paths = slices.Collect(maps.Keys(deps(p)))
			}
			for _, path := range paths {
				if matchesAny(b.imports, path) {
					t.Errorf("%s imports %s: %s", name, path, b.reason)
				}
			}
		}
	}
}

// TestImportsOfNoTestKit: of this module's packages that the program is linked from, none is a kit for tests or imports one.
// Libraries are left out: simulated links and the DHT bring package testing.
func TestImportsOfNoTestKit(t *testing.T) {
	all := must(imports())
	program := all[slices.IndexFunc(all, func(p *packages.Package) bool { return p.PkgPath == module+"cmd/venn" })]
	linked := deps(program)
	for _, p := range all {
		if p != program && !linked[p.PkgPath] {
			continue
		}
		for path := range p.Imports {
			if strings.HasSuffix(path, "test") || path == "testing" || strings.HasPrefix(path, "testing/") || path == "github.com/cockroachdb/datadriven" {
				t.Errorf("%s imports %s, which is for tests", p.PkgPath, path)
			}
		}
	}
}

func TestCoresStartNoGoroutines(t *testing.T) {
	for _, p := range must(sources()) {
		if !matchesAny(cores, strings.TrimPrefix(p.PkgPath, module)) {
			continue
		}
		for _, file := range p.Syntax {
			ast.Inspect(file, func(n ast.Node) bool {
				if g, ok := n.(*ast.GoStmt); ok {
					t.Errorf("%s: a goroutine: the order in which it runs would reach the effects", p.Fset.Position(g.Pos()))
				}
				return true
			})
		}
	}
}
