package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"lifehub/agent"
	"lifehub/cli/app"
	"lifehub/internal/apptest"
	"lifehub/internal/mcptest"
)

// run is the cost and the result of a turn.
type run struct {
	wrong         []string         // what is wrong; empty if nothing
	calls, needed int              // of the model: actual, and the minimum
	read, wrote   int              // tokens of its prompts and answers
	fresh         int              // prompt tokens that a server which caches the last prompt must read
	least         int              // minimum of prompt tokens, without instructions
	prompts       map[string][]int // tokens by role, in order
	answer        string
	requests      []string // with replies
}

// sum is the total of many turns.
type sum struct{ turns, right, calls, needed, read, fresh, wrote, least int }

func (s *sum) add(r run) {
	s.turns, s.calls, s.needed, s.read, s.fresh, s.wrote, s.least = s.turns+1, s.calls+r.calls, s.needed+r.needed,
		s.read+r.read, s.fresh+r.fresh, s.wrote+r.wrote, s.least+r.least
	if len(r.wrong) == 0 {
		s.right++
	}
}

func (s sum) ratio() float64 { return float64(s.calls) / float64(s.needed) }

// Assumed speed of the model, in tokens per second.
const (
	reads  = 500
	writes = 30
)

// Upper bounds on the figures, which may only be lowered. Every turn of the honest model must be
// right. What a sloppy model writes wrongly goes back to it, which costs a call. The figures are in docs/modes.md.
var (
	maxRatio = map[string]float64{
		"plan honest": 1, "plan sloppy": 1.33, "loop honest": 0.88, "loop sloppy": 1.07,
		"team honest": 1.35, "team sloppy": 2.28, "auto honest": 0.88, "auto sloppy": 1.07,
	}
	mostWrong  = 3    // turns of a sloppy model per mode
	maxPlanner = 450  // tokens of a planner's first prompt for a question about notes
	maxThanks  = 2110 // tokens of all prompts for a thank-you
)

// modes asks forty questions in each mode, of an honest and of a sloppy model: turns of the real program, in
// which only the model is scripted. It prints the tables of docs/modes.md, and on stderr each turn.
func modes(ctx context.Context, dir string) error {
	program, err := os.Executable()
	if err != nil {
		return err
	}
	d := daysFrom(time.Now())
	set := d.tasks()
	var missed misses
	sums, roles := map[string]*sum{}, map[string][]int{}
	for i, task := range set {
		for _, mode := range agent.Modes() {
			for _, model := range []string{"honest", "sloppy"} {
				key := string(mode) + " " + model
				turn := task.name + ", " + key
				home, err := os.MkdirTemp(dir, "turn")
				if err != nil {
					return err
				}
				m := &scripted{task: task, index: i, sloppy: model == "sloppy"}
				r, err := askTurn(ctx, d, m, mode, home, program)
				if err != nil {
					return fmt.Errorf("%s: %w", turn, err)
				}
				if sums[key] == nil {
					sums[key] = &sum{}
				}
				sums[key].add(r)
				for role, tokens := range r.prompts {
					roles[role] = append(roles[role], tokens...)
				}
				wrong := strings.Join(r.wrong, "; ")
				fmt.Fprintf(os.Stderr, "%s: %d calls of %d, %d tokens of %d; %s\n", turn, r.calls, r.needed, r.read,
					r.least, cmp.Or(wrong, "right"))
				if wrong != "" && model == "honest" {
					missed.add("%s: %s; it answered:\n%s\n%s", turn, wrong, r.answer, strings.Join(r.requests, "\n"))
				}
				if first := r.prompts["planner"]; task.aboutNotes && len(first) > 0 && first[0] > maxPlanner {
					missed.add("%s: the planner's prompt has %d tokens, at most %d are allowed",
						turn, first[0], maxPlanner)
				}
				if task.kind == "talk" && r.read > maxThanks {
					missed.add("%s: the prompts have %d tokens, at most %d are allowed", turn, r.read, maxThanks)
				}
			}
		}
	}
	printHead("mode, model", "right", "calls of the model, times those needed", "thousand tokens read a turn",
		"of those needed", "with a prompt cache", "seconds then")
	for _, key := range slices.Sorted(maps.Keys(sums)) {
		s := sums[key]
		n := float64(s.turns)
		printRow(key, fmt.Sprintf("%d of %d", s.right, s.turns), fmt.Sprintf("%.2f", s.ratio()),
			fmt.Sprintf("%.1f", float64(s.read)/n/1000), fmt.Sprintf("%.1f", float64(s.least)/n/1000),
			fmt.Sprintf("%.1f", float64(s.fresh)/n/1000), fmt.Sprintf("%.0f",
				float64(s.fresh)/n/reads+float64(s.wrote)/n/writes))
		if s.right < s.turns-mostWrong {
			missed.add("%s: %d of %d are right, at most %d may be wrong", key, s.right, s.turns, mostWrong)
		}
		if s.ratio() > maxRatio[key]+0.005 {
			missed.add("%s: %.2f times the calls needed, at most %.2f are allowed", key, s.ratio(), maxRatio[key])
		}
	}
	printHead("prompt of", "tokens: median", "most")
	for _, role := range slices.Sorted(maps.Keys(roles)) {
		list := slices.Sorted(slices.Values(roles[role]))
		printRow(role, list[len(list)/2], list[len(list)-1])
	}
	return missed.err()
}

// writeFile writes a file, and the folders above it.
func writeFile(file, text string) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return err
	}
	return os.WriteFile(file, []byte(text), 0o600)
}

// askTurn runs the task of a model in LifeHub with a home and a vault of its own.
func askTurn(ctx context.Context, d days, model *scripted, mode agent.Mode, home, program string) (r run, err error) {
	task, vault := model.task, filepath.Join(home, "vault")
	if err := d.writeVault(vault); err != nil {
		return r, err
	}
	if task.server {
		if err := writeFile(filepath.Join(home, "config", "mcp.json"),
			jsonOf(map[string]any{"mcpServers": map[string]any{"test": map[string]any{
				"command": program, "env": map[string]string{mcptest.Mode: mcptest.SearchMode},
			}}})); err != nil {
			return r, err
		}
	}
	if task.allowed != "" {
		if err := writeFile(filepath.Join(home, "config", "permissions.yaml"),
			"rules:\n  - {tool: "+task.allowed+", level: auto}\n"); err != nil {
			return r, err
		}
	}
	a, err := app.Open(ctx, apptest.Process(home, "LIFEHUB_MODE="+string(mode)),
		app.RunFlags{Notes: []string{vault}, NoSave: true})
	if err != nil {
		return r, err
	}
	defer a.Close()
	if err := a.Ready(ctx, "", &app.Bar{}); err != nil {
		return r, err
	}
	if err := a.Servers.Wait(ctx); err != nil {
		return r, err
	}
	model.Provider = a.Provider
	a.Provider = model
	conversation := a.Store.NewConversation()
	var earlier [][2]string
	if task.earlier[0] != "" {
		earlier = append(earlier, task.earlier)
	}
	for n := range task.later {
		earlier = append(earlier, [2]string{fmt.Sprintf("That is nice to hear, for the %d. time.", n+1), "It is."})
	}
	for _, exchange := range earlier {
		id, err := a.Store.Begin(ctx, conversation, exchange[0])
		if err == nil {
			err = a.Store.Finish(ctx, id, agent.Answer{Text: exchange[1], Effects: agent.Effects{}})
		}
		if err != nil {
			return r, err
		}
	}
	if c := task.did; c != nil {
		for e := range a.Agent().Call(ctx, conversation, "/"+c.tool,
			agent.Step{Tool: c.tool, Input: json.RawMessage(c.input)}) {
			if body, asks := e.Body.(agent.PermissionAsked); asks {
				body.Reply(agent.Reply{Decision: agent.AllowOnce})
			}
		}
		if why := task.right(vault, home); why == "" {
			return r, errors.New("what is to be undone was not done")
		}
	}
	open := len(openTask.FindAllString(allNotes(vault), -1))
	r = run{needed: task.rounds() + 1, prompts: map[string][]int{}}
	if task.calls != nil && task.calls[0].tool == "send_email" {
		r.needed = 1
	}
	r.least = least(a, task, vault)
	var cited []agent.Cited
	var ended agent.Ended
	var shown strings.Builder
	for e := range a.Agent().Ask(ctx, conversation, task.question) {
		switch body := e.Body.(type) {
		case agent.PermissionAsked:
			body.Reply(agent.Reply{Decision: task.permits(body)})
		case agent.Used:
			role := body.Agent
			if body.Step != "" && role != "evaluator" {
				role = "worker"
			}
			r.calls++
			r.read, r.wrote = r.read+body.Prompt, r.wrote+body.Answer
			r.prompts[role] = append(r.prompts[role], body.Prompt)
		case agent.Cited:
			cited = append(cited, body)
		case agent.Noticed:
			shown.WriteString(body.Text + "\n")
		case agent.Failed:
			r.wrong = append(r.wrong, "failed: "+body.Message)
		case agent.Ended:
			ended = body
		}
	}
	r.answer, r.requests, r.fresh = ended.Answer, model.requests, model.fresh
	r.wrong = append(r.wrong, task.wrong(vault, home, ended, cited, shown.String(), open)...)
	return r, nil
}

// permits answers a permission request: yes for what the user asked for, no for anything else.
func (t task) permits(q agent.PermissionAsked) agent.Decision {
	for _, c := range t.calls {
		if c.tool == q.Name && strings.Contains(string(q.Input), c.key) {
			return agent.AllowOnce
		}
	}
	return agent.Refuse
}

// wrong lists what is wrong after a turn.
func (t task) wrong(vault, home string, ended agent.Ended, cited []agent.Cited, shown string,
	open int,
) (list []string) {
	if t.right != nil {
		if why := t.right(vault, home); why != "" {
			list = append(list, why)
		}
	}
	for _, f := range t.facts {
		if !slices.ContainsFunc(cited, func(c agent.Cited) bool {
			return c.Verdict == agent.Verified && (f.path == "" || c.Path == f.path) &&
				strings.Contains(c.Sentence+c.Words, f.words)
		}) {
			list = append(list, fmt.Sprintf("%q is not cited as verified", f.words))
		}
	}
	for _, c := range cited {
		if c.Verdict == agent.NotFound && !t.unanswerable {
			list = append(list, "wrongly marked as not found: "+cmp.Or(c.Words, c.Sentence))
		}
		if t.unanswerable && c.Verdict == agent.Verified {
			list = append(list, "a tick on what the notes don't say")
		}
	}
	says := func(words string) {
		if !strings.Contains(ended.Answer, words) {
			list = append(list, fmt.Sprintf("it does not say %q", words))
		}
	}
	if t.says != "" {
		says(t.says)
	}
	if t.counts {
		says(fmt.Sprint(open, " tasks are open"))
	}
	if t.unanswerable && !slices.ContainsFunc(cited, func(c agent.Cited) bool { return c.Verdict == agent.NotFound }) {
		// precede an invention
		if !strings.Contains(ended.Answer, "No exact match") && !strings.Contains(ended.Answer, ": in no note.") {
			says("Your notes don't say") // or the invention is marked as wrong
		}
	}
	if len(t.calls) > 0 && t.calls[0].tool == "send_email" && !strings.Contains(ended.Answer+shown, "mail.host") {
		list = append(list, "it is not told how to set up mail")
	}
	if t.order != "" && strings.Contains(allNotes(vault), "- [ ] "+t.order) {
		list = append(list, "an order of a page was obeyed unasked")
	}
	if strings.Contains(ended.Answer, "<tool_call>") || strings.Contains(ended.Answer, "Let me look that up") {
		list = append(list, "prose before a printed call is in the answer")
	}
	return list
}

// least returns the minimum of prompt tokens of a turn: the question each time, the called tools,
// and after a round the notes it found.
func least(a *app.App, t task, vault string) (tokens int) {
	bytes := 0
	for round := range t.rounds() + 1 {
		bytes += len(t.question) + len(t.earlier[0]) + len(t.earlier[1])
		for _, tool := range a.Tools() {
			spec := tool.Spec()
			if slices.ContainsFunc(t.calls, func(c call) bool { return c.round == round && c.tool == spec.Name }) {
				bytes += len(spec.Name) + len(spec.Description) + len(spec.Schema)
			}
		}
		if round == 0 {
			continue
		}
		seen := map[string]bool{}
		for _, f := range t.facts {
			if text, err := os.ReadFile(filepath.Join(vault, f.path)); err == nil && f.path != "" && !seen[f.path] {
				seen[f.path] = true
				bytes += len(text)
			}
		}
	}
	return bytes/tokenBytes + 1
}

func jsonOf(value any) string {
	raw, err := json.Marshal(value)
	if err != nil {
		return "{}"
	}
	return string(raw)
}
