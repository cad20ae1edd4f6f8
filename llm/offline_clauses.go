package llm

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// clause is a part of a message that asks for one thing.
type clause struct {
	text string
	call call // its tool is "" when no rule knows it: a question for the notes
}

// polite words before a command do not change it.
var polite = regexp.MustCompile(`(?i)^(?:(?:please|pls|kindly|now|also|then|and|so|ok|okay|hey|hi|lifehub|can you|could you|would you|will you|i want you to|i want to|i would like to|i'd like to|i'd like you to|i need to|help me|let's|bitte|nun|dann|und|auch|kannst du|könntest du|ich möchte|ich will)(?:[,:!]\s*|\s+))+`)

// joint is where one request may end and another begin within a sentence.
var joint = regexp.MustCompile(`(?i)[,;]?\s+(?:and then|then also|and also|as well as|and|then|also|und dann|und auch|dann|und)\s+`)

// clauses cuts a message into its requests. A sentence that is no request of
// its own goes on with the text that the one before it takes along.
func clauses(message string, task *Task) []clause {
	var out []clause
	for _, sentence := range sentences(message) {
		parts := split(sentence, task)
		last := len(out) - 1
		if last >= 0 && takesText[out[last].call.tool] && len(parts) == 1 && parts[0].call.tool == "" && !asks(parts[0].text) {
			longer := out[last].text + " " + sentence
			if c := read(longer, task); c.tool == out[last].call.tool {
				out[last] = clause{longer, c}
				continue
			}
		}
		out = append(out, parts...)
	}
	return out
}

// takesText are the tools whose text may be several sentences long.
var takesText = map[string]bool{"create_note": true, "append_note": true, "add_task": true, "remember": true}

// split cuts one sentence where "and" is followed by a request.
func split(sentence string, task *Task) []clause {
	for _, at := range joint.FindAllStringIndex(sentence, -1) {
		left, right := sentence[:at[0]], sentence[at[1]:]
		if strings.Count(left, `"`)%2 == 1 || strings.Count(left, "“") > strings.Count(left, "”") {
			continue // inside quotes
		}
		if c := read(right, task); c.tool == "" || vague[c.tool] {
			continue
		}
		return append(split(left, task), split(right, task)...)
	}
	sentence = strings.TrimSpace(sentence)
	if sentence == "" {
		return nil
	}
	return []clause{{sentence, read(sentence, task)}}
}

// vague are the tools whose rules also match half a sentence: "time and date".
var vague = map[string]bool{"today": true, "calculate": true}

// asks tells whether a sentence is a question.
var question = regexp.MustCompile(`(?i)^(?:what|who|whom|whose|when|where|why|which|how|is|are|was|were|do|does|did|can|could|should|would|will|has|have|had|find|search|look|show|tell|list|was|wer|wann|wo|warum|wie|welche|suche|finde)\b`)

func asks(s string) bool {
	s = strings.TrimSpace(s)
	return strings.HasSuffix(s, "?") || strings.HasSuffix(s, "？") || question.MatchString(s)
}

// sentences cuts a text at line ends and at full stops, question and
// exclamation marks that end a sentence. Numbers, short abbreviations and
// quoted text are not cut.
func sentences(text string) []string {
	var out []string
	start, quoted := 0, false
	cut := func(end, next int) {
		if s := strings.TrimSpace(text[start:end]); s != "" {
			out = append(out, s)
		}
		start = next
	}
	for i, r := range text {
		next := i + utf8.RuneLen(r)
		switch {
		case r == utf8.RuneError:
		case r == '"':
			quoted = !quoted
		case r == '“' || r == '„':
			quoted = true
		case r == '”':
			quoted = false
		case r == '\n':
			cut(i, next)
			quoted = false
		case quoted:
		case strings.ContainsRune("。！？", r):
			cut(next, next)
		case strings.ContainsRune(".!?", r) && endsSentence(text[start:i], text[next:], r):
			cut(next, next)
		}
	}
	cut(len(text), len(text))
	return out
}

// endsSentence tells whether the mark between two texts is the end of a
// sentence: white space follows, and before it stands no abbreviation or number.
func endsSentence(before, after string, mark rune) bool {
	if after != "" {
		if r, _ := utf8.DecodeRuneInString(after); !unicode.IsSpace(r) {
			return false
		}
	}
	if mark != '.' || after == "" {
		return true
	}
	word := before[strings.LastIndexAny(before, " \t(")+1:]
	if strings.Contains(word, ".") { // e.g., z.B.
		return false
	}
	switch strings.ToLower(word) {
	case "dr", "mr", "mrs", "ms", "prof", "st", "vs", "etc", "approx", "no", "nr", "ca", "bzw", "usw":
		return false
	}
	r, _ := utf8.DecodeLastRuneInString(word)
	short := utf8.RuneCountInString(word) < 2
	number := strings.IndexFunc(word, func(r rune) bool { return !unicode.IsDigit(r) }) < 0
	return unicode.IsLetter(r) && !short || unicode.IsDigit(r) && !number || !unicode.IsLetter(r) && !unicode.IsDigit(r) ||
		number && startsUpper(after) && len(word) > 2
}

func startsUpper(s string) bool {
	r, _ := utf8.DecodeRuneInString(strings.TrimSpace(s))
	return unicode.IsUpper(r)
}
