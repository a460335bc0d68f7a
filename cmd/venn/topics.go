package main

import (
	"embed"
	"io"
	"path"
	"strings"

	"github.com/urfave/cli/v3"

	"github.com/venn-p2p/venn/testnet/page"
)

// topics are texts that belong to no one command: `venn help TOPIC` prints topics/TOPIC.md.
//
//go:embed topics/*.md
var topics embed.FS

// texts are the long descriptions of commands.
//
//go:embed help/*.txt
var texts embed.FS

// helpText returns a description, by the name of its file.
func helpText(name string) string {
	text, err := texts.ReadFile(path.Join("help", name+".txt"))
	if err != nil {
		panic(err) // embedded
	}
	return strings.TrimSuffix(string(text), "\n")
}

// topicNames returns the names of all topics, in order.
func topicNames() []string {
	entries, err := topics.ReadDir("topics")
	if err != nil {
		panic(err) // embedded
	}
	var names []string
	for _, e := range entries {
		names = append(names, strings.TrimSuffix(e.Name(), ".md"))
	}
	return names
}

// printTopic prints a topic. It returns false if the arguments do not ask for one.
func printTopic(w io.Writer, root *cli.Command, args []string) bool {
	if len(args) != 3 || args[1] != "help" && args[1] != "h" || root.Command(args[2]) != nil {
		return false
	}
	text, err := topics.ReadFile(path.Join("topics", args[2]+".md"))
	if err != nil {
		return false
	}
	_, _ = page.On(w).Write(text)
	return true
}
