package acp

import (
	"regexp"
	"strings"
	"testing"
)

// No renderer may find an image in an answer, in whatever pieces it comes.
func TestImagesAreTakenOut(t *testing.T) {
	fetches := regexp.MustCompile(`!\[|(?i)<(img|image|picture|source|video|audio|iframe|object|script|svg)[\s/>]`)
	for _, answer := range []string{
		"![a](http://x/?q)", "![a]\n\n[a]: http://x", "![a][b]\n\n[b]: http://x", "![a\nb](http://x)", "![a[b]c](http://x)", `![a\]b](http://x)`,
		"!![a](http://x)", "![![a](http://x)](http://x)", `\![a](http://x)`, "!\u200b[a](http://x)", "![" + strings.Repeat("a", 500) + "](http://x)",
		"<img src=http://x>", `\<img src=http://x>`, "<IMG\tSRC=http://x>", "<<img src=http://x>", "<picture><source srcset=http://x></picture>",
		"<object data=http://x>", "<svg><image href=http://x></svg>", "<iframe src=http://x>", "<audio src=http://x>", "<scr<script>ipt src=http://x>",
	} {
		for size := 1; size <= len(answer); size++ {
			var before streamed
			said := ""
			for rest := answer; rest != ""; {
				piece := rest[:min(size, len(rest))]
				rest = rest[len(piece):]
				said += before.next(strings.ReplaceAll(piece, "\u200b", ""))
			}
			if fetches.MatchString(said) {
				t.Fatalf("%.40q in pieces of %d bytes: %.60q", answer, size, said)
			}
			if got, want := strings.ReplaceAll(said, " ", ""), strings.NewReplacer(" ", "", "\u200b", "").Replace(answer); size > 3 && got != want {
				t.Fatalf("%.40q became %.60q", answer, said)
			}
		}
	}
	for _, kept := range []string{"Wow! [1]", "a < b, Vec<String>, <https://x>, if x != [1]", "[a](http://x)", "three times!"} {
		if got := shown(kept); got != kept {
			t.Errorf("%q became %q", kept, got)
		}
	}
}
