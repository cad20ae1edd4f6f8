package tools

import (
	"strings"

	"lifehub/notes"
)

// MarkForeign is a note that foreign text had a part in, with front matter that
// says so, by which the note is known as foreign later. kind is what the front
// matter calls it, such as document.
func MarkForeign(text, kind string) string {
	if isForeign(text) {
		return text
	}
	const key, says = "source", "text from elsewhere had a part in this "
	mark := key + ": " + says + kind + "\n"
	if head, isFront := strings.CutPrefix(text, "---\n"); isFront {
		if marked := "---\n" + mark + head; parse(marked).Front[key] == says+kind {
			return marked
		}
	}
	return "---\n" + mark + "---\n\n" + text // also before front matter that cannot hold it
}

func isForeign(text string) bool { return parse(text).Foreign }

func parse(text string) notes.Note { return notes.Parse(notes.Entry{Path: "note.md"}, []byte(text)) }
