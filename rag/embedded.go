package rag

import (
	"strings"
	"unicode/utf8"
)

// mostWindows is how many texts a passage is embedded as at most.
const mostWindows = 8

// needsWindows tells whether some passages of a size are too long for a model.
func needsWindows(window, size int) bool { return roomOf(window) < size*9/8 }

// roomOf is how many estimated tokens, of four letters each, surely fit into
// a model's window: it may make one of 3.4 letters of plain English.
func roomOf(window int) int { return window * 3 / 4 }

// usualWindow is taken for a model of which nothing is known: that of BERT and
// most of its descendants.
const usualWindow = 512

// embeddedTexts are a passage as the embedder sees it: with the title and the
// headings it stands under, which its own words often take for granted, in as
// many windows as the model needs to read it all.
func embeddedTexts(title, headings, text string, window int) []string {
	place := title
	if headings != "" && headings != title {
		place = strings.TrimPrefix(headings, title+headingSeparator)
		if title != "" {
			place = title + headingSeparator + place
		}
	}
	if place != "" {
		place += "\n"
	}
	room := roomOf(window)
	if estimateTokens(place)+estimateTokens(text) <= room {
		return []string{place + text}
	}
	if estimateTokens(place) > room/3 {
		place = shorten(place, max(1, room*utf8.RuneCountInString(place)/(3*estimateTokens(place)))) + "\n"
	}
	room = max(16, room-estimateTokens(place))
	n := max(1, min(mostWindows, (estimateTokens(text)+room-1)/room))
	w := blockWalk{text: text, size: min(room, estimateTokens(text)/n*9/8+1)} // alike in length: a short one is near to everything short
	w.lines(0, len(text), nil)
	var texts []string
	for _, u := range w.units[:min(len(w.units), mostWindows)] {
		texts = append(texts, place+text[u.start:u.end])
	}
	if len(texts) == 0 {
		return []string{place + text}
	}
	return texts
}
