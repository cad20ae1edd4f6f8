package turn

import (
	"regexp"
	"slices"
	"strings"

	"lifehub/agent"
	"lifehub/agent/prompt"
	"lifehub/internal/text"
	"lifehub/llm"
)

// needsNoNotes reports whether a message is small talk, about the last answer, or
// a text to work on, going by its form.
func needsNoNotes(message string) bool { return isBrief(message) || holdsText.MatchString(message) }

// fewWords is the greatest number of words in a message without a question that
// counts as small talk.
const fewWords = 5

// questionMarks end questions in the scripts that have their own.
const questionMarks = "?？؟\u037e"

// isBrief reports whether a message is small talk, or a request about the last answer: it has only stop words, or a few
// words and no question mark.
func isBrief(message string) bool {
	words, telling, in := 0, false, text.Language(message)
	for w := range text.Words(message) {
		words++
		telling = telling || !text.StopWord(text.Fold(w.Text), in)
	}
	return !telling || words <= fewWords && !strings.ContainsAny(message, questionMarks)
}

// holdsText matches a message that contains a text to work on: a second line, or
// at least four words after a colon or in quotation marks.
var holdsText = regexp.MustCompile(`\n|(?::\s+|["“„«])(?:[^\s"“”„«»]+\s+){3}`)

// restsOn reports whether at least half of an answer's words, stop words aside, occur in an earlier text, which the
// answer then shortens, lists or repeats.
func restsOn(answer, before string) bool {
	earlier := map[string]bool{}
	for w := range text.Words(before) {
		earlier[text.Fold(w.Text)] = true
	}
	all, known, in := 0, 0, text.Language(answer)
	for w := range text.Words(answer) {
		if word := text.Fold(w.Text); !text.StopWord(word, in) {
			if all++; earlier[word] {
				known++
			}
		}
	}
	return known > 0 && 2*known >= all
}

// notThere is the answer of a small model, and to one that invents, if the notes do
// not say it.
const notThere = "That is not in your notes."

// needsNoSource reports whether an answer makes no claim of its own: it only asks,
// says that the notes do not say it, repeats an exchange of the conversation or the prompt's date or list of
// missing tools, or contains the result of a tool that only computes.
func (t *turn) needsNoSource(written string) bool {
	for _, f := range t.steps.found {
		if agent.PropertiesOf(t.tool(f.step.Tool)).Use == agent.Computes &&
			hasNewWord(written, f.Result.Text, t.message.question) {
			return true
		}
	}
	texts := []string{t.today(), prompt.Unavailable(t.missing)}
	for i, m := range t.recalled.History {
		if m.Role == llm.Assistant && i > 0 {
			m.Text = t.recalled.History[i-1].Text + "\n" + m.Text // an answer is about what was asked
		}
		texts = append(texts, m.Text)
	}
	return strings.TrimSpace(written) == notThere || onlyAsks(written) ||
		slices.ContainsFunc(texts, func(text string) bool { return restsOn(written, text) })
}

// onlyAsks reports whether each sentence of an answer is a question.
func onlyAsks(answer string) bool {
	for _, s := range text.Sentences(answer) {
		if sentence := strings.TrimSpace(answer[s.Start:s.End]); sentence != "" &&
			strings.TrimRight(sentence, questionMarks) == sentence {
			return false
		}
	}
	return strings.TrimSpace(answer) != ""
}

// hasNewWord reports whether an answer has a word of a result that the question lacks.
func hasNewWord(answer, result, question string) bool {
	old, in := map[string]bool{}, text.Language(question)
	for w := range text.Words(question) {
		old[text.Fold(w.Text)] = true
	}
	inAnswer := map[string]bool{}
	for w := range text.Words(answer) {
		inAnswer[text.Fold(w.Text)] = true
	}
	for w := range text.Words(result) {
		if word := text.Fold(w.Text); inAnswer[word] && !old[word] && !text.StopWord(word, in) {
			return true
		}
	}
	return false
}
