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
	// maxLiberties is how many small things that the user did not say the calls
	// of a turn may hold (see [outbound]). Each can carry a few bits of what was
	// read.
	maxLiberties = 2
	// maxNew bounds the words that a question names.
	maxNew = 8
)

// notFromUser lists what an outbound call holds that the user did not say in this
// conversation; nil: nothing to ask about. Nothing is unsaid as long as the
// prompts hold nothing but what the user typed: what nobody read cannot leave.
func (g *Guard) notFromUser(c Call, made Origin) []string {
	typed, others := g.said(c.Name(), made)
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
	all := o.liberties
	for _, earlier := range g.liberties {
		if !slices.Contains(o.liberties, earlier) {
			all = append(slices.Clip(all), earlier)
		}
	}
	switch {
	case len(o.new) > 0:
		return firstNew(o.new)
	case len(o.liberties) > 0 && len(all) > maxLiberties:
		return firstNew(o.liberties)
	}
	g.liberties = all
	return nil
}

// RecallLiberties counts those of a call that began before the turn was interrupted.
func (g *Guard) RecallLiberties(tool agent.Tool, input args.Input) {
	g.notFromUser(Call{Tool: tool, Input: input}, Origin{Private: []string{"what was read before"}})
}

// said returns what the user typed in this conversation, as far as it is in
// the prompts, the hosts that rules let the tool ask, and what was allowed to
// go out through it. others: something else is in the prompts.
func (g *Guard) said(tool string, made Origin) (typed []string, others bool) {
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

// outbound compares a call's arguments with what the user said. A word as it
// was typed is free, as often as one message holds it. Small differences are
// liberties: another form of a said word, a function word, a sign, a date that
// follows from what was said, a value that the tool's schema lists. Anything
// else is new.
type outbound struct {
	user      *vocabulary
	used      map[string]int // how often a word came so far
	server    []string       // what the server of a tool that may read on brought in this turn
	new       []string
	liberties []string
}

// firstNew returns the first of the words, each once.
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

// full reports whether no more has to be looked at.
func (o *outbound) full() bool { return len(o.new) > maxNew }

// value compares a value of the arguments, which are at depth 0, with what the
// schema says of it. An argument may be a list or an object; what nests deeper
// is a liberty, as is what holds nothing.
func (o *outbound) value(value any, s args.Shape, depth int) {
	if o.full() || len(s.Default) > 0 && sameJSON(value, s.Default) {
		return
	}
	switch v := value.(type) {
	case string:
		switch {
		case v == "":
			o.liberty(`""`)
		case slices.Contains(s.Enum, value) && o.user.count[strings.ToLower(v)] == 0:
			o.liberty(v)
		case o.brought(v):
		default:
			o.text(v)
		}
	case json.Number:
		if s.Lists(v) && o.user.count[v.String()] == 0 {
			o.liberty(v.String())
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
		o.liberty(fmt.Sprint(v))
	}
}

// leastBrought is the shortest value that a call may take from what its server brought.
// Of shorter ones, such as the digits of a page's number, many calls could spell a
// text that the server has not seen.
const leastBrought = 4 // characters

// brought reports whether a value stands in what the tool's own server brought in this
// turn, whole and apart from other words: it tells the server nothing.
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
		o.liberty(sign)
	}
}

// text compares a text, word by word, and what stands between the words.
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

// between compares what stands between two words; "" is where the text begins
// or ends. One blank is free, and so is what the user typed there.
func (o *outbound) between(before, signs, after string) {
	inside := before != "" && after != ""
	padded := before == "" && signs != strings.TrimLeftFunc(signs, unicode.IsSpace) || after == "" && signs != strings.TrimRightFunc(signs, unicode.IsSpace)
	switch {
	case signs == " " && inside, signs == "" && !inside, !padded && o.user.wrote(before+signs+after):
		return
	case signs == "":
		o.liberty(before + after)
	}
	for _, r := range signs {
		switch {
		case r >= ' ' && r <= '~', o.user.wrote(string(r)) && r > '~':
			o.liberty(signName(r))
		default:
			o.new = append(o.new, signName(r))
		}
	}
}

// word counts the liberties of a word. It reports false for one that is new.
func (o *outbound) word(word string) bool {
	liberties, known := o.user.price(word)
	if !known {
		return false
	}
	if o.used[word]++; o.used[word] > max(1, o.user.times(word)) {
		liberties++
	}
	for range liberties {
		o.liberty(word)
	}
	return true
}

func (o *outbound) liberty(text string) {
	if len(o.liberties) <= maxLiberties+maxNew {
		o.liberties = append(o.liberties, text)
	}
}
