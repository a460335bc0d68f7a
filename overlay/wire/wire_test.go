package wire

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/venn-p2p/venn/overlay/space"
	"github.com/venn-p2p/venn/summary"
	"github.com/venn-p2p/venn/summary/bloom"
)

var rewrite = flag.Bool("rewrite", false, "rewrite the golden files")

// kind is one message with its decoder and encoder, for tests that go through all.
type kind struct {
	name    string
	limit   int
	example Message
	parse   func([]byte) (Message, error)
}

func parser[T Message](f func([]byte) (T, error)) func([]byte) (Message, error) {
	return func(b []byte) (Message, error) { return f(b) }
}

const answerKeys = 11

var kinds = []kind{
	{"hello", MaxHello, Hello{
		Up: 2_000_000, Down: 10_000_000, FalseMatches: 0.75, Origins: 120, Neighbour: true, Full: true, Session: 0x1122334455667788,
		Records: []Record{{Peer: "alice", Envelope: []byte{1, 2, 3}}, {Peer: "bob"}},
	}, parser(ParseHello)},
	{"hello-measured", MaxHello, Hello{Origins: 1, Session: 1, Measured: 3_500_000}, parser(ParseHello)},
	{"hello-range", MaxHello, Hello{Session: 1, Depth: 7, Network: 10_000, Again: true}, parser(ParseHello)},
	{"hello-new", MaxHello, Hello{Session: 1, New: true}, parser(ParseHello)},
	{"inquiry", MaxInquiry, Inquiry{
		Depth: 4, Near: true, Lacks: []byte{0x80, 0x01}, Least: 500, Known: []KnownOrigin{{Place: 5, Sequence: 1}, {Place: 1 << 31}},
		Own: []Parts{{Envelope: []byte("header"), Record: []byte("record"), Run: summary.Run{Parts: [][]byte{{1, 2}, {3}}}}},
	}, parser(ParseInquiry)},
	{"inquiry-nearer", MaxInquiry, Inquiry{Depth: 4, Near: true, Nearer: true, Least: 1000}, parser(ParseInquiry)},
	{"inquiry-meet", MaxInquiry, Inquiry{Depth: 7, Meet: 0x1122334455667788, Least: 1000}, parser(ParseInquiry)},
	{"names", MaxNames, Names{
		Depth:         5,
		Peers:         []Named{{Record: RecordOf([]byte{1, 2, 3}), Depth: 3}, {Record: RecordOf([]byte{4})}},
		Introductions: []Parts{{Envelope: []byte("header"), Record: []byte("record"), Run: summary.Run{Parts: [][]byte{{1, 2}}}}},
	}, parser(ParseNames)},
	{"hello-tail-streams", MaxHello, Hello{Origins: 1, Session: 1, Tails: true}, parser(ParseHello)},
	{"hello-seed", MaxHello, Hello{Session: 1, Seed: 7}, parser(ParseHello)},
	{"hello-parted", MaxHello, Hello{Parted: true}, parser(ParseHello)},
	{"tails-left", MaxTails, Tails{{Group: GroupID{1, 15: 2}, Left: true}}, parser(ParseTails)},
	{"tails-short", MaxTails, Tails{
		{Group: GroupID{1, 2, 3, 4}, Short: true, Number: 300, Wants: true},
		{Group: GroupID{5}, Short: true, Fed: true},
		{Group: GroupID{6}, Short: true, Tails: [][]byte{{1, 2}}},
	}, parser(ParseTails)},
	{"tails", MaxTails, Tails{
		{Group: GroupID{1, 15: 2}, Number: 3, Gap: true, Direct: true},
		{Group: GroupID{1, 15: 3}, Number: 1 << 31, Hides: true, Tails: [][]byte{{1, 2}, {3}}},
	}, parser(ParseTails)},
	{"have-request", MaxHave, HaveRequest{Keys: [][]byte{[]byte("one key"), []byte("another")}}, parser(ParseHaveRequest)},
	{"have-request-private", MaxHave, HaveRequest{Keys: [][]byte{[]byte("one key")}, Private: true}, parser(ParseHaveRequest)},
	{"have-answer", MaxHaveAnswer, HaveAnswer{true, false, false, true, true, false, false, false, false, true, true}, parser(func(b []byte) (HaveAnswer, error) {
		return ParseHaveAnswer(b, answerKeys)
	})},
	{"query", MaxQuery, Query{
		Kind: Search, Mode: All, Nonce: 7, Origin: "carol", Key: []byte("key"), Want: 3, Budget: 64,
		Within: 1500 * time.Millisecond, Hops: 2,
	}, parser(ParseQuery)},
	{"query-visited", MaxQuery, Query{
		Kind: Search, Nonce: 7, Origin: "carol", Key: []byte("key"), Want: 1, Visited: []uint32{7, 1 << 31, 7},
	}, parser(ParseQuery)},
	{"query-fresh", MaxQuery, Query{Kind: Search, Nonce: 7, Origin: "carol", Key: []byte("key"), Want: 1, Fresh: 1500 * time.Millisecond}, parser(ParseQuery)},
	{"query-asks-all", MaxQuery, Query{Kind: Search, Nonce: 7, Origin: "carol", Key: []byte("key"), Want: 1, Fresh: -1}, parser(ParseQuery)},
	{"answer-as-of", MaxAnswer, Answer{Messages: 5, Final: true, AsOf: 400 * time.Millisecond}, parser(ParseAnswer)},
	{"answer", MaxAnswer, Answer{
		Records: []Record{{Peer: "dave", Envelope: []byte{9}}}, Messages: 5, Final: true,
	}, parser(ParseAnswer)},
	{"answer-keys", MaxAnswer, Answer{Records: []Record{RecordOf([]byte{2, 8, 1, 9})}, Final: true}, parser(ParseAnswer)},
	{"parts-request", MaxPartsRequest, PartsRequest{Group: GroupID{1, 15: 2}, First: 3, End: 300}, parser(ParsePartsRequest)},
	{"parts-request-given", MaxPartsRequest, PartsRequest{
		Group: GroupID{1, 15: 2}, First: 3, End: 30, Given: Given{GroupID{3, 15: 4}, 258},
	}, parser(ParsePartsRequest)},
	{"parts", MaxParts, Parts{
		Envelope: []byte{4, 5}, Record: []byte{6},
		Run: summary.Run{Parts: [][]byte{{7, 8, 9}, {10}}, Next: [sha256.Size]byte{31: 11}},
	}, parser(func(b []byte) (Parts, error) { return ParseParts(b, MaxParts) })},
	{"parts-of-one-key", MaxParts, Parts{
		Envelope: []byte{2, 8, 1, 4, 5}, Record: []byte{2, 8, 1, 6}, Run: summary.Run{Parts: [][]byte{{7, 8, 9}}},
	}, parser(func(b []byte) (Parts, error) { return ParseParts(b, MaxParts) })},
	{"parts-more", MaxParts, Parts{
		Run: summary.Run{First: 2, Parts: [][]byte{{7, 8, 9}}, Next: [sha256.Size]byte{31: 11}}, More: true,
	}, parser(func(b []byte) (Parts, error) { return ParseParts(b, MaxParts) })},
	{"parts-refused", MaxParts, Parts{Refused: true}, parser(func(b []byte) (Parts, error) { return ParseParts(b, MaxParts) })},
	{
		"delta", MaxParts,
		Parts{Envelope: []byte{4, 5}, Record: []byte{6}, Delta: []byte{7, 8, 9}},
		parser(func(b []byte) (Parts, error) { return ParseParts(b, MaxParts) }),
	},
	{"join-request", MaxJoinRequest, JoinRequest{
		Params: bloom.Params{BlockBits: 1000, Blocks: 3, Hashes: 1, Hasher: bloom.Hasher{K0: 1, K1: 2}}, Filter: 70_000,
	}, parser(ParseJoinRequest)},
	{"join-request-size", MaxJoinRequest, JoinRequest{}, parser(ParseJoinRequest)},
	{"join-piece", MaxJoinPiece, JoinPiece{
		Set: JoinSize{Keys: 3, Bytes: 99}, Filter: []byte{1, 2}, Keys: [][]byte{[]byte("one"), []byte("two")}, Final: true,
	}, parser(ParseJoinPiece)},
	{"catalogue-given", MaxCatalogue, Catalogue{
		{Group: GroupID{0: 1, 15: 1}, Have: 7},
		{Group: GroupID{0: 2, 15: 1}, Have: 3, Want: 5},
		{Group: GroupID{0: 3, 15: 1}, Have: 3, Want: 65535, Given: Given{GroupID{3, 15: 4}, 258}},
	}, parser(ParseCatalogue)},
	{"catalogue", MaxCatalogue, Catalogue{
		{Group: GroupID{0: 1, 15: 1}, Have: 7}, {Group: GroupID{0: 2, 15: 1}, Have: 300, Want: 65535},
	}, parser(ParseCatalogue)},
}

// TestGolden holds the bytes of an example of every message, which never change within a version.
func TestGolden(t *testing.T) {
	const path = "testdata/messages.txt"
	var got strings.Builder
	for _, k := range kinds {
		fmt.Fprintf(&got, "%s %s\n", k.name, hex.EncodeToString(k.example.Append(nil)))
	}
	if *rewrite {
		if err := os.WriteFile(path, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got.String() != string(want) {
		t.Errorf("got\n%swant\n%s", got.String(), want)
	}
}

func TestRoundTrip(t *testing.T) {
	for _, k := range kinds {
		v, err := k.parse(k.example.Append(nil))
		if err != nil || !reflect.DeepEqual(v, k.example) {
			t.Errorf("%s: got %+v, %v", k.name, v, err)
		}
		if got, want := k.example.Size(), len(k.example.Append(nil)); got != want {
			t.Errorf("%s: a size of %d, but %d bytes", k.name, got, want)
		}
	}
}

// TestLargestMessages: a message that is full in every list and every field is within the limit of its bytes.
func TestLargestMessages(t *testing.T) {
	long := func(n int) []byte { return bytes.Repeat([]byte{0xff}, n) }
	record := Record{PeerID(long(MaxPeer)), long(MaxRecord)}
	for name, c := range map[string]struct {
		m     Message
		limit int
	}{
		"hello": {Hello{
			Up: math.MaxUint64, Down: math.MaxUint64, Measured: math.MaxUint64, FalseMatches: 1, Origins: math.MaxInt32, Neighbour: true,
			Full: true, Tails: true, Again: true, New: true, Parted: true, Session: 1, Depth: space.MaxDepth, Network: math.MaxInt32,
			Seed: math.MaxUint32, Records: slices.Repeat([]Record{record}, MaxHelloRecords),
		}, MaxHello},
		"query": {Query{
			Kind: Search, Mode: All, Nonce: 1, Origin: record.Peer, Key: long(MaxKey), Want: math.MaxInt32, Budget: math.MaxInt32, Within: MaxWithin,
			Hops: MaxHops, Visited: slices.Repeat([]uint32{math.MaxUint32}, MaxVisited), Fresh: MaxWithin,
		}, MaxQuery},
		"answer": {Answer{
			Records: slices.Repeat([]Record{record}, MaxAnswerRecords), Messages: math.MaxInt32, Final: true, Depth: space.MaxDepth, AsOf: MaxWithin,
		}, MaxAnswer},
		"inquiry": {Inquiry{
			Depth: space.MaxDepth, Near: true, Nearer: true, Meet: math.MaxUint64, Lacks: long(MaxLacks), Least: math.MaxUint16,
			Known: make([]KnownOrigin, MaxKnown), Own: []Parts{{Delta: long(MaxIntroduction - 4)}},
		}, MaxInquiry},
		"names": {Names{
			Depth: space.MaxDepth, Peers: slices.Repeat([]Named{{Record: record}}, MaxNamed),
			Introductions: slices.Repeat([]Parts{{Delta: long(MaxIntroduction - 4)}}, MaxIntroduced),
		}, MaxNames},
		"parts request": {PartsRequest{First: MaxPart - 1, End: MaxPart, Given: Given{Parts: MaxPart}}, MaxPartsRequest},
		"have answer":   {make(HaveAnswer, MaxHaveKeys), MaxHaveAnswer},
		"join request":  {JoinRequest{bloom.Params{BlockBits: MaxJoinBits, Blocks: 1, Hashes: 1}, MaxJoinFilter}, MaxJoinRequest},
		"join piece":    {JoinPiece{JoinSize{math.MaxInt32, math.MaxInt}, long(MaxBatch), nil, true}, MaxJoinPiece},
	} {
		if n := c.m.Size(); n > c.limit || c.limit-n > (MaxAnswerRecords+1)*room {
			t.Errorf("%s: %d bytes if full, at most %d are read", name, n, c.limit)
		}
	}
}

// TestLargeNumbers: numbers that the receiver would refuse travel as the largest that it takes.
func TestLargeNumbers(t *testing.T) {
	q, err := ParseQuery(Query{Key: []byte("k"), Want: math.MaxInt, Budget: math.MaxInt}.Append(nil))
	if err != nil || q.Want != math.MaxInt32 || q.Budget != math.MaxInt32 {
		t.Errorf("%+v, %v", q, err)
	}
	a, err := ParseAnswer(Answer{Messages: math.MaxInt}.Append(nil))
	if err != nil || a.Messages != math.MaxInt32 {
		t.Errorf("%+v, %v", a, err)
	}
}

// TestLaterVersion appends fields that this version does not know, one of every wire type.
func TestLaterVersion(t *testing.T) {
	for _, k := range kinds {
		b := k.example.Append(nil)
		if k.limit-len(b) < 40 {
			t.Fatalf("%s: no room", k.name)
		}
		b = protowire.AppendVarint(protowire.AppendTag(b, 1000, protowire.VarintType), 5)
		b = protowire.AppendBytes(protowire.AppendTag(b, 1001, protowire.BytesType), []byte("new"))
		b = protowire.AppendFixed32(protowire.AppendTag(b, 1002, protowire.Fixed32Type), 5)
		b = protowire.AppendFixed64(protowire.AppendTag(b, 1002, protowire.Fixed64Type), 5)
		if v, err := k.parse(b); err != nil || !reflect.DeepEqual(v, k.example) {
			t.Errorf("%s: got %+v, %v", k.name, v, err)
		}
		if got, want := k.example.Size(), len(k.example.Append(nil)); got != want {
			t.Errorf("%s: a size of %d, but %d bytes", k.name, got, want)
		}
	}
}

// TestLaterForms: a message in none of the forms of this version, with fields that it does not know, is of a later one.
// Flags that it does not know are left out.
func TestLaterForms(t *testing.T) {
	unknown := field(1000, []byte("new"))
	for _, k := range kinds {
		switch k.name {
		case "have-request", "have-answer", "query", "parts-request", "parts":
		default: // what it has may be missing
			continue
		}
		if _, err := k.parse(unknown); !errors.Is(err, ErrLater) {
			t.Errorf("%s of a new form: error %v", k.name, err)
		}
		if _, err := k.parse(nil); errors.Is(err, ErrLater) || err == nil {
			t.Errorf("%s that is empty: error %v", k.name, err)
		}
	}
	known := Tails{{Group: [16]byte{1}}}.Append(nil)
	if items, err := ParseTails(append(field(1, unknown), known...)); err != nil || len(items) != 1 {
		t.Errorf("a known item beside one of a new form: %v, %v", items, err)
	}
}

// TestCut cuts every message short: what is left is refused, or is a message of its own.
func TestCut(t *testing.T) {
	for _, k := range kinds {
		b := k.example.Append(nil)
		for n := range len(b) {
			v, err := k.parse(b[:n])
			if err != nil && !errors.Is(err, ErrMalformed) && !errors.Is(err, ErrLimit) && !errors.Is(err, summary.ErrMalformed) {
				t.Errorf("%s cut to %d: error %v", k.name, n, err)
			}
			if err == nil && reflect.DeepEqual(v, k.example) {
				t.Errorf("%s cut to %d is read in full", k.name, n)
			}
		}
	}
}

func field(num protowire.Number, b []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(nil, num, protowire.BytesType), b)
}

func varint(num protowire.Number, v uint64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(nil, num, protowire.VarintType), v)
}

func TestRefused(t *testing.T) {
	long := func(n int) []byte { return make([]byte, n) }
	signed := []byte{2, 8, 1, 7} // key 0801
	item := append(field(1, long(16)), field(2, []byte{1})...)
	for _, c := range []struct {
		name, kind string
		bytes      []byte
		err        error
	}{
		{"longest varint not shortest", "hello", []byte{8, 0x80, 0}, ErrMalformed},
		{"tag not shortest", "hello", []byte{0x88, 0, 1}, ErrMalformed},
		{"field number 0", "hello", []byte{0, 1}, ErrMalformed},
		{"group", "hello", []byte{0x0b, 0x0c}, ErrMalformed},
		{"bytes beyond the end", "have-request", []byte{0x0a, 0xff, 0xff, 0xff, 0xff, 0x0f, 1}, ErrMalformed},
		{"field twice", "query", append(varint(1, 1), varint(1, 1)...), ErrMalformed},
		{"wrong type", "hello", field(1, []byte{1}), ErrMalformed},
		{"boolean 2", "hello", varint(5, 2), ErrLimit},
		{"false matches negative", "hello", protowire.AppendFixed64([]byte{3<<3 | 1}, math.Float64bits(-1)), ErrMalformed},
		{"false matches NaN", "hello", protowire.AppendFixed64([]byte{3<<3 | 1}, math.Float64bits(math.NaN())), ErrMalformed},
		{"origins", "hello", varint(4, 1<<31), ErrLimit},
		{"17 records", "hello", bytes.Repeat(field(7, field(1, []byte("p"))), 17), ErrLimit},
		{"record without peer", "hello", field(7, field(2, []byte("e"))), ErrMalformed},
		{"peer of 65 bytes", "hello", field(7, field(1, long(65))), ErrLimit},
		{"record of 2049 bytes", "hello", field(7, append(field(1, []byte("p")), field(2, long(2049))...)), ErrLimit},
		{"hello too long", "hello", long(MaxHello + 1), ErrLimit},
		{"no key", "have-request", nil, ErrMalformed},
		{"empty key", "have-request", field(1, nil), ErrMalformed},
		{"257 keys", "have-request", bytes.Repeat(field(1, []byte("k")), 257), ErrLimit},
		{"key of 1025 bytes", "have-request", field(1, long(1025)), ErrLimit},
		{"bitmap too short", "have-answer", field(1, long(1)), ErrMalformed},
		{"bitmap too long", "have-answer", field(1, long(3)), ErrLimit},
		{"unused bits", "have-answer", field(1, []byte{0, 8}), ErrMalformed},
		{"no bitmap", "have-answer", nil, ErrMalformed},
		{"kind 0", "query", append(append(varint(1, 0), varint(2, 1)...), field(5, []byte("k"))...), ErrMalformed},
		{"no mode", "query", append(varint(1, 1), field(5, []byte("k"))...), ErrMalformed},
		{"query without key", "query", append(varint(1, 1), varint(2, 1)...), ErrMalformed},
		{"hops", "query", varint(9, 256), ErrLimit},
		{"65 records", "answer", bytes.Repeat(field(1, field(1, []byte("p"))), 65), ErrLimit},
		{"group of 15 bytes", "parts-request", append(field(1, long(15)), varint(3, 1)...), ErrMalformed},
		{"no parts asked", "parts-request", append(field(1, long(16)), append(varint(2, 1), varint(3, 1)...)...), ErrMalformed},
		{"part 65536", "parts-request", append(field(1, long(16)), varint(3, 65536)...), ErrLimit},
		{"envelope of 1025 bytes", "parts", field(2, long(1025)), ErrLimit},
		{"nothing", "parts", nil, summary.ErrMalformed},
		{"key of header and record twice", "parts", append(field(2, signed), field(3, signed)...), ErrMalformed},
		{"two records", "parts", slices.Concat(field(2, signed), field(3, []byte{6}), field(8, []byte{6})), ErrMalformed},
		{"record without a key", "parts", append(field(2, []byte{9, 8}), field(8, []byte{6})...), ErrMalformed},
		{"record of 2049 bytes with its key", "parts", append(field(2, signed), field(8, long(2046))...), ErrLimit},
		{"peer of its record", "hello", field(7, append(field(1, []byte(RecordOf(signed).Peer)), field(2, signed)...)), ErrMalformed},
		{"half a group", "catalogue", field(1, long(8)), ErrMalformed},
		{"too few numbers", "catalogue", field(1, long(16)), ErrMalformed},
		{"too many numbers", "catalogue", append(field(1, long(16)), field(2, []byte{1, 1})...), ErrMalformed},
		{"too many wants", "catalogue", append(item, field(3, []byte{1, 1})...), ErrMalformed},
		{"number not shortest", "catalogue", append(field(1, long(16)), field(2, []byte{0x81, 0})...), ErrMalformed},
		{"number 65536", "catalogue", append(field(1, long(16)), field(2, protowire.AppendVarint(nil, 65536))...), ErrLimit},
		{"no delta", "parts", field(7, nil), ErrMalformed},
		{"delta and run", "parts", append(field(4, append(long(2), long(32)...)), field(7, []byte{1})...), ErrMalformed},
		{"a base without an ask", "catalogue", append(item, field(6, long(18))...), ErrMalformed},
		{"filter of 2^28+1 bits", "join-request", append(append(varint(1, 1<<27+1), varint(2, 2)...), varint(3, 1)...), ErrLimit},
		{"filter without hashes", "join-request", append(varint(1, 8), varint(2, 2)...), ErrMalformed},
		{"filter without params", "join-request", varint(6, 8), ErrMalformed},
		{"piece of 64 KiB and 1", "join-piece", field(3, long(MaxBatch+1)), ErrLimit},
		{"empty key in a piece", "join-piece", field(4, nil), ErrMalformed},
		{"4097 items", "catalogue", field(1, long(4097*16)), ErrLimit},
	} {
		for _, k := range kinds {
			if k.name != c.kind {
				continue
			}
			if _, err := k.parse(c.bytes); !errors.Is(err, c.err) {
				t.Errorf("%s: error %v, want %v", c.name, err, c.err)
			}
		}
	}
}

func TestHaveFits(t *testing.T) {
	keys := func(n, size int) [][]byte {
		out := make([][]byte, n)
		for i := range out {
			out[i] = make([]byte, size)
		}
		return out
	}
	for _, c := range []struct{ n, size, want int }{{0, 1, 0}, {1, MaxKey, 1}, {256, 32, 256}, {300, 32, 256}, {100, MaxKey, 63}} {
		ks := keys(c.n, c.size)
		got := HaveFits(ks)
		if got != c.want {
			t.Errorf("%d keys of %d bytes: %d fit, want %d", c.n, c.size, got, c.want)
		}
		if got > 0 {
			if _, err := ParseHaveRequest(HaveRequest{Keys: ks[:got], Private: true}.Append(nil)); err != nil {
				t.Errorf("%d keys of %d bytes: %v", got, c.size, err)
			}
		}
	}
}

func TestFrame(t *testing.T) {
	var b bytes.Buffer
	for _, n := range []int{0, 1, 127, 128, 20000} {
		if err := WriteFrame(&b, make([]byte, n)); err != nil {
			t.Fatal(err)
		}
		reserved := -1
		got, err := ReadFrame(&b, 20000, func(n int) error { reserved = n; return nil })
		if err != nil || len(got) != n || reserved != n {
			t.Errorf("frame of %d: %d bytes, %d reserved, %v", n, len(got), reserved, err)
		}
	}
	if _, err := ReadFrame(&b, 1, nil); !errors.Is(err, io.EOF) {
		t.Errorf("at the end: %v", err)
	}
	for _, c := range []struct {
		bytes []byte
		err   error
	}{
		{[]byte{3, 1, 2}, io.ErrUnexpectedEOF},
		{[]byte{3}, io.ErrUnexpectedEOF},
		{[]byte{0x80}, io.ErrUnexpectedEOF},
		{[]byte{0x80, 0}, ErrMalformed},
		{bytes.Repeat([]byte{0xff}, 10), ErrMalformed},
		{bytes.Repeat([]byte{0xff}, 11), ErrMalformed},
		{[]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1}, ErrLimit},
		{[]byte{101}, ErrLimit},
	} {
		if _, err := ReadFrame(bytes.NewReader(c.bytes), 100, nil); !errors.Is(err, c.err) {
			t.Errorf("% x: error %v, want %v", c.bytes, err, c.err)
		}
	}
	full := errors.New("full")
	if _, err := ReadFrame(bytes.NewReader([]byte{1, 1}), 100, func(int) error { return full }); !errors.Is(err, full) {
		t.Errorf("error of reserve: %v", err)
	}
}

// FuzzMessage checks the decoders, of which a number chooses one: it does not panic, and returns no error of an unknown
// kind. What it accepts it accepts again, the same, when encoded again.
func FuzzMessage(f *testing.F) {
	for i, k := range kinds {
		f.Add(uint8(i), k.example.Append(nil))
		f.Add(uint8(i), []byte("0\x01\b\x01")) // as parts a refusal with More, which no encoder writes
	}
	f.Fuzz(func(t *testing.T, number uint8, b []byte) {
		k := kinds[int(number)%len(kinds)]
		v, err := k.parse(b)
		if err != nil {
			for _, known := range []error{ErrMalformed, ErrLimit, ErrLater, summary.ErrMalformed, summary.ErrLimit} {
				if errors.Is(err, known) {
					return
				}
			}
			t.Fatalf("%s: error %v", k.name, err)
		}
		encoded := v.Append(nil)
		if v.Size() != len(encoded) {
			t.Fatalf("%+v: a size of %d, but %d bytes", v, v.Size(), len(encoded))
		}
		again, err := k.parse(encoded)
		if err != nil || !reflect.DeepEqual(v, again) {
			t.Fatalf("%+v became %+v, %v", v, again, err)
		}
	})
}

// FuzzFrame: whatever stands on a stream, no more is reserved than the limit, and no more than one frame is taken.
func FuzzFrame(f *testing.F) {
	f.Add([]byte{2, 1, 2, 3})
	f.Fuzz(func(t *testing.T, b []byte) {
		r := bytes.NewReader(b)
		got, err := ReadFrame(r, 64, func(n int) error {
			if n > 64 {
				t.Fatalf("%d reserved", n)
			}
			return nil
		})
		if err != nil {
			return
		}
		var w bytes.Buffer
		if err := WriteFrame(&w, got); err != nil || !bytes.Equal(w.Bytes(), b[:len(b)-r.Len()]) {
			t.Fatalf("read % x of % x, %v", got, b, err)
		}
	})
}
