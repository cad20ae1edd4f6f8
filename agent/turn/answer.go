package turn

import (
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"lifehub/agent"
	"lifehub/agent/memory"
	"lifehub/agent/prompt"
	"lifehub/internal/text"
	"lifehub/llm"
)

// answer is what the answer of a turn rests on; its text is in the events.
type answer struct {
	sources      []agent.Source // numbered: the notes at the beginning of the prompts, what the steps found, the facts
	before       []agent.Source // the notes as they are at the beginning of the prompts
	whole        int            // number of sources that are those notes, or new ones since
	foundSources int            // number of sources that are not facts

	coverage       *agent.Coverage  // of the last search; nil if there was none
	unanswered     bool             // the notes hardly contain an answer; the text begins with that
	nearestSources []agent.Source   // if unanswered: the closest sources
	close          bool             // if unanswered: they are related to the question
	lacking        string           // note about missing information, for the model; "" if none
	passageList    string           // end of the answer: a list of passages, without a model
	listed         []agent.Citation // passages in passageList; At is relative to its start

	citations *[]agent.Citation // nil if not checked yet
}

// pass shows what is certain of a reply while it is streamed.
func (t *turn) pass(p prompt.Prompt, thought, said string) {
	if thought != "" {
		t.events.Emit(agent.Thought{Agent: p.Agent, Step: p.Step, Content: thought})
	}
	if said != "" {
		t.events.Say(said)
	}
}

// settle makes text what was said of a reply: it takes back what is not in it,
// and says the rest.
func (t *turn) settle(said, text string) {
	same := 0
	for same < min(len(said), len(text)) && said[same] == text[same] {
		same++
	}
	for same > 0 && same < len(said) && !utf8.RuneStart(said[same]) ||
		same > 0 && same < len(text) && !utf8.RuneStart(text[same]) {
		same--
	}
	if same < len(said) {
		t.events.Unsay(len(said) - same)
	}
	if same < len(text) {
		t.events.Say(text[same:])
	}
}

// attachTool is the tool name used for attachments among the results.
const attachTool = "read_resource"

// maxAnswerTokens bounds an answer, for a model that never stops.
const maxAnswerTokens = 8192

var (
	//go:embed prompts/common.md
	commonPrompt string
	// directPrompt is for agents that decide whether a message needs tools.
	//
	//go:embed prompts/direct.md
	directPrompt string
	// answeringPrompt is for agents whose text the user reads.
	//
	//go:embed prompts/answering.md
	answeringPrompt string
)

// prompt returns the prompt of an agent that sees the conversation; system has
// its own parts. Everything that changes between turns is in the last message,
// so that a server can cache the rest.
func (t *turn) prompt(who string, system ...string) prompt.Prompt {
	fence := t.fence()
	return t.withConversation(prompt.Prompt{
		Agent: who, System: strings.TrimSpace(strings.TrimSpace(t.agent.Instructions) + "\n\n" + commonPrompt + "\n" +
			strings.Join(system, "\n")), Today: t.today(), Fence: fence,
		Material: append(t.recalled.FactPart(0, fence), t.recalled.PastParts(fence)...), Question: t.message.question,
	})
}

// withConversation adds what was said before to a prompt.
func (t *turn) withConversation(p prompt.Prompt) prompt.Prompt {
	p.Summary, p.Omitted, p.History, p.Record = t.recalled.Summary.Text, t.recalled.Omitted, t.recalled.Seen,
		t.recalled.Record
	return p
}

// hasText reports whether the answer has any text yet.
func (t *turn) hasText() bool { return t.events.Text() != "" }

// today returns a sentence with the date.
func (t *turn) today() string {
	now := t.events.Now()
	_, week := now.ISOWeek()
	return fmt.Sprintf("Today is %s, week %d.", memory.Date(now), week)
}

// maxTopic bounds the part of an attachment used as a search query, in bytes.
const maxTopic = 500

// topic returns the subject of the message: the typed text, or else an
// attachment. It is used for searching and quoting, never for planning a call.
func (t *turn) topic() string {
	if t.message.question != agent.NothingTyped || len(t.message.attached) == 0 {
		return t.typedText()
	}
	return text.Clip(t.message.attached[0].Text, maxTopic)
}

// typedBefore returns the history with only the typed parts of the user's messages.
func (t *turn) typedBefore() []llm.Message {
	list := slices.Clone(t.recalled.History)
	for i, m := range list {
		if m.Role == llm.User {
			list[i].Text = agent.ParseMessage(m.Text).Text
		}
	}
	return list
}

// fence returns the mark around untrusted text. It changes with each turn, so
// that no note can contain it.
func (t *turn) fence() string {
	sum := sha256.Sum256([]byte("fence " + t.events.Turn + t.record.Conversation))
	return "«" + hex.EncodeToString(sum[:4]) + "»"
}

// toolFence returns the mark around descriptions by servers and around records of
// earlier turns. It is constant within a conversation, so that the prompt can be
// cached.
func (t *turn) toolFence() string {
	sum := sha256.Sum256([]byte("tools " + t.record.Conversation))
	return "«" + hex.EncodeToString(sum[:4]) + "»"
}

// marked returns untrusted text between the fence marks of the turn.
func (t *turn) marked(head, words string, limit int) string {
	return prompt.Part{Head: head, Text: text.Clip(words, limit), Fence: t.fence()}.String()
}

// typedText returns what the user typed in this turn: the message, and those sent
// while it was answered.
func (t *turn) typedText() string {
	all := t.message.question
	for _, h := range t.message.received {
		all += "\n\n" + h.typed
	}
	return all
}
