package overlay_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/venn-p2p/venn/overlay"
	"github.com/venn-p2p/venn/overlay/overlaytest"
	"github.com/venn-p2p/venn/summary"
)

func TestSpreadLab(t *testing.T) {
	b, err := os.ReadFile("/tmp/sizes.txt")
	if err != nil {
		t.Skip()
	}
	var sizes []int
	for _, f := range strings.Split(string(b), ",") {
		n, _ := strconv.Atoi(f)
		sizes = append(sizes, n)
	}
	rates := []uint64{256_000, 2_000_000, 10_000_000}
	rng := rand.New(rand.NewPCG(1, 2))
	var cfgs []overlay.Config
	class := []int{}
	for range sizes {
		c := rng.IntN(3)
		class = append(class, c)
		cfgs = append(cfgs, overlay.Config{Up: rates[c], Down: rates[c]})
	}
	n, err := overlaytest.New(cfgs, 7)
	if err != nil {
		t.Fatal(err)
	}
	sent := make([]int, len(sizes))
	var kinds = map[string]int{}
	var cat [3]int
	got := make([]int, len(sizes))
	n.Sent = func(now time.Duration, from, to, bytes int) { sent[from] += bytes; got[to] += bytes }
	n.Trace = func(now time.Duration, p int, e overlay.Effect) {
		k := fmt.Sprintf("%T", e)
		kinds[k]++
		if c, ok := e.(overlay.SendCatalogue); ok {
			cat[class[p]] += 80 + 20*len(c.Items)
		}
	}
	for i := range sizes {
		if err := n.Publish(i, make([]summary.Fingerprint, sizes[i])); err != nil {
			t.Fatal(err)
		}
		for k := 0; k < 2 && i > 0; k++ {
			n.Connect(i, rng.IntN(i))
		}
	}
	start := time.Now()
	for at := 5 * time.Second; at <= 50*time.Second; at += 5 * time.Second {
		n.Run(at)
		var sum [3]float64
		var origins, cnt [3]int
		var bytes, direct [3]int
		minO := 1000
		maxL := 0
		for i, p := range n.Peers {
			c := class[i]
			sum[c] += p.Overlay.FalseMatches()
			origins[c] += p.Overlay.Origins()
			cnt[c]++
			bytes[c] += p.Direct + p.Pubsub
			direct[c] += p.Direct
			minO = min(minO, p.Overlay.Origins())
			maxL = max(maxL, len(p.Overlay.Linked()))
		}
		for c := range 3 {
			k := cnt[c]
			fmt.Printf("%v class %d: origins %.1f Σf %.2f bytes %d direct %d catalogue %d | min %d maxlinks %d %s %d\n", at, c, float64(origins[c])/float64(k), sum[c]/float64(k), bytes[c]/k, direct[c]/k, cat[c]/k, minO, maxL, "got", gotBy(got, class, c)/k)
		}
	}
	fmt.Println(time.Since(start), kinds)
	var s [3]int
	var cnt [3]int
	worst := 0.0
	for i := range sizes {
		s[class[i]] += sent[i]
		cnt[class[i]]++
		own := n.Peers[i].Served[n.Peers[i].ID]
		worst = max(worst, float64(own)/float64(n.Peers[i].Overlay.Own().Bytes()))
	}
	fmt.Println("sent per class", s[0]/cnt[0], s[1]/cnt[1], s[2]/cnt[2], "worst own copies", worst)
	for i := range 3 {
		fmt.Println(n.Peers[i].Faults, n.Peers[i].Overlay.Neighbours())
	}
}

func gotBy(got, class []int, c int) int {
	s := 0
	for i, g := range got {
		if class[i] == c {
			s += g
		}
	}
	return s
}
