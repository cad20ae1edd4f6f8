package passage

import (
	"strings"
	"unicode/utf8"
)

// MostWindows is how many texts a passage is embedded as at most.
const MostWindows = 8

// NeedsWindows reports whether some passages of a size are too long for a model.
func NeedsWindows(window, size int) bool { return roomOf(window) < size*9/8 }

// roomOf is how many estimated tokens, of four letters each, surely fit into
// a model's window: it may make one of 3.4 letters of plain English.
func roomOf(window int) int { return window * 3 / 4 }

// UsualWindow is taken for a model of which nothing is known: that of BERT and
// most of its descendants.
const UsualWindow = 512

// Embedded are a passage as the embedder sees it: with the title and the
// headings it stands under, which its own words often take for granted, in as
// many windows as the model needs to read it all.
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
	w := blockWalk{text: text, size: min(room, EstimateTokens(text)/n*9/8+1)} // alike in length: a short one is near to everything short
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
