package prompt

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"lifehub/agent"
	"lifehub/llm"
)

// Hear listens to a reply while it is streamed. It passes on reasoning, and of
// the answer only what can be nothing else: not what may be a call, a special
// token or a reference to a step. At the end, [Read] reads the whole.
type Hear struct {
	Decides bool // the answer is expected in JSON, and text is none

	whole   strings.Builder
	thought int // bytes of whole up to which reasoning was passed on; -1 after its end
	from    int // where the answer starts in whole

	answer strings.Builder // decoded from whole, without records of what was done
	held   string          // decoded, and may become a record
	coded  int             // bytes of whole decoded
	form   form
	line   int  // start of the first line of answer that is not passed on whole
	inCode bool // that line is in a fenced block
	said   int  // bytes of answer passed on

	newThought, newAnswer strings.Builder // not passed on yet
}

// form is how an answer is written.
type form int

const (
	unknownForm form = iota
	asText
	asJSON // in a string in JSON
	noAnswer
)

// envelope matches the start of an answer in JSON: members before it may be
// simple values only, so that no call precedes it.
var envelope = regexp.MustCompile("^\\s*(?:```(?:json)?\\s*)?\\{\\s*((?:\"\\w+\"\\s*:\\s*(?:\"(?:[^\"\\\\]|\\\\.)*\"|\\[\\s*\\]|true|false|null)\\s*,\\s*)*)" +
	`(?:("answer")\s*:\s*"|"input"\s*:\s*\{\s*"text"\s*:\s*")`)

var answerMember = regexp.MustCompile(`"tool"\s*:\s*"answer"`)

// Add reads the next piece of a reply, and returns the reasoning and the part of
// the answer that can be passed on now.
func (h *Hear) Add(piece string) (thought, said string) {
	h.take(piece)
	thought, said = h.newThought.String(), h.newAnswer.String()
	h.newThought.Reset()
	h.newAnswer.Reset()
	return thought, said
}

func (h *Hear) take(piece string) {
	h.whole.WriteString(piece)
	whole := h.whole.String()
	if h.thought >= 0 && !h.passThought(whole) {
		return
	}
	if h.form == unknownForm {
		h.decide(whole)
	}
	switch h.form {
	case asJSON:
		size := complete(whole[h.coded:])
		raw := whole[h.coded : h.coded+size]
		if end := stringEnd(raw); end >= 0 {
			raw, h.form = raw[:end], noAnswer
		}
		h.coded += len(raw)
		h.decoded(unquoted(raw))
	case asText:
		h.decoded(whole[h.coded:])
		h.coded = len(whole)
	default:
		return
	}
	h.pass()
}

// decoded adds the next piece of the answer.
func (h *Hear) decoded(piece string) {
	certain, held := agent.CutRecords(h.held + piece)
	if h.answer.Len() == 0 {
		certain = strings.TrimLeft(certain, " \t\r\n")
	}
	h.answer.WriteString(certain)
	h.held = held
}

// passThought passes on reasoning at the beginning of a reply, and reports
// whether it has ended, or there is none.
func (h *Hear) passThought(whole string) bool {
	begin := thinkBegin.FindStringIndex(whole)
	if begin == nil {
		h.thought = -1
		trimmed := strings.TrimLeft(whole, " \t\r\n")
		if trimmed == "" || strings.IndexByte("<[\xe2", trimmed[0]) >= 0 && len(trimmed) < 12 &&
			!strings.ContainsAny(trimmed, ">]▷") {
			h.thought = 0 // undecided; of ◁ there may be the first byte only
		}
		return h.thought < 0
	}
	h.thought = max(h.thought, begin[1])
	end := len(whole)
	closing := thinkEnd.FindStringIndex(whole[begin[1]:])
	if closing != nil {
		end = begin[1] + closing[0]
	} else if at := strings.LastIndexAny(whole, "<[◁"); at >= 0 && len(whole)-at < 30 {
		end = at
	}
	if end > h.thought {
		h.newThought.WriteString(whole[h.thought:end])
		h.thought = end
	}
	if closing == nil {
		return false
	}
	h.from, h.thought = begin[1]+closing[1], -1
	return true
}

// decide decides in which form the reply is.
func (h *Hear) decide(whole string) {
	body := whole[h.from:]
	start := strings.TrimLeft(body, " \t\r\n")
	if m := envelope.FindStringSubmatchIndex(body); m != nil {
		h.coded, h.form = h.from+m[1], noAnswer
		if m[4] >= 0 || answerMember.MatchString(body[m[2]:m[3]]) {
			h.form = asJSON
		}
		return
	}
	switch {
	case start == "":
	case strings.HasPrefix(start, "{"), strings.HasPrefix(start, "<|"):
	case strings.HasPrefix("```", start), strings.HasPrefix(start, "```") && !strings.Contains(start, "\n"):
	case mayBeHeader(start):
	case h.Decides:
	default:
		h.coded, h.form = len(whole)-len(start), asText
		if m := fenceAround.FindString(start); m != "" {
			h.coded += len(m)
		}
	}
}

// headers are what a message begins with whose special tokens the server has removed.
var headers = []string{"analysis", "assistantcommentary", "commentary to=", "to=functions"}

// mayBeHeader reports whether a reply begins with one of the headers, or may yet.
func mayBeHeader(start string) bool {
	return slices.ContainsFunc(headers, func(h string) bool {
		return strings.HasPrefix(h, start) ||
			strings.HasPrefix(start, h)
	})
}

// fenceAround matches the fence of a reply that may be wrapped whole.
var fenceAround = regexp.MustCompile("^```(?:markdown|md)[ \t]*\r?\n")

var (
	// uncertain matches what a line may begin with that is no prose.
	uncertain = regexp.MustCompile("^[ \t]*(?:[{<`\\[]|\\[\\{|>{1,3}$|>>>\\w|functools|Action|Thought|Observation|" +
		"(?:- )?(?:tool|tool_name|name|function|action):|[A-Za-z_][\\w.]*\\(|[A-Za-z_]\\w*_\\w*[ \t]*(?:[{\n" +
		"]|$)|[A-Za-z]{1,8}$)")
	// partial matches what may become a special token or a reference, at the
	// end of a line.
	partial = regexp.MustCompile(`(?:[<◁][^<>◁▷\n]{0,60}|\{|\[/?[A-Z]{0,5})$`)
)

// pass passes on what is certain of the answer.
func (h *Hear) pass() {
	answer := h.answer.String()
	for {
		line, _, whole := strings.Cut(answer[h.line:], "\n")
		end := h.line + len(line)
		if whole {
			end++
		}
		fence := strings.HasPrefix(strings.TrimSpace(line), "```")
		switch {
		case h.inCode && !whole:
			if strings.HasPrefix("```", strings.TrimSpace(line)) || fence {
				return
			}
		case h.inCode:
			h.inCode = !fence
		case fence && whole && !mayHoldCall(line):
			h.inCode = true
		case uncertain.MatchString(line):
			size := textIn(answer[h.line:], strings.TrimSpace(answer[:h.line]) == "")
			if size == 0 {
				return
			}
			end, whole = h.line+size, true
		default:
			from := max(0, h.said-h.line-rescanned) // a line can be the whole answer
			if at := suspectAt(line[from:], answer[h.line+from:], whole); at >= 0 {
				h.say(answer, h.line+from+at)
				return
			}
		}
		h.say(answer, end)
		if !whole {
			return
		}
		h.line = end
	}
}

// rescanned is how many bytes before what was passed on are looked at again, for
// code in which a token may stand.
const rescanned = 200

// suspectAt returns the offset of what is or may become a special token, the end
// of reasoning or a reference in a line, which text begins with, outside code; -1 if there is nothing of that.
func suspectAt(line, text string, whole bool) int {
	at := tokenAt(text, true)
	if at >= len(line) {
		at = -1
	}
	if m := thinkEnd.FindStringIndex(line); m != nil && !codeIn(line).has(m[0]) && (at < 0 || m[0] < at) {
		at = m[0]
	}
	if m := thinkOpen.FindStringIndex(line); m != nil && !codeIn(line).has(m[0]) && (at < 0 || m[0] < at) &&
		!namesTag(line[:m[1]]) {
		at = m[0]
	}
	if i := strings.Index(line, "{{"); i >= 0 && !codeIn(line).has(i) && (at < 0 || i < at) {
		at = i
	}
	if m := partial.FindStringIndex(line); m != nil && !whole && (at < 0 || m[0] < at) {
		at = m[0]
	}
	return at
}

// mayHoldCall reports whether a code block may hold a call, by its first line.
func mayHoldCall(fence string) bool {
	switch info := strings.ToLower(strings.Trim(fence, "` ")); info {
	case "", "json", "python", "xml", "yaml", "yml":
		return true
	default:
		return toolMark.MatchString(fence)
	}
}

// textIn returns the length of what begins like a call at the start of text, once
// it turns out to be text because of what it is or what follows; 0 while that is
// open. first reports whether nothing precedes it.
func textIn(text string, first bool) int {
	line, rest, whole := strings.Cut(text, "\n")
	size, trimmed := len(line)+1, strings.TrimSpace(line)
	switch {
	case !whole,
		toolMark.MatchString(line), control.MatchString(line),
		thinkEnd.MatchString(line), thinkBegin.MatchString(line), reAct.MatchString(trimmed),
		first && (strings.HasPrefix(trimmed, "<") || yamlCall.MatchString(text)):
		return 0
	case strings.HasPrefix(trimmed, "```"):
		end := fenceEnd.FindStringIndex(rest)
		if end == nil {
			return 0
		}
		size += end[1]
	case beginsJSON(trimmed) && len(text) <= maxDraft:
		_, length, err := llm.ReadJSON(trimmed + text[len(line):])
		if err != nil {
			return 0
		}
		size = len(line) - len(strings.TrimLeft(line, " \t")) + length
	}
	if strings.TrimSpace(text[min(size, len(text)):]) == "" {
		return 0
	}
	return size
}

var (
	fenceEnd = regexp.MustCompile("(?m)^[ \t]*```[ \t]*$")
	reAct    = regexp.MustCompile(`^(?:(?:Thought|Action|Action Input|Observation):|>>>\w+$)`)
)

// say passes on the answer up to an offset.
func (h *Hear) say(answer string, to int) {
	if to = len(strings.TrimRight(answer[:to], " \t\r\n")); to > h.said {
		h.newAnswer.WriteString(answer[h.said:to])
		h.said = to
	}
}

// Whole returns the whole reply so far.
func (h *Hear) Whole() string { return h.whole.String() }

// Said returns the part of the answer that was passed on.
func (h *Hear) Said() string { return h.answer.String()[:h.said] }

// complete returns the length of the prefix of raw, the inside of a JSON
// string, that can be decoded. An escape, a surrogate pair or a rune may be
// incomplete at its end.
func complete(raw string) int {
	for i := 0; i < len(raw); {
		rest, size := raw[i:], 1
		switch {
		case strings.HasPrefix(rest, `\u`):
			if size = 6; len(rest) < 12 && len(rest) >= 4 && strings.ContainsRune("dD", rune(rest[2])) &&
				strings.ContainsRune("89abAB", rune(rest[3])) {
				return i
			}
		case rest[0] == '\\':
			size = 2
		case !utf8.FullRuneInString(rest):
			return i
		}
		if size > len(rest) {
			return i
		}
		i += size
	}
	return len(raw)
}

// stringEnd returns the offset of the quotation mark that ends a string in JSON;
// -1 if there is none.
func stringEnd(raw string) int {
	for i := 0; i < len(raw); i++ {
		switch raw[i] {
		case '\\':
			i++
		case '"':
			return i
		}
	}
	return -1
}

// unquoted decodes the inside of a JSON string. If it has invalid escapes, it
// is returned unchanged.
func unquoted(raw string) (text string) {
	var b strings.Builder
	llm.RepairString(&b, `"`+raw+`"`)
	if json.Unmarshal([]byte(b.String()), &text) != nil {
		return raw
	}
	return text
}
