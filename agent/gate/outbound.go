package gate

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"lifehub/agent"
	"lifehub/agent/args"
	"lifehub/internal/text"
	"lifehub/llm"
)

const (
	// maxDeviations bounds the small deviations from the user's own words in all
	// calls of a turn (see [outbound]). Each could carry a few bits of what was
	// read.
	maxDeviations = 2
	// maxNew bounds the words listed in a permission question.
	maxNew = 8
)

// notFromUser lists the words of an outbound call that the user did not type in
// this conversation; nil if the call may run without asking. It is always nil
// while the prompts contain only what the user typed: text that was never read
// cannot leak.
func (g *Guard) notFromUser(c Call, made Origin) []string {
	typed, others := g.typedTexts(c.Name(), made)
	if !others || slices.Contains(typed, c.Input.Canonical()) {
		return nil
	}
	o := outbound{user: newVocabulary(typed, g.Record.Stream.Now()), used: map[string]int{}}
	if server, reads := agent.ServerOf(c.Tool); reads {
		o.server = g.Record.Brought(server)
	}
	if given, err := c.Input.Object(); err == nil {
		o.value(given, args.ShapeOf(c.Tool.Spec().Schema), 0)
	} else {
		o.text(c.Input.String())
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	all := o.deviations
	for _, earlier := range g.deviations {
		if !slices.Contains(o.deviations, earlier) {
			all = append(slices.Clip(all), earlier)
		}
	}
	switch {
	case len(o.new) > 0:
		return firstNew(o.new)
	case len(o.deviations) > 0 && len(all) > maxDeviations:
		return firstNew(o.deviations)
	}
	g.deviations = all
	return nil
}

// RecallDeviations counts the deviations of a call that started before the turn
// was interrupted.
func (g *Guard) RecallDeviations(tool agent.Tool, input args.Input) {
	g.notFromUser(Call{Tool: tool, Input: input}, Origin{Private: []string{"what was read before"}})
}

// typedTexts returns what the user typed in this conversation, as far as it is in the
// prompts, together with the hosts that rules allow for the tool and the
// arguments that the user allowed before. others reports whether the prompts
// contain anything else.
func (g *Guard) typedTexts(tool string, made Origin) (typed []string, others bool) {
	p := g.Prompts()
	typed = slices.Concat([]string{p.Instructions}, g.Gate.allowedOut(g.Record.Conversation, tool), g.Gate.hosts(tool))
	others = len(made.Untrusted)+len(made.Private) > 0 || p.Recalled
	for _, m := range append(slices.Clip(p.History), llm.Message{Role: llm.User, Text: p.Question}) {
		own, brought := "", m.Text
		if m.Role == llm.User {
			own, brought = g.Record.Split(m.Text)
		}
		typed, others = append(typed, own), others || strings.TrimSpace(brought) != ""
	}
	return typed, others
}

// outbound compares the arguments of a call with what the user typed. A typed
// word is free, as often as it occurs in one message. Small differences count as
// deviations: another form of a typed word, a function word, a punctuation mark,
// a date derived from a typed one, a value listed in the tool's schema.
// Anything else is new.
type outbound struct {
	user       *vocabulary
	used       map[string]int // how often each word has occurred so far
	server     []string       // this turn's results from the tool's own server
	new        []string
	deviations []string
}

// firstNew returns the first maxNew distinct words.
func firstNew(words []string) (list []string) {
	for _, word := range words {
		if len(list) == maxNew {
			return append(list, "and more")
		}
		if word = text.Clip(word, 60); !slices.Contains(list, word) {
			list = append(list, word)
		}
	}
	return list
}

// full reports whether enough new words were found.
func (o *outbound) full() bool { return len(o.new) > maxNew }

// value compares one value of the arguments with its schema. The arguments are
// at depth 0, and an argument may be a list or an object; deeper nesting, or an
// empty nested value, is a deviation.
func (o *outbound) value(value any, s args.Shape, depth int) {
	if o.full() || len(s.Default) > 0 && sameJSON(value, s.Default) {
		return
	}
	switch v := value.(type) {
	case string:
		switch {
		case v == "":
			o.deviation(`""`)
		case slices.Contains(s.Enum, value) && o.user.count[strings.ToLower(v)] == 0:
			o.deviation(v)
		case o.brought(v):
		default:
			o.text(v)
		}
	case json.Number:
		if s.Lists(v) && o.user.count[v.String()] == 0 {
			o.deviation(v.String())
		} else if !o.brought(v.String()) {
			o.text(v.String())
		}
	case []any:
		items := args.Shape{}
		if s.Items != nil {
			items = *s.Items
		}
		o.nest(len(v), "[]", depth)
		for _, item := range v {
			o.value(item, items, depth+1)
		}
	case map[string]any:
		o.nest(len(v), "{}", depth)
		for _, name := range slices.Sorted(maps.Keys(v)) {
			property, known := s.Properties[name]
			if !known {
				o.text(name)
			}
			o.value(v[name], property, depth+1)
		}
	default: // null, true, false
		o.deviation(fmt.Sprint(v))
	}
}

// leastBrought is the length of the shortest value that may be copied from the
// server's own results. With shorter ones, such as page numbers, a series of
// calls could spell out a text that the server has not seen.
const leastBrought = 4 // characters

// brought reports whether value occurs as a whole word in this turn's results
// from the tool's own server. Sending it back discloses nothing.
func (o *outbound) brought(value string) bool {
	if utf8.RuneCountInString(value) < leastBrought {
		return false
	}
	isWord := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r) }
	for _, text := range o.server {
		for from := 0; ; {
			at := strings.Index(text[from:], value)
			if at < 0 {
				break
			}
			at += from
			before, _ := utf8.DecodeLastRuneInString(text[:at])
			after, _ := utf8.DecodeRuneInString(text[at+len(value):])
			if !isWord(before) && !isWord(after) {
				return true
			}
			from = at + len(value)
		}
	}
	return false
}

func (o *outbound) nest(items int, sign string, depth int) {
	if depth > 1 || depth == 1 && items == 0 {
		o.deviation(sign)
	}
}

// text compares a text word by word, and the characters between the words.
func (o *outbound) text(text string) {
	before, wasNew := "", false
	for between, word := range wordsBetween(text) {
		if o.full() {
			return
		}
		o.between(before, between, word)
		isNew := word != "" && !o.word(word)
		switch {
		case isNew && wasNew && between == "":
			o.new[len(o.new)-1] += word // r2d2 is one name
		case isNew:
			o.new = append(o.new, word)
		}
		before, wasNew = word, isNew
	}
}

// between compares the characters between two words; an empty word is the start
// or end of the text. One space is free, and so is what the user typed in the
// same place.
func (o *outbound) between(before, signs, after string) {
	inside := before != "" && after != ""
	padded := before == "" && signs != strings.TrimLeftFunc(signs, unicode.IsSpace) || after == "" && signs != strings.TrimRightFunc(signs, unicode.IsSpace)
	switch {
	case signs == " " && inside, signs == "" && !inside, !padded && o.user.wrote(before+signs+after):
		return
	case signs == "":
		o.deviation(before + after)
	}
	for _, r := range signs {
		switch {
		case r >= ' ' && r <= '~', o.user.wrote(string(r)) && r > '~':
			o.deviation(signName(r))
		default:
			o.new = append(o.new, signName(r))
		}
	}
}

// word counts the deviations of a word. It reports false if the word is new.
func (o *outbound) word(word string) bool {
	deviations, known := o.user.price(word)
	if !known {
		return false
	}
	if o.used[word]++; o.used[word] > max(1, o.user.times(word)) {
		deviations++
	}
	for range deviations {
		o.deviation(word)
	}
	return true
}

func (o *outbound) deviation(text string) {
	if len(o.deviations) <= maxDeviations+maxNew {
		o.deviations = append(o.deviations, text)
	}
}
