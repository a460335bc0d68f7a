package wire

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/venn-p2p/venn/summary"
)

// TestFormatExamples holds the messages in package summary's FORMAT.md against the code.
func TestFormatExamples(t *testing.T) {
	const file, begin, end = "../../summary/FORMAT.md", "<!-- examples of messages -->\n", "<!-- end of messages -->"
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(text), begin)
	written, after, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		t.Fatal("no place for examples")
	}
	got := formatExamples(t)
	if *rewrite {
		if err := os.WriteFile(file, []byte(before+begin+got+end+after), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if got != written {
		t.Errorf("%s differs from what the code gives (rewrite with -rewrite):\n%s", file, got)
	}
}

func formatExamples(t *testing.T) string {
	seed := summary.Seed{Network: "example", Number: 1}
	var fps []summary.Fingerprint
	for i := range 10 {
		fps = append(fps, seed.Hasher().Fingerprint(fmt.Appendf(nil, "key %d", i)))
	}
	st, err := summary.Build(fps, summary.Header{
		Seed: seed.Tag(), Origin: "\x00\x01origin", Epoch: summary.Epoch{Generation: 1, Sequence: 7}, Lifetime: time.Hour,
		Shape: summary.Shape{Keys: 10, SampleBytes: 5, SampleLevel: 7, Levels: []uint8{12, 4}},
	})
	if err != nil {
		t.Fatal(err)
	}
	run, err := st.Run(0, 1)
	if err != nil {
		t.Fatal(err)
	}
	g := GroupOf(st.Header())
	earlier := NewGroup(g.OriginTag(), summary.Epoch{Generation: 1, Sequence: 6})
	var b strings.Builder
	b.WriteString("```\n")
	fmt.Fprintf(&b, "Parts, part 0 %x\n", Parts{Envelope: []byte{0xaa, 0xbb}, Record: []byte{0xcc}, Run: run}.Append(nil))
	fmt.Fprintf(&b, "Parts, refused %x\n", Parts{Refused: true}.Append(nil))
	fmt.Fprintf(&b, "PartsRequest, parts 1 and 2, perhaps given 4 parts of epoch 1.6 %x\n", PartsRequest{Group: g, First: 1, End: 3, Given: Given{earlier, 4}}.Append(nil))
	fmt.Fprintf(&b, "Catalogue, epoch 1.7: 2 parts held, 5 wanted, perhaps given 3 of epoch 1.6; epoch 1.6: 3 parts held %x\n", Catalogue([]Item{
		{Group: g, Have: 2, Want: 5, Given: Given{earlier, 3}}, {Group: earlier, Have: 3},
	}).Append(nil))
	b.WriteString("```\n")
	return b.String()
}
