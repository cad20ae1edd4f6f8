package chat

import (
	"strings"
	"testing"
)

func TestShellCommandIsRefusedAndSentenceIsNot(t *testing.T) {
	for line, refused := range map[string]bool{
		"!ls": true, "!./run.sh": true, "!/bin/sh": true, "!~/x": true,
		"what is this!": false, "! is the sign of a factorial": false, " !ls": false, "": false, "!": false,
		"!!": false, "!= or <>?": false,
	} {
		if got := NoShell(line); (got != "") != refused {
			t.Errorf("%q: %q", line, got)
		}
	}
}

func TestAnUnknownCommandNamesTheNearest(t *testing.T) {
	commands := []Command{{Name: "sources"}, {Name: "resume", Aliases: []string{"sessions"}}}
	for name, want := range map[string]string{"sorces": "/sources?", "sesions": "/sessions?", "weather": "", "x": ""} {
		got := Unknown(commands, name)
		if want == "" && strings.Contains(got, "mean") || !strings.HasSuffix(got, want) {
			t.Errorf("/%s: %s", name, got)
		}
	}
}
