package turn

import (
	"strings"

	"lifehub/agent"
	"lifehub/internal/pattern"
	"lifehub/internal/text"
	"lifehub/llm"
)

// draft is an answer that waits until it is known what it rests on.
type draft struct {
	on     bool
	kind   string // of the message, by the model's word
	byForm bool   // by its form, the message needs no notes
	text   strings.Builder
}

// HoldDraft keeps back what is said as long as no tool was called, unless the
// message needs no notes.
func (a *answer) HoldDraft() {
	a.draft.on = len(a.With) == 0 && a.steps.Attached == 0
	a.draft.byForm = isBrief(a.Question) || holdsText.MatchString(a.Question)
}

// IsDraft reports whether the answer comes from memory: no tool was called, and the
// message is neither small talk, nor about the last answer, nor a text to work on.
func (a *answer) IsDraft() bool {
	return a.draft.on && !a.steps.HasCalled() && !needsNoNotes(a.draft.kind, a.draft.byForm)
}

// SayAsIs streams what the program itself answers, which no notes can change.
func (a *answer) SayAsIs(text string) {
	a.draft.on = false
	a.Say(text)
}

func (a *answer) sayOrHold(text string) {
	if a.IsDraft() {
		a.draft.text.WriteString(text)
		return
	}
	a.Release()
	a.events.Say(text)
}

// Release streams what was kept back.
func (a *answer) Release() { a.events.Say(a.TakeDraft()) }

// TakeDraft returns what was kept back, which is then not said.
func (a *answer) TakeDraft() (held string) {
	held = a.draft.text.String()
	a.draft.text.Reset()
	return held
}

// Said is the answer so far, with what is kept back of it.
func (a *answer) Said() string { return a.events.Said() + a.draft.text.String() }

// HasSaid reports whether there is something of an answer.
func (a *answer) HasSaid() bool { return a.Said() != "" }

// The kinds of messages, as a model that answers at once names them.
const (
	smallTalk = "talk"
	onAnswer  = "last answer"
	givenText = "text"
	otherwise = "other"
)

// KindsSchema is the JSON Schema of the kind that a model gives to a message.
const KindsSchema = `{"type":"string","enum":["` + smallTalk + `","` + onAnswer + `","` + givenText + `","` + otherwise + `"]}`

// needsNoNotes reports whether a message needs no notes: by the kind that the model
// named, else by the message's form.
func needsNoNotes(kind string, byForm bool) bool {
	switch kind {
	case smallTalk, onAnswer, givenText:
		return true
	case otherwise:
		return false
	}
	return byForm
}

// fewWords is the length up to which a message that asks nothing is talk.
const fewWords = 5

// isBrief reports whether a message is a few words that ask nothing: talk, or a wish
// about the last answer.
func isBrief(message string) bool {
	words, telling, in := 0, false, text.Language(message)
	for w := range text.Words(message) {
		words++
		telling = telling || !text.StopWord(text.Fold(w.Text), in)
	}
	return !telling || words <= fewWords && !strings.ContainsAny(message, "?？؟\u037e")
}

// holdsText matches a message with a text in it: a second line, or at least four
// words behind a colon or in quotation marks.
var holdsText = pattern.Lazy(`\n|(?::\s+|["“„«])(?:[^\s"“”„«»]+\s+){3}`)

// RestsOn reports whether most of what an answer says was said before: it shortens,
// lists or repeats that.
func RestsOn(answer, before string) bool {
	said := map[string]bool{}
	for w := range text.Words(before) {
		said[text.Fold(w.Text)] = true
	}
	all, known, in := 0, 0, text.Language(answer)
	for w := range text.Words(answer) {
		if word := text.Fold(w.Text); !text.StopWord(word, in) {
			if all++; said[word] {
				known++
			}
		}
	}
	return known > 0 && 2*known >= all
}

// LastAnswer is the last answer of the conversation; "": there is none.
func (a *answer) LastAnswer() string {
	for i := len(a.recalled.History) - 1; i >= 0; i-- {
		if m := a.recalled.History[i]; m.Role == llm.Assistant {
			return agent.WithoutRecord(m.Text)
		}
	}
	return ""
}
