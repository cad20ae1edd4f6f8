package tui

import (
	"slices"
	"testing"

	"lifehub/tui/transcript"
)

func TestCodeBlocks(t *testing.T) {
	source := "Text\n```go\na := 1\n\n  b\n```\nand `inline` and\n\n- item\n  ~~~\n  c\n  ```\n  ~~~\n````\n```\nd\n```\n````\n```sh\nopen"
	want := []string{"a := 1\n\n  b\n", "c\n```\n", "```\nd\n```\n", "open"}
	if got := transcript.CodeBlocks(source); !slices.Equal(got, want) {
		t.Errorf("blocks = %q, want %q", got, want)
	}
	if got := transcript.CodeBlocks("no ```code``` here"); len(got) != 0 {
		t.Errorf("blocks = %q, want none", got)
	}
}

func TestACodeBlockIsCopiedByItsNumber(t *testing.T) {
	inRig(t, 80, 24, finished(), func(r *rig) {
		r.m.transcript.Add(transcript.KeptAnswer("```\none\n```\n\n```\ntwo\n```\n", ""))
		r.keys("tab", "2")
		if r.clip != "two\n" {
			t.Errorf("2 copied %q", r.clip)
		}
		r.keys("esc", "/copy 1", "enter")
		if r.clip != "one\n" {
			t.Errorf("/copy 1 copied %q", r.clip)
		}
		r.clip = ""
		r.keys("/copy 7", "enter")
		if r.clip != "" {
			t.Errorf("/copy 7 copied %q", r.clip)
		}
		r.mustShow("2 code blocks")
	})
}
