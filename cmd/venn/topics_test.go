package main

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// TestFilesTopic: `venn help files` shows what its commands print.
func TestFilesTopic(t *testing.T) {
	topic := mustVenn(t, "help", "files")
	t.Chdir(t.TempDir())
	write := func(name string, ranges ...any) { // format, first and last number
		var b []byte
		for ; len(ranges) > 0; ranges = ranges[3:] {
			for i := ranges[1].(int); i <= ranges[2].(int); i++ {
				b = fmt.Appendf(b, ranges[0].(string)+"\n", i)
			}
		}
		noErr(t, os.WriteFile(name, b, 0o600))
	}
	write("keys.txt", "package %d", 1, 100000)
	write("theirs.txt", "package %d", 90001, 190000)
	write("later.txt", "package %d", 501, 100000, "new %d", 1, 500)
	for _, line := range []string{
		"build keys.txt -o all.venn",
		"cut --bytes 50000 all.venn -o small.venn",
		"inspect small.venn",
		"build theirs.txt -o theirs.venn",
		"overlap small.venn theirs.venn",
		"build --after all.venn later.txt -o later.venn",
		"delta all.venn later.venn -o change.venn",
		"apply all.venn change.venn -o again.venn",
		"sizes --keys 100000",
	} {
		code, stdout, stderr := venn(append([]string{"summary"}, strings.Fields(line)...)...)
		printed := strings.Split(strings.TrimSuffix(stdout+stderr, "\n"), "\n")
		if line == "inspect small.venn" {
			printed = printed[:14]
		}
		if all := strings.Join(printed, "\n") + "\n"; code != exitDone || !strings.Contains(topic, "\n"+all) {
			t.Errorf("venn summary %s ends with %d, and prints what the topic lacks:\n%s", line, code, all)
		}
	}
}
