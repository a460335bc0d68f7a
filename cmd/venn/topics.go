package main

import (
	"embed"
	"io/fs"
	"path"
	"strings"
)

// texts are topics, which belong to no one command, and long descriptions of commands: `venn help TOPIC` prints
// topics/TOPIC.md.
//
//go:embed topics/*.md help/*.txt
var texts embed.FS

// textOf returns one of the texts.
func textOf(file string) string {
	b, err := texts.ReadFile(file)
	if err != nil {
		panic(err) // cannot be: the texts are embedded
	}
	return string(b)
}

// helpText returns the long description in help/NAME.txt.
func helpText(name string) string {
	return strings.TrimSuffix(textOf(path.Join("help", name+".txt")), "\n")
}

// topicNames returns the names of all topics, in order.
func topicNames() (names []string) {
	files, _ := fs.Glob(texts, "topics/*.md") // the pattern is right
	for _, f := range files {
		names = append(names, strings.TrimSuffix(path.Base(f), ".md"))
	}
	return names
}
