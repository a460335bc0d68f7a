// Package netns tests daemons in networks as real peers have them: behind routers that translate addresses, on slow
// lines, on lines that fail. The tests make network namespaces, which needs root on Linux and the programs ip, iptables
// and tc; they say so and skip where something lacks. They take minutes: .ci/netns runs them, or
//
//	VENN_NETNS=1 go test ./cmd/venn/netns -v
package netns
