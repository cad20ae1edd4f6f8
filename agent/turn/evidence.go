package turn

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"lifehub/agent"
	"lifehub/agent/prompt"
	"lifehub/internal/text"
)

// evidence returns the worker's calls as shown to the evaluator, within room
// tokens: in full if they fit, otherwise the parts of the results closest to
// the report. The arguments of calls that write are never shortened.
func (t *turn) evidence(of assessment, room int) (parts []prompt.Part) {
	var blocks []block
	used := 0
	for i, f := range of.found {
		head, result := f.step.Tool+" "+string(f.step.Input), t.toldOf(f, of.numbered)
		if !t.mayHaveWritten(f) {
			head = text.Clip(head, 1<<10)
		}
		parts = append(parts, prompt.Part{
			Kind: "results", Head: "Call " + f.step.ID + ": " + string(f.Status),
			Text: head, Fence: t.fence(),
		})
		used += prompt.Tokens(parts[i].String())
		for _, words := range cutBlocks(result) {
			blocks = append(blocks, block{call: i, at: len(blocks), text: words})
		}
	}
	nearest := slices.Clone(blocks)
	rank(nearest, of.report)
	left := make([]int, len(parts)) // bytes omitted
	shown := map[int]bool{}
	for _, b := range nearest {
		if cost := prompt.Tokens(b.text) + 4; used+cost <= room { // 4: the mark of a gap
			used += cost
			shown[b.at] = true
		} else {
			left[b.call] += len(b.text)
		}
	}
	gap := true // a gap or the start
	for i, b := range blocks {
		switch {
		case !shown[b.at]:
			gap = true
			continue
		case i == 0 || blocks[i-1].call != b.call:
			parts[b.call].Text += "\n"
		case gap:
			parts[b.call].Text += "\n[…]\n"
		}
		gap = false
		parts[b.call].Text += b.text
	}
	for i := range parts {
		if left[i] > 0 {
			parts[i].Head += fmt.Sprintf(" (the parts nearest to the report; %d bytes are left out, which is no "+
				"fault of the report)", left[i])
		}
	}
	return parts
}

// toldOf returns the result of a call as shown to the worker, numbered if that was told the numbers.
func (t *turn) toldOf(f finding, numbered bool) string {
	if f.same != "" {
		return "the same as call " + f.same
	}
	if f.Status != agent.Done {
		return f.Reason
	}
	var b strings.Builder
	for _, s := range f.Result.Sources {
		if n := t.answer.numberOf(s); numbered && n > 0 {
			fmt.Fprintf(&b, "[%d] ", n)
		}
		b.WriteString(text.OneLine(s.Title()) + "\n" + s.Text + "\n")
	}
	if len(f.Result.Sources) == 0 {
		if n := t.answer.resultNumber(f.step.ID); numbered && n > 0 {
			fmt.Fprintf(&b, "[%d] ", n)
		}
		b.WriteString(f.Result.Text)
	}
	return b.String()
}

// block is a piece of a result.
type block struct {
	call, at int
	text     string
	score    float64
}

// rank sorts blocks by the words they share with the report. Words that occur
// in fewer blocks count more.
func rank(blocks []block, report string) {
	wanted, holds := map[string]bool{}, map[string]int{}
	for _, t := range text.Tokens(report) {
		wanted[t.Text] = true
	}
	words := make([]map[string]bool, len(blocks))
	for i, b := range blocks {
		words[i] = map[string]bool{}
		for _, t := range text.Tokens(b.text) {
			if wanted[t.Text] && !words[i][t.Text] {
				words[i][t.Text] = true
				holds[t.Text]++
			}
		}
	}
	for i := range blocks {
		for word := range words[i] {
			blocks[i].score += 1 / float64(holds[word])
		}
	}
	slices.SortStableFunc(blocks, func(a, b block) int { return cmp.Compare(b.score, a.score) })
}

// cutBlocks splits text into blocks of a few sentences. A sentence is split
// only if it is very long.
func cutBlocks(words string) (blocks []string) {
	const usual, longest = 300, 2000 // bytes
	start := 0
	cut := func(end int) {
		for ; end-start > longest; start += len(blocks[len(blocks)-1]) {
			half := start + longest
			for !utf8.RuneStart(words[half]) {
				half--
			}
			blocks = append(blocks, words[start:half])
		}
		blocks = append(blocks, words[start:end])
		start = end
	}
	for _, s := range text.Sentences(words) {
		if s.Start-start >= usual {
			cut(s.Start)
		}
	}
	cut(len(words))
	return blocks
}

// mayHaveWritten reports whether a call may have changed something.
func (t *turn) mayHaveWritten(f finding) bool {
	return f.same == "" && agent.MayWrite(t.tool(f.step.Tool))
}

// isWholeMessage reports whether the lead delegated the whole message to one
// worker.
func isWholeMessage(steps []agent.Step) bool {
	if len(steps) != 1 {
		return false
	}
	task, err := agent.ReadArgs[delegation](agent.DelegateTool, steps[0].Input)
	return err == nil && task.Whole
}

// soleReport returns the report of the only worker if it can serve as the
// answer, because it cites its sources; "" otherwise.
func (t *turn) soleReport() string {
	if !t.plans.sole {
		return ""
	}
	f := t.steps.found[len(t.steps.found)-1]
	if f.Status != agent.Done || f.Result.Partial || len(t.steps.dropped) > 0 {
		return ""
	}
	t.number(t.steps.found)
	mustCite := len(t.answer.sources) > 0 && !t.unlikely() && !t.steps.haveWritten()
	if some, wrong := cites(f.Result.Text, t.answer.sources); wrong || mustCite && !some {
		return ""
	}
	if t.unlikely() {
		t.doubt()
	}
	return f.Result.Text
}
