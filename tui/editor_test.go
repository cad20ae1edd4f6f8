package tui

import (
	"slices"
	"testing"
)

func TestEditorCommand(t *testing.T) {
	tests := map[string][]string{
		"vi":                            {"vi", "+12", "/n/a b.md"},
		"code -w":                       {"code", "-w", "--goto", "/n/a b.md:12"},
		"/usr/bin/hx":                   {"/usr/bin/hx", "/n/a b.md:12"},
		`"/opt/my editor/vim" -u 'a b'`: {"/opt/my editor/vim", "-u", "a b", "+12", "/n/a b.md"},
		"vi; rm -rf $HOME `id`":         {"vi;", "rm", "-rf", "$HOME", "`id`", "+12", "/n/a b.md"},
	}
	for editor, want := range tests {
		cmd, err := EditorCommand(editor, "/n/a b.md", 12)
		if err != nil || !slices.Equal(cmd.Args, want) {
			t.Errorf("%s: %q, %v; want %q", editor, cmd.Args, err, want)
		}
	}
	for _, editor := range []string{"", "  ", `vi "`} {
		if _, err := EditorCommand(editor, "/n/a.md", 1); err == nil {
			t.Errorf("%q is taken for an editor", editor)
		}
	}
}
