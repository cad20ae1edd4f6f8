package passage

import (
	"strings"
	"unicode/utf8"
)

// UsualWindow is assumed for an unknown model. It is that of BERT and most of its
// descendants.
const UsualWindow = 512

// Embedded returns the text to embed for a passage: the passage below its title and
// headings, as far as a model with this window reads it.
func Embedded(title, headings, text string, window int) string {
	place := title
	if headings != "" && headings != title {
		place = strings.TrimPrefix(headings, title+Separator)
		if title != "" {
			place = title + Separator + place
		}
	}
	if place != "" {
		text = place + "\n" + text
	}
	room := window * 3 / 4 // of four characters each; a token may have 3.4
	if tokens := EstimateTokens(text); tokens > room {
		text = Shorten(text, room*utf8.RuneCountInString(text)/tokens)
	}
	return text
}
