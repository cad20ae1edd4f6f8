package passage

import (
	"strings"
	"unicode/utf8"
)

// MostWindows is the maximum number of texts that a passage is embedded as.
const MostWindows = 8

// NeedsWindows reports whether passages of a size may be too long for a model.
func NeedsWindows(window, size int) bool { return roomOf(window) < size*9/8 }

// roomOf returns the number of estimated tokens, of four characters each, that fit into a
// model's window, in which a token may have 3.4.
func roomOf(window int) int { return window * 3 / 4 }

// UsualWindow is assumed for an unknown model. It is that of BERT and most of its
// descendants.
const UsualWindow = 512

// Embedded returns the texts to embed for a passage: the passage below its title and
// headings, in as many windows as the model needs to read all of it.
func Embedded(title, headings, text string, window int) []string {
	place := title
	if headings != "" && headings != title {
		place = strings.TrimPrefix(headings, title+Separator)
		if title != "" {
			place = title + Separator + place
		}
	}
	if place != "" {
		place += "\n"
	}
	room := roomOf(window)
	if EstimateTokens(place)+EstimateTokens(text) <= room {
		return []string{place + text}
	}
	if EstimateTokens(place) > room/3 {
		place = Shorten(place, max(1, room*utf8.RuneCountInString(place)/(3*EstimateTokens(place)))) + "\n"
	}
	room = max(16, room-EstimateTokens(place))
	n := max(1, min(MostWindows, (EstimateTokens(text)+room-1)/room))
	// of similar length, since a short text is near to all short texts
	w := blockWalk{text: text, size: min(room, EstimateTokens(text)/n*9/8+1)}
	w.lines(0, len(text), nil)
	var texts []string
	for _, u := range w.units[:min(len(w.units), MostWindows)] {
		texts = append(texts, place+text[u.start:u.end])
	}
	if len(texts) == 0 {
		return []string{place + text}
	}
	return texts
}
