package link

import (
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

func rng(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0)) }

func TestParseMix(t *testing.T) {
	got, err := ParseMix("10mbit:3, 256kbit:1,2gbit,64000bit:2")
	want := Mix{{"64000bit", 64e3, 2}, {"256kbit", 256e3, 1}, {"10mbit", 10e6, 3}, {"2gbit", 2e9, 1}}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, %v; want %v", got, err, want)
	}
	if again, err := ParseMix(got.String()); err != nil || !slices.Equal(again, got) {
		t.Errorf("%q is read as %v, %v", got, again, err)
	}
}

func TestParseMixRefuses(t *testing.T) {
	for text, says := range map[string]string{
		"":                 "wants a unit",
		"10":               `rate "10" wants a unit`,
		"10mb:1":           `rate "10mb" wants a unit`,
		"10mbit:":          `weight ""`,
		"10mbit:0":         `weight "0"`,
		"10mbit:x":         `weight "x"`,
		"10mbit:-1":        `weight "-1"`,
		"10mbit:1:2":       `weight "1:2"`,
		"0mbit:1":          `rate "0mbit"`,
		"-5mbit:1":         `rate "-5mbit"`,
		"1.5mbit:1":        `rate "1.5mbit"`,
		"101gbit:1":        `rate "101gbit"`,
		"1mbit:1,":         "wants a unit",
		"1mbit:1,1000kbit": `rate "1000kbit" twice`,
	} {
		mix, err := ParseMix(text)
		if mix != nil || !errors.Is(err, ErrMix) || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v, %v; want an error that says %q", text, mix, err, says)
		}
	}
}

func TestAssignKeepsShares(t *testing.T) {
	mix, err := ParseMix("256kbit:1,2mbit:1,10mbit:2")
	if err != nil {
		t.Fatal(err)
	}
	for n := range 200 {
		count := make([]int, len(mix))
		for _, c := range mix.Assign(n, rng(1)) {
			count[c]++
		}
		for i, c := range mix {
			if d := 4*count[i] - n*c.Weight; d < -4 || d > 4 {
				t.Errorf("%d of %d peers are %s, its weight is %d of 4", count[i], n, c.Name, c.Weight)
			}
		}
	}
}

func TestAssignFollowsTheSeed(t *testing.T) {
	mix, err := ParseMix(DefaultMix)
	if err != nil {
		t.Fatal(err)
	}
	a, b, c := mix.Assign(121, rng(1)), mix.Assign(121, rng(1)), mix.Assign(121, rng(2))
	if !slices.Equal(a, b) || slices.Equal(a, c) {
		t.Error("the assignment does not follow from the seed")
	}
}

func FuzzParseMix(f *testing.F) {
	f.Add(DefaultMix)
	f.Add("1gbit,2bit:3")
	f.Fuzz(func(t *testing.T, text string) {
		mix, err := ParseMix(text)
		if err != nil {
			return
		}
		if again, err := ParseMix(mix.String()); err != nil || !slices.Equal(again, mix) {
			t.Fatalf("%q is read as %v, which is read as %v, %v", text, mix, again, err)
		}
	})
}
