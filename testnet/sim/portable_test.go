package sim_test

import (
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// fused finds the place of an instruction that multiplies and adds with one rounding, in the listing of the compiler.
var fused = regexp.MustCompile(`\(([^()]+:\d+)\)\s+(FN?M(?:ADD|SUB)[DS])\b`)

// A run gives the same trace on amd64 and on arm64, where the compiler may round a·b+c once instead of twice. So no
// package that a simulated peer consists of contains such an instruction: float64(a*b) + c keeps the compiler from it.
// Instructions do not depend on the system: .ci/run vets for the same one, so the standard library is compiled once.
func TestNoFusedArithmetic(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles for arm64")
	}
	const module = "github.com/venn-p2p/venn/"
	env := append(os.Environ(), "GOOS=windows", "GOARCH=arm64", "CGO_ENABLED=0")
	list := exec.Command("go", "list", "-deps", module+"testnet/sim", module+"testnet/strategies")
	list.Env = env
	deps, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	var ours []string
	for p := range strings.FieldsSeq(string(deps)) {
		if strings.HasPrefix(p, module) {
			ours = append(ours, p)
		}
	}
	build := exec.Command("go", append([]string{"build", "-gcflags=-S"}, ours...)...)
	build.Env = env
	listing, err := build.CombinedOutput()
	if err != nil || !strings.Contains(string(listing), "FMULD") {
		t.Fatalf("no listing of %d packages: %v\n%.1000s", len(ours), err, listing)
	}
	seen := map[string]bool{}
	for _, m := range fused.FindAllStringSubmatch(string(listing), -1) {
		if !seen[m[1]] {
			t.Errorf("%s: %s", m[1], m[2])
		}
		seen[m[1]] = true
	}
}
