package acp

import (
	"encoding/json"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"lifehub/agent"
	"lifehub/internal/hostile"
	"lifehub/tui/safetext"
)

// A renderer must not find an image in an answer, however it is split into pieces.
func TestImagesAreRemoved(t *testing.T) {
	fetches := regexp.MustCompile(`!\[|(?i)<(img|image|picture|source|video|audio|iframe|object|script|svg)[\s/>]`)
	for _, answer := range []string{
		"![a](http://x/?q)", "![a]\n\n[a]: http://x", "![a][b]\n\n[b]: http://x", "![a\nb](http://x)",
		"![a[b]c](http://x)", `![a\]b](http://x)`,
		"!![a](http://x)", "![![a](http://x)](http://x)", `\![a](http://x)`, "!\u200b[a](http://x)",
		"![" + strings.Repeat("a", 500) + "](http://x)",
		"<img src=http://x>", `\<img src=http://x>`, "<IMG\tSRC=http://x>", "<<img src=http://x>",
		"<picture><source srcset=http://x></picture>",
		"<object data=http://x>", "<svg><image href=http://x></svg>", "<iframe src=http://x>", "<audio src=http://x>",
		"<scr<script>ipt src=http://x>",
	} {
		for size := 1; size <= len(answer); size++ {
			var before streamed
			text := ""
			for rest := answer; rest != ""; {
				piece := rest[:min(size, len(rest))]
				rest = rest[len(piece):]
				text += before.next(strings.ReplaceAll(piece, "\u200b", ""))
			}
			if fetches.MatchString(text) {
				t.Fatalf("%.40q in pieces of %d bytes: %.60q", answer, size, text)
			}
			if got, want := strings.ReplaceAll(text, " ", ""),
				strings.NewReplacer(" ", "", "\u200b", "").Replace(answer); size > 3 && got != want {
				t.Fatalf("%.40q became %.60q", answer, text)
			}
		}
	}
	for _, kept := range []string{
		"Wow! [1]", "a < b, Vec<String>, <https://x>, if x != [1]",
		"[a](http://x)", "three times!",
	} {
		if got := shown(kept); got != kept {
			t.Errorf("%q became %q", kept, got)
		}
	}
}

// A diff and an input show each character that would be written.
func TestHostileChangesAreShown(t *testing.T) {
	for _, p := range hostile.Payloads {
		line := strings.ReplaceAll(p.Text, "\n", " ")
		list := diffs(agent.Preview{Diff: "--- a.md\n+++ a.md\n@@ -1,2 +1,2 @@\n x\n-" + line + "\n+new " + line +
			"\n"}.Diffs(), strings.TrimSpace)
		if len(list) != 1 || *list[0].Diff.OldText != "x\n"+safetext.Reveal(line)+"\n" ||
			list[0].Diff.NewText != "x\n"+safetext.Reveal("new "+line)+"\n" {
			t.Errorf("%s: the diff is %+v", p.Name, list)
		}
		input, err := json.Marshal(map[string]any{"content": line, line: []any{1, line}})
		if err != nil {
			t.Fatal(err)
		}
		want := safetext.Reveal(string([]rune(line)))
		var got map[string]any
		if err := json.Unmarshal(revealed(input), &got); err != nil || got["content"] != want ||
			!reflect.DeepEqual(got[want], []any{1.0, want}) {
			t.Errorf("%s: %v: the input is %q", p.Name, err, got)
		}
	}
}
