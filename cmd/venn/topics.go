package main

import (
	"embed"
	"io"
	"path"
	"slices"
	"strings"

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

func isTopic(name string) bool { return slices.Contains(topicNames(), name) }

func printTopic(w io.Writer, name string) error {
	text, err := topics.ReadFile(path.Join("topics", name+".md"))
	if err == nil {
		_, err = page.On(w).Write(text)
	}
	return err
}
