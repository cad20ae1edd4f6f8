package turn

import (
	"context"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"lifehub/agent"
	"lifehub/agent/agenttest"
	"lifehub/agent/citation"
	"lifehub/agent/events"
	"lifehub/agent/fingerprint"
	"lifehub/agent/gate"
	"lifehub/agent/memory"
	"lifehub/internal/testenv"
)

// Counts true answers that are wrongly said to name an unread path: answers made from
// what they cite, and notes on programming used as answers of a model that read
// nothing, which name many files that are not notes.
func TestTrueAnswersAreRarelyMarked(t *testing.T) {
	marks := func(said string, read ...agent.Source) int {
		answer := emptyAnswer()
		answer.record.Read("search_notes", agent.Result{Sources: read})
		return len(answer.unread(t.Context(), said))
	}
	text, err := os.ReadFile(testenv.Shared(t, "data/claims/cases.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	all, marked := 0, 0
	for line := range strings.Lines(string(text)) {
		var c struct {
			True    bool
			Answer  string
			Sources []string
		}
		if err := json.Unmarshal([]byte(line), &c); err != nil {
			t.Fatal(err)
		}
		if !c.True {
			continue
		}
		all++
		if marks(c.Answer, agent.Source{Path: "a.md", Line: 1, EndLine: 99}) > 0 {
			marked++
		}
	}
	t.Logf("%d of %d true answers name a page that was not read", marked, all)
	if all < 1000 || marked*100 > all {
		t.Errorf("%d of %d true answers are marked", marked, all)
	}
	all, marked = 0, 0
	for _, s := range agenttest.Passages(t, "data/corpora/til-jbranchaud", 3000) {
		all++
		if slices.ContainsFunc(citation.PlacesIn(s.Text), func(p citation.NamedPlace) bool { return !agent.OnWeb(p.Name) && !p.Bracketed }) {
			marked++
		}
	}
	t.Logf("%d of %d passages on programs name what could be a note, and do not link to one", marked, all)
	if all < 1000 || marked*100 > all {
		t.Errorf("%d of %d passages on programs are marked", marked, all)
	}
}

// nothingSaid is the History of an empty conversation.
type nothingSaid struct{ agent.History }

func (nothingSaid) Window(context.Context, string, int) (agent.Window, error) {
	return agent.Window{}, nil
}

func emptyAnswer() *answer {
	record := &gate.Record{Stream: &events.Stream{}}
	a := newAnswer(newRunner(&gate.Guard{Record: record}, 1), nil, &memory.Recalled{})
	a.conversations = nothingSaid{}
	return a
}

// commonPhrases occur in many texts.
const commonPhrases = `Thank you very much for your help!
Let me know if you have any questions.
Best regards
Kind regards
See you next week
Read more
Table of contents
Frequently asked questions
Terms and conditions apply
All rights reserved
How does it work?
I hope this helps
Looking forward to hearing from you
Have a nice day
Happy birthday
Mit freundlichen Grüßen
Vielen Dank im Voraus
Guten Morgen`

// Passages of people's own notes are not taken for untrusted after 200 pages by others
// were read.
func TestOwnPassagesAreRarelyTakenForUntrusted(t *testing.T) {
	const pages = 200
	folders := []string{"til-jbranchaud", "kepano-vault", "logseq-docs", "obsidian-tasks", "odd-prettier"}
	own, marked := 0, 0
	for _, whose := range folders {
		known := map[int64]bool{}
		for _, others := range folders {
			if others == whose {
				continue
			}
			for _, page := range agenttest.Passages(t, "data/corpora/"+others, pages/(len(folders)-1)) {
				for _, print := range fingerprint.Of(page.Text) {
					known[print] = true
				}
			}
		}
		for _, passage := range agenttest.Passages(t, "data/corpora/"+whose, 240) {
			own++
			if slices.ContainsFunc(fingerprint.In(passage.Text), func(p int64) bool { return known[p] }) {
				marked++
			}
		}
	}
	known := map[int64]bool{}
	for _, page := range agenttest.Passages(t, "data/corpora/logseq-docs", pages) {
		for _, print := range fingerprint.Of(page.Text + "\n" + commonPhrases) {
			known[print] = true
		}
	}
	phrases := 0
	for phrase := range strings.Lines(commonPhrases) {
		if len(fingerprint.Letters(phrase)) < fingerprint.Run && slices.ContainsFunc(fingerprint.In("Dear diary, "+strings.ToLower(phrase[:1])+strings.TrimSpace(phrase[1:])+" is what I wrote to Ines."), func(p int64) bool { return known[p] }) {
			phrases++
		}
	}
	t.Logf("%d of %d own passages are taken for untrusted, %d common phrases in a sentence", marked, own, phrases)
	if own < 1000 || marked*100 > own {
		t.Errorf("%d of %d own passages are taken for untrusted", marked, own)
	}
	if phrases > 0 {
		t.Errorf("%d common phrases of fewer than %d letters are", phrases, fingerprint.Run)
	}
}
