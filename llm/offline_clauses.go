package llm

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"lifehub/pattern"
)

// clause is a part of a message that asks for one thing.
type clause struct {
	text string
	call call // its tool is "" when no rule knows it: a question for the notes
}

// polite words before a command do not change it.
var polite = pattern.Lazy(`(?i)^(?:(?:please|pls|kindly|now|also|then|and|so|ok|okay|hey|hi|lifehub|can you|could you|would you|will you|i want you to|i want to|i would like to|i'd like to|i'd like you to|i need to|help me|let's|bitte|nun|dann|und|auch|kannst du|könntest du|ich möchte|ich will)(?:[,:!]\s*|\s+))+`)

// joint is where one request may end and another begin within a sentence.
var joint = pattern.Lazy(`(?i)[,;]?\s+(?:and then|then also|and also|as well as|and|then|also|und dann|und auch|dann|und)\s+`)

// maxSentences bounds how many are read as requests of their own.
const maxSentences = 24

// clauses cuts a message into its requests. A sentence that is no request of
// its own goes on with the text that the one before it takes along.
func clauses(message string, task *Task) []clause {
	if len(message) > maxRequestBytes {
		return []clause{{message, read(message, task)}}
	}
	spans := sentenceSpans(message)
	if len(spans) > maxSentences {
		spans[maxSentences-1].end = spans[len(spans)-1].end
		spans = spans[:maxSentences]
	}
	var out []clause
	for i := 0; i < len(spans); i++ {
		sentence := message[spans[i].start:spans[i].end]
		joints := maxJoints
		parts := split(sentence, task, &joints)
		if n := len(parts); n > 0 && takesText[parts[n-1].call.tool] {
			// From where the request begins to the last sentence that is none.
			begin, end := spans[i].end-len(parts[n-1].text), spans[i].end
			for i+1 < len(spans) && goesOn(message[spans[i+1].start:spans[i+1].end], task) {
				i++
				end = spans[i].end
			}
			longer := strings.TrimSpace(message[begin:end])
			if c := read(longer, task); c.tool == parts[n-1].call.tool {
				parts[n-1] = clause{longer, c}
			}
		}
		out = append(out, parts...)
	}
	return out
}

// goesOn tells whether a sentence is neither a request nor a question.
func goesOn(sentence string, task *Task) bool {
	return !asks(sentence) && read(sentence, task).tool == ""
}

// takesText are the tools whose text may be several sentences long.
var takesText = map[string]bool{"create_note": true, "append_note": true, "add_task": true, "remember": true}

// maxJoints bounds the places of a sentence that are tried.
const maxJoints = 24

// split cuts one sentence where "and" is followed by a request. joints is how
// many places may still be tried.
func split(sentence string, task *Task, joints *int) []clause {
	for _, at := range joint.FindAllStringIndex(sentence, *joints) {
		if *joints--; *joints < 0 {
			break
		}
		left, right := sentence[:at[0]], sentence[at[1]:]
		if strings.Count(left, `"`)%2 == 1 || strings.Count(left, "“") > strings.Count(left, "”") {
			continue // inside quotes
		}
		if c := read(right, task); c.tool == "" || vague[c.tool] {
			continue
		}
		return append(split(left, task, joints), split(right, task, joints)...)
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
var question = pattern.Lazy(`(?i)^(?:what|who|whom|whose|when|where|why|which|how|is|are|was|were|do|does|did|can|could|should|would|will|has|have|had|find|search|look|show|tell|list|was|wer|wann|wo|warum|wie|welche|suche|finde)\b`)

func asks(s string) bool {
	s = strings.TrimSpace(s)
	return strings.HasSuffix(s, "?") || strings.HasSuffix(s, "？") || question.MatchString(s)
}

// sentences are the sentences of a text.
func sentences(text string) []string {
	var out []string
	for _, s := range sentenceSpans(text) {
		out = append(out, text[s.start:s.end])
	}
	return out
}

type span struct{ start, end int }

// sentenceSpans cuts a text at line ends and at full stops, question and
// exclamation marks that end a sentence. Numbers, short abbreviations and
// quoted text are not cut.
func sentenceSpans(text string) []span {
	var out []span
	start, quoted := 0, false
	cut := func(end, next int) {
		s := strings.TrimLeftFunc(text[start:end], unicode.IsSpace)
		begin := end - len(s)
		if s = strings.TrimRightFunc(s, unicode.IsSpace); s != "" {
			out = append(out, span{begin, begin + len(s)})
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
