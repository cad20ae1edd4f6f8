package turn

import (
	"context"
	"fmt"
	"iter"
	"math/rand/v2"
	"os"
	"regexp"
	"strings"
	"testing"

	"lifehub/agent"
	"lifehub/agent/agenttest"
	"lifehub/llm"
)

// The evaluator accepts a report exactly if its prompt contains the evidence. True
// reports pass wherever their evidence is in what was read; false ones do not.
func TestEvaluatorSeesTheEvidence(t *testing.T) {
	const size = 32 << 10
	random := rand.New(rand.NewPCG(16, 2))
	birds := strings.Fields("Heron Kestrel Wren Plover Curlew Dunnock Siskin Pipit Godwit Whinchat")
	rejected, accepted, runs := 0, 0, 0
	every := 5
	if os.Getenv("LIFEHUB_SOAK") != "" {
		every = 1
	}
	for run := 0; run < 60; run += every {
		shed := func(i int) string {
			return fmt.Sprintf("The %s shed number %d has the code %04d and a green door.", birds[random.IntN(len(birds))], i, random.IntN(10000))
		}
		joint := "\n"
		if run%3 == 1 {
			joint = " " // one long line
		}
		var lines []string
		for n := 0; n < size-200; n += len(lines[len(lines)-1]) + 1 {
			lines = append(lines, shed(len(lines)))
		}
		facts := [][2]string{{"boathouse", "7431x"}, {"mill", "half past nine"}, {"Turm", "grün gestrichen"}}[:1+run%3]
		var right, wrong []string
		for i, f := range facts {
			at := (run + i*17) * (len(lines) - 1) / 90 % len(lines)
			lines[at] = "Of the " + f[0] + " it is known: " + f[1] + "."
			right = append(right, f[0]+": "+f[1])
			wrong = append(wrong, f[0]+": "+strings.NewReplacer("7", "8", "nine", "ten", "grün", "rot").Replace(f[1]))
		}
		text := strings.Join(lines, joint)
		for _, report := range [][]string{right, wrong} {
			runs++
			read := search()
			read.result = agent.Result{Text: text, Sources: []agent.Source{{Path: "sheds.md", Line: 1, EndLine: len(lines), Text: text}}}
			model := &honest{script: script{lines: []line{oneTask, calling("search_notes", `{"query":"sheds"}`), say("I found " + strings.Join(report, ", ") + " (sheds.md)."), {}, say("Again."), {}, say("Again."), {}, say("Done.")}}, facts: report}
			o := Options{Workers: workers, Model: model, History: &shelf{}, Tools: tools(read), Session: inMode(agent.TeamMode), Server: &agenttest.Server{Tokens: 8192}}
			events := collect(New(o).Ask(t.Context(), "c1", "Look at the sheds"), nil)
			verdict := bodies[agent.Evaluated](events)[0]
			switch isRight := &report[0] == &right[0]; {
			case isRight && !verdict.Passed:
				rejected++
				t.Errorf("run %d: the right report %q is rejected", run, report)
			case !isRight && verdict.Passed:
				accepted++
				t.Errorf("run %d: the false report %q is accepted", run, report)
			}
			if model.longest > 8192*4*3/4 {
				t.Errorf("the evaluator's prompt has %d bytes", model.longest)
			}
		}
	}
	t.Logf("%d reports: %d right ones rejected, %d false ones accepted", runs, rejected, accepted)
}

// honest is an evaluator that believes what is between marks, except the report itself.
type honest struct {
	script
	facts   []string
	longest int
}

var judgedReport = regexp.MustCompile(`(?s)The report to be judged\n(«\w+»)\n.*?\n«`)

func (h *honest) Stream(ctx context.Context, req llm.Request) iter.Seq2[llm.Delta, error] {
	if !strings.Contains(req.Messages[0].Text, "You judge") {
		return h.script.Stream(ctx, req)
	}
	prompt := req.Messages[len(req.Messages)-1].Text
	h.longest = max(h.longest, len(prompt))
	seen := judgedReport.ReplaceAllString(prompt, "")
	verdict := accepted
	for _, fact := range h.facts {
		name, value, _ := strings.Cut(fact, ": ")
		if !strings.Contains(seen, "Of the "+name+" it is known: "+value+".") {
			verdict = rejected
		}
	}
	if _, err := h.next(req); err != nil { // the scripted reply
		return h.script.Stream(ctx, req)
	}
	return (&script{lines: []line{say(verdict)}}).Stream(ctx, req)
}
