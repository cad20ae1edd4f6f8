package notes

import (
	"errors"
	"strings"
	"testing"
)

// TestIndexedTextHasNoProgramData: what is for programs, or commented out, is not in the
// text that is searched; the lines and all else stay.
func TestIndexedTextHasNoProgramData(t *testing.T) {
	blob := strings.Repeat("N4KAkARALgngDgUwgLgAQQQDwMYEMA2AlgCYBOuA7hADTgQBuCpAzoQPYB2KqATLZMzYBXUtiRoIACyhQ4zZAHoFAc0JRJQgEYA6bGwC2CgF7N6", 30)
	for name, c := range map[string]struct{ text, gone, stays string }{
		"HTML comment":         {"a <!-- gone --> b\n\n<!--\ngone\n\ngone\n-->\nc\n", "gone", "a  b"},
		"Obsidian comment":     {"a %%gone%% b\n\n%%\ngone\n\n```\ngone\n```\n%%\nc\n", "gone", "a  b"},
		"a percentage is none": {"100%% of it and 50%% stay\n", "nothing", "100%% of it and 50%% stay"},
		"code is none": {
			"`<!-- stays -->`\n\n```html\n<!-- stays -->\n%% stays %%\nid:: stays\n```\n", "gone",
			"<!-- stays -->\n%% stays %%\nid:: stays",
		},
		"open comment": {"a <!-- stays\n\nb stays\n", "gone", "b stays"},
		"logbook": {"- TODO roof\n  :LOGBOOK:\n  CLOCK: [2026-11-01 Sun 10:00:00]--[2026-11-01 Sun " +
			"11:00:00] =>  01:00:00\n  :END:\n  slate\n", "CLOCK", "  slate"},
		"clock alone": {"* a\nCLOCK: [2026-11-01 Sun 10:00]\nb\n", "CLOCK", "b"},
		"notes of Logseq": {
			"- roof\n  collapsed:: true\n  logseq.order-list-type:: number\n- gutter\n", "::",
			"- gutter",
		},
		"names of blocks": {"- roof\n  id:: 6735b2a1-1111-4222-8333-444455556666\n- gutter\n", "6735", "- gutter"},
		"Excalidraw": {"# Text Elements\nvalve ^x1\n\n# Drawing\n```compressed-json\n" + blob + "\n\n" +
			blob + "\n```\nend\n", "N4KAk", "valve ^x1"},
		"data URI":     {"a ![x](data:image/png;base64," + blob + ") b\n", "N4KAk", "b"},
		"front matter": {"---\nid:: x\n---\nb\n", "gone", "id:: x"},
	} {
		got := Parse(Entry{Path: "a.md"}, []byte(c.text)).Indexed()
		if strings.Contains(got, c.gone) || !strings.Contains(got, c.stays) ||
			strings.Count(got, "\n") != strings.Count(c.text, "\n") {
			t.Errorf("%s: %q", name, got)
		}
	}
}

func TestCommentsHoldNoTasksAndProperties(t *testing.T) {
	note := Parse(Entry{Path: "a.md"}, []byte("%%\n- [ ] gone\ntags:: gone\n%%\n\n<!-- - [ ] gone -->\n- [ ] one %% "+
		"why %%\n- [ ] two <!--\n- [ ] gone\n--> \n- [ ] 50%% of it\n`%%`\n- [ ] three\n`%%`\n"))
	var got []string
	for _, task := range note.Tasks {
		got = append(got, strings.Fields(task.Text)[0])
	}
	if want := "one two 50%% three"; strings.Join(got, " ") != want || len(note.Tags) > 0 {
		t.Errorf("tasks %q, want %s; tags %v", got, want, note.Tags)
	}
}

// FuzzBlocks: the blocks of any text are a division of it into lines, and the text that is
// searched has its lines.
func FuzzBlocks(f *testing.F) {
	for _, s := range []string{
		"# A\n\n- b\n  - c\n\n| d |\n|-|\n| e |", "- a | b\n  --|--\n  1 | 2\n\n  more",
		"````\n```\n~~~\n````\n", "[a]: b\n\ntext\n===\n", "\t- x\n%% y\n%%", "> - a\n> - b\n\n1. c\n   ```\n   d",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		n := Parse(Entry{Path: "a.md"}, []byte(s))
		if got := n.Indexed(); strings.Count(got, "\n") != strings.Count(n.Text, "\n") {
			t.Fatalf("%q has other lines than %q", got, n.Text)
		}
	})
}

func TestCanvasIsItsCardsAndLabels(t *testing.T) {
	folder := vault(t, map[string]string{
		"Board.canvas": `{"nodes":[{"id":"b","type":"text","text":"# Second\nthe valve","x":0,"y":50},{"id":"a","type":"text","text":"First","x":0,"y":0,"color":"1"},
			{"id":"f","type":"file","file":"plans/Roof.md","x":9,"y":60},{"id":"u","type":"link","url":"https://a.example","y":70},{"id":"g","type":"group","label":"House","y":-1}],
			"edges":[{"id":"e","fromNode":"a","toNode":"b","label":"leads to"},{"fromNode":"a","toNode":"nothing"}]}`,
		"Empty.canvas": "", "Broken.canvas": `{"nodes":[`, "Other.canvas": `[1]`,
	})
	note, err := folder.Read("Board.canvas")
	const want = "**House**\n\nFirst\n\n# Second\nthe valve\n\n[[plans/Roof.md]]\n\n<https://a.example>\n\n- First → " +
		"leads to → Second\n"
	if err != nil || note.Text != want || !note.Untrusted || len(note.Links) != 1 {
		t.Errorf("%v: %q, %+v", err, note.Text, note.Links)
	}
	if _, err := folder.Read("Empty.canvas"); err != nil {
		t.Error(err)
	}
	for _, name := range []string{"Broken.canvas", "Other.canvas"} {
		var unread *UnreadError
		if _, err := folder.Read(name); !errors.As(err, &unread) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if Writable("Board.canvas") == nil {
		t.Error("a canvas can be written")
	}
}

func FuzzCanvas(f *testing.F) {
	f.Add([]byte(`{"nodes":[{"type":"text","text":"a"}],"edges":[{"label":"b"}]}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		if text, err := fromCanvas(raw); err == nil {
			Parse(Entry{Path: "a.canvas"}, text)
		}
	})
}
