package httpapi

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/ipfs/go-cid"
)

func FuzzKeyText(f *testing.F) {
	for _, k := range []string{"a", "-", "hex:00", "a b", " a", "\x12\x20" + strings.Repeat("x", 32), someCID, someCID[1:], "Qm" + someCID[:44], "Qm", "é", "\xff"} {
		f.Add([]byte(k))
	}
	f.Fuzz(func(t *testing.T, key []byte) {
		if text := string(key); len(key) > 0 {
			if b, err := ParseKey(text); err == nil && (len(b) == 0 || len(b) > maxKey) {
				t.Fatalf("%q is a key of %d bytes", text, len(b))
			}
		}
		if len(key) == 0 || len(key) > maxKey {
			return
		}
		text := FormatKey(key)
		if b, err := ParseKey(text); err != nil || !bytes.Equal(b, key) {
			t.Fatalf("%x is %q, which is %x (%v)", key, text, b, err)
		}
		if strings.ContainsAny(text, "\n\r") || strings.HasPrefix(text, "-") {
			t.Fatalf("%q cannot stand on a line or as an argument", text)
		}
	})
}

func TestParseKey(t *testing.T) {
	c := cid.MustParse(someCID)
	v0 := cid.NewCidV0(c.Hash()).String()
	digest := "baf" + strings.Repeat("0123456789a", 6)[:61]
	for text, want := range map[string][]byte{
		someCID: c.Hash(), v0: c.Hash(), "hello": []byte("hello"), "hex:6869": []byte("hi"),
		"Qm": []byte("Qm"), "bafk-" + someCID[5:]: []byte("bafk-" + someCID[5:]), digest: []byte(digest), "/ipfs/x": []byte("/ipfs/x"), "hex": []byte("hex"),
	} {
		if got, err := ParseKey(text); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: %x, %v", text, got, err)
		}
	}
	for _, text := range []string{
		"", "hex:", "hex:0", "hex:xx", strings.Repeat("a", 1025), "hex:" + strings.Repeat("00", 1025),
		v0[:45], v0 + "x", v0[:20] + "0" + v0[21:], someCID[:58], someCID + "a", someCID[:30] + "1" + someCID[31:], // CIDs not copied right
	} {
		if _, err := ParseKey(text); !errors.Is(err, ErrKeyText) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func ExampleFormatKey() {
	fmt.Println(FormatKey(cid.MustParse("QmbWqxBEKC3P8tqsKc98xmWNzrzDtRLMiMPL8wBuTGsMnR").Hash()))
	fmt.Println(FormatKey([]byte("debian/bash_5.2.deb")))
	fmt.Println(FormatKey([]byte{0, 1}))
	// Output:
	// bafkreigdyrzt5sfp7udm7hu76uh7y26nf3efuylqabf3oclgtqy55fbzdi
	// debian/bash_5.2.deb
	// hex:0001
}

// TestLongTexts: a text that is far too long for a key is refused at once, also where it looks like a CID.
func TestLongTexts(t *testing.T) {
	for _, text := range []string{strings.Repeat("k", 1<<20), strings.Repeat("z", 1<<20), hexPrefix + strings.Repeat("00", 1<<20)} {
		begun := time.Now()
		if _, err := ParseKey(text); !errors.Is(err, ErrKeyText) {
			t.Errorf("%.10s…: %v", text, err)
		}
		if took := time.Since(begun); took > time.Second {
			t.Errorf("%.10s… took %v", text, took)
		}
	}
}
