package tui

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"lifehub/agent"
	"lifehub/llm"
	"lifehub/tui/backend"
	"lifehub/tui/dialog"
	"lifehub/tui/draw"
	"lifehub/tui/keys"
	"lifehub/tui/panel"
)

// scene is a state of the screen worth a picture.
type scene struct {
	options func() backend.Options
	play    func(r *rig)
}

// asking asks the question that most pictures begin with.
func asking(more ...func(r *rig)) func(r *rig) {
	return func(r *rig) {
		r.ask("What's in my notes about running? Also search the web for marathon tips.")
		for _, step := range more {
			step(r)
		}
	}
}

func pressing(names ...string) func(r *rig) { return func(r *rig) { r.keys(names...) } }

func passing(d time.Duration) func(r *rig) { return func(r *rig) { r.pass(d) } }

func telling(bodies ...agent.Body) func() backend.Options {
	return func() backend.Options { return withWorld(hold(bodies...)) }
}

// teamwork is two workers, the first of which tries again.
var teamwork = []agent.Body{
	agent.PlanMade{Mode: agent.TeamMode, Steps: []agent.Step{
		{ID: "1", Tool: "delegate", Input: raw(`{"worker_type":"notes","task_description":"Find what the notes say about running.","success_criteria":"x"}`)},
		{ID: "2", Tool: "delegate", Input: raw(`{"worker_type":"search","task_description":"Find marathon training tips.","success_criteria":"x"}`)},
	}},
	agent.StepChanged{Step: "1", Status: agent.Running},
	agent.PhaseStarted{Agent: "notes", Step: "1", Attempt: 1},
	agent.StepChanged{Step: "2", Status: agent.Running},
	agent.PhaseStarted{Agent: "search", Step: "2", Attempt: 1},
	agent.PlanMade{Mode: agent.TeamMode, Under: "1", Attempt: 1, Steps: []agent.Step{{ID: "1.1", Tool: "search_notes", Input: raw(`{"query":"running"}`)}}},
	agent.PlanMade{Mode: agent.TeamMode, Under: "2", Attempt: 1, Steps: []agent.Step{{ID: "2.1", Tool: "brave_web_search", Input: raw(`{"query":"marathon training tips"}`)}}},
	agent.StepChanged{Step: "1.1", Status: agent.Running},
	agent.StepChanged{Step: "2.1", Status: agent.Running},
	agent.StepChanged{Step: "1.1", Status: agent.Done},
	agent.Evaluated{Step: "1", Attempt: 1, Judgement: agent.Judgement{Score: 0.4, Feedback: "It names no days."}},
	agent.PhaseStarted{Agent: "notes", Step: "1", Attempt: 2},
	agent.PlanMade{Mode: agent.TeamMode, Under: "1", Attempt: 2, Steps: []agent.Step{{ID: "1.2", Tool: "read_note", Input: raw(`{"path":"fitness.md"}`)}}},
	agent.StepChanged{Step: "1.2", Status: agent.Running},
}

var teamDone = []agent.Body{
	agent.StepChanged{Step: "1.2", Status: agent.Done},
	agent.Evaluated{Step: "1", Attempt: 2, Judgement: agent.Judgement{Passed: true, Score: 0.9}},
	agent.StepChanged{Step: "1", Status: agent.Done},
	agent.StepChanged{Step: "2.1", Status: agent.Done},
	agent.Evaluated{Step: "2", Attempt: 1, Judgement: agent.Judgement{Passed: true, Score: 0.8}},
	agent.StepChanged{Step: "2", Status: agent.Done},
	agent.PhaseStarted{Agent: "explainer"},
	agent.Said{Content: "You run three times a week."},
	agent.Ended{Answer: "You run three times a week."},
}

func finished() backend.Options { return withWorld(play(story(planning, searched, answered)...)) }

// notSaid is a turn whose search went by words, over a part of the notes, and
// found nothing that answers.
func notSaid() backend.Options {
	source := agent.Source{N: 1, Path: "fitness.md", Line: 12, EndLine: 14, Heading: "Running › Plan", Text: "Run three times a week."}
	return withWorld(play(
		agent.PlanMade{Steps: []agent.Step{{ID: "1", Tool: "search_notes", Input: raw(`{"query":"violin"}`)}}},
		agent.StepChanged{Step: "1", Status: agent.Running},
		agent.ToolStarted{Step: "1", Call: "a", Name: "search_notes", Input: raw(`{"query":"violin"}`)},
		agent.ToolEnded{Step: "1", Call: "a", Name: "search_notes", Output: "1 passage", Took: 84, Sources: []agent.Source{source}, Coverage: &agent.Coverage{Indexed: 912, Total: 1284, Age: 7200, Embedder: "words only: no embedder"}},
		agent.StepChanged{Step: "1", Status: agent.Done},
		agent.PhaseStarted{Agent: "explainer"},
		agent.Said{Content: "Your notes don't say. Nearest: `fitness.md:12 Running › Plan`."},
		agent.Ended{Answer: "Your notes don't say.", Unanswered: true, Nearest: []agent.Source{source}},
	))
}

// brokenOff is a turn whose model failed after the tools had worked: what they
// brought is quoted.
func brokenOff() backend.Options {
	note := agent.Source{N: 1, Path: "fitness.md", Line: 12, EndLine: 14, Heading: "Running › Plan", Text: "Run three times a week."}
	tips := agent.Source{N: 2, Path: "brave_web_search", Call: "2", Line: 1, EndLine: 1, Heading: "marathon tips", Text: "Marathon guide: drink early.", Untrusted: true}
	cites := func(s agent.Source) agent.Cited {
		return agent.Cited{Citation: agent.Citation{N: s.N, Path: s.Path, Line: s.Line, EndLine: s.EndLine, Quote: s.Text, Verdict: agent.Verified}, Source: s}
	}
	return withWorld(play(
		agent.PlanMade{
			Steps: []agent.Step{
				{ID: "1", Tool: "search_notes", Input: raw(`{"query":"running"}`)},
				{ID: "2", Tool: "brave_web_search", Input: raw(`{"query":"marathon tips"}`)},
			},
			Dropped: []string{`step 2: web_search is brave_web_search here`, `step 3: there is no tool "send_email": no mail server is set (mail.host)`},
		},
		agent.StepChanged{Step: "1", Status: agent.Done},
		agent.StepChanged{Step: "2", Status: agent.Done},
		agent.PhaseStarted{Agent: "explainer"},
		agent.Said{Content: "You run"},
		agent.Said{Content: "\n\n(The answer breaks off here.)\n\nMarathon guide: drink early. [2]\n\nYour notes say:\n\n“Run three times a week.” [1]"},
		cites(tips), cites(note),
		agent.Failed{Message: "The answer was cut off before its end (unexpected EOF); what arrived is kept.", Hint: "Ask again, or ask it to continue.", Effects: agent.Effects{}},
	))
}

var longArguments = agent.PermissionAsked{
	Step: "1", Call: "l", Name: "create_note", Rule: "allow create_note", Reason: "create_note changes your notes",
	Input: raw(`{"path":"trip.md","text":"` + strings.Repeat(`Pack the tent.\n`, 30) + strings.Repeat(" ", 2500) + `the end\u202e"}`),
}

// pickyTask is a question whose arguments are checked when they are edited.
var pickyTask = agent.PermissionAsked{
	Step: "1", Call: "p", Name: "add_task", Input: raw(`{"text":"Buy milk","days":3}`), Reason: "add_task changes your notes",
	Check: func(input json.RawMessage) error {
		if strings.Contains(string(input), "wine") {
			return errors.New("text: no wine in this house")
		}
		return nil
	},
}

// misleading is a call whose arguments look like others.
var misleading = agent.PermissionAsked{
	Step: "1", Call: "m", Name: "web_fetch", Reason: "web_fetch opens an address that is new",
	Input:   raw(`{"url":"https://p\u0430ypal.example/?d=4711` + strings.Repeat(`\t`, 12) + `\u202egnp.exe","n\u200bote":"` + strings.Repeat(`\n`, 40) + `"}`),
	Preview: agent.Preview{Text: "opens a page on p\u0430ypal.example, which learns this whole address"},
}

// formAsked is a form with a field of each kind.
var formAsked = agent.InputAsked{
	Step: "2", Call: "b", ID: "b.1", Name: "everything_trigger-elicitation-request",
	Question: agent.Question{
		From: "everything", Kind: agent.FormInput, Message: "Please provide inputs for the following fields:",
		Check: func(values json.RawMessage) error {
			if !strings.Contains(string(values), "Ana") {
				return errors.New("name: minLength: got 0, want 1")
			}
			return nil
		},
		Schema: raw(`{"type":"object","required":["name"],"properties":{
			"age":{"type":"integer","minimum":1,"maximum":120,"description":"In years"},
			"check":{"type":"boolean","title":"Agree","description":"Agree to the terms"},
			"friend":{"type":"string","enum":["Monica","Rachel","Joey"],"default":"Monica"},
			"hero":{"type":"string","oneOf":[{"const":"h1","title":"Superman"},{"const":"h2","title":"Green Lantern"}]},
			"instruments":{"type":"array","items":{"type":"string","enum":["Guitar","Piano"]},"default":["Guitar"]},
			"name":{"type":"string","title":"Full name","description":"Your full, legal name","minLength":1}}}`),
	},
}

var scenes = map[string]scene{
	"nothing was asked yet": {func() backend.Options { return withWorld(play()) }, func(*rig) {}},
	"offline while indexing": {func() backend.Options {
		o := withWorld(play())
		status := make(chan backend.Status, 1)
		status <- backend.Status{Provider: "offline", Notes: 1284, Indexed: 312, Indexing: true}
		close(status)
		o.Status = status
		return o
	}, passing(time.Millisecond)},
	"the plan is being made":       {telling(planning[:2]...), asking()},
	"a team works":                 {telling(teamwork...), asking()},
	"a team has worked":            {func() backend.Options { return withWorld(play(append(slices.Clip(teamwork), teamDone...)...)) }, asking()},
	"a team's work unfolded":       {func() backend.Options { return withWorld(play(append(slices.Clip(teamwork), teamDone...)...)) }, asking(pressing("ctrl+o"))},
	"steps run":                    {telling(story(planning, searched)...), asking()},
	"a step runs for long":         {telling(story(planning, searched)...), asking(passing(4 * time.Second))},
	"tools are unfolded":           {telling(story(planning, searched)...), asking(pressing("ctrl+o"))},
	"the plan is folded":           {telling(story(planning, searched)...), asking(pressing("ctrl+t"))},
	"the model thinks":             {telling(agent.Thought{Content: "The user asks "}, agent.Thought{Content: "about running."}), asking()},
	"thoughts are unfolded":        {telling(agent.Thought{Content: "The user asks about running."}, agent.Said{Content: "Hello."}), asking(pressing("ctrl+o"))},
	"the answer streams":           {telling(story(planning, searched, answered[:5])...), asking()},
	"the answer is whole":          {finished, asking()},
	"the notes do not say":         {notSaid, asking()},
	"the transcript has the keys":  {finished, asking(pressing("tab", "k"))},
	"a source is previewed":        {finished, asking(pressing("/sources", "enter", "space"))},
	"earlier prompts are searched": {func() backend.Options { return withEverything() }, pressing("ctrl+r", "one")},
	"the turn was stopped":         {telling(story(planning, searched, answered[:5])...), asking(pressing("esc"))},
	"documents of a conversation":  {withDocuments, asking(pressing("/artifacts", "enter"))},
	"versions of a document":       {withDocuments, asking(pressing("/artifacts asyncio", "enter"))},
	"what a version changed":       {withDocuments, asking(pressing("/artifacts asyncio", "enter", "enter"))},
	"no documents yet":             {withDocuments, pressing("/artifacts", "enter")},
	"a waiting message is changed": {telling(planning...), asking(pressing("and swimming?", "enter", "and rowing?", "enter", "up", "up"))},
	"a message waits in the queue": {telling(planning...), asking(pressing("and swimming?", "enter", "and rowing?", "enter"))},
	"a notice and an error": {func() backend.Options {
		return withWorld(play(agent.Noticed{Text: "Ollama is up: answers come from qwen3:8b now"}, agent.Said{Content: "It begins"}, agent.Failed{Message: "model server not reachable", Hint: "start it with: ollama serve"}))
	}, asking()},
	"the model fails on the way":     {brokenOff, asking()},
	"a tool outside a plan":          {telling(agent.ToolStarted{Call: "x", Name: "today", Input: raw(`{}`)}, agent.ToolEnded{Call: "x", Name: "today", Output: "2026-11-21", Took: 3}, agent.ToolStarted{Call: "y", Name: "calculate", Input: raw(`{"expression":"2+2"}`)}), asking()},
	"a call tells its progress":      {telling(story(planning, searched, []agent.Body{agent.ToolProgressed{Step: "2", Call: "b", Name: "brave_web_search", Progress: agent.Progress{Done: 3, Total: 10, Message: "page 3"}}})...), asking()},
	"a server asks for values":       {telling(story(planning, []agent.Body{formAsked})...), asking(passing(dialog.QuietPeriod))},
	"a form is filled in":            {telling(story(planning, []agent.Body{formAsked})...), asking(passing(dialog.QuietPeriod), pressing("tab", "Ana", "tab", "abc", "tab", "space"))},
	"a form does not fit":            {telling(story(planning, []agent.Body{formAsked})...), asking(passing(dialog.QuietPeriod), pressing("tab", "enter", "enter", "enter", "enter", "enter", "enter", "enter"))},
	"a server wants a page opened":   {telling(agent.InputAsked{ID: "1.1", Question: agent.Question{From: "bank", Kind: agent.URLInput, Message: "Log in to go on.", URL: "https://xn--pypal-4ve.example/login?session=8f3a"}}), asking(passing(dialog.QuietPeriod))},
	"a server wants the model":       {telling(agent.InputAsked{ID: "1.1", Question: agent.Question{From: "everything", Kind: agent.SamplingInput, Prompt: []llm.Message{{Role: llm.System, Text: "You are a helpful\u202e server."}, {Role: llm.User, Text: strings.Repeat("Say why.\n", 40)}}}}), asking(passing(dialog.QuietPeriod))},
	"notes after an at":              {withLibrary, pressing("see @i", "down")},
	"resources after an at":          {withLibrary, pressing("compare @demo")},
	"prompts of servers":             {withLibrary, pressing("/every")},
	"a prompt has blanks":            {withLibrary, pressing("/everything:args-prompt", "enter", "Ham")},
	"the MCP servers":                {withServers, pressing("/mcp", "enter")},
	"a server's change is looked at": {withServers, func(r *rig) { r.keys("/mcp", "enter", "t"); r.pass(dialog.QuietPeriod) }},
	"a server's log":                 {withServers, pressing("/mcp", "enter", "l")},
	"all states of a step":           {telling(statesOfAStep()...), asking()},
	"a question opens":               {telling(story(planning, []agent.Body{taskAsked})...), asking()},
	"a question takes keys":          {telling(story(planning, []agent.Body{taskAsked})...), asking(passing(dialog.QuietPeriod))},
	"always shows its rule":          {telling(story(planning, []agent.Body{taskAsked})...), asking(passing(dialog.QuietPeriod), pressing("a"))},
	"a no with a reason":             {telling(story(planning, []agent.Body{taskAsked})...), asking(passing(dialog.QuietPeriod), pressing("N", "enter", "not that one"))},
	"details of a question":          {telling(story(planning, []agent.Body{taskAsked})...), asking(passing(dialog.QuietPeriod), pressing("d"))},
	"arguments are edited":           {telling(pickyTask), asking(passing(dialog.QuietPeriod), pressing("e", "enter", " and bread"))},
	"a number is edited":             {telling(pickyTask), asking(passing(dialog.QuietPeriod), pressing("e", "enter", "tab", "backspace", "many", "enter"))},
	"edited arguments do not fit":    {telling(pickyTask), asking(passing(dialog.QuietPeriod), pressing("e", "enter", " and wine", "enter"))},
	"arguments that mislead":         {telling(misleading), asking(passing(dialog.QuietPeriod))},
	"two questions wait":             {telling(taskAsked, longArguments), asking(passing(dialog.QuietPeriod))},
	"a long question":                {telling(longArguments), asking(passing(dialog.QuietPeriod))},
	"a long question was read":       {telling(longArguments), asking(pressing("ctrl+end"), passing(dialog.QuietPeriod))},
	"commands after a slash":         {func() backend.Options { return withEverything() }, pressing("/")},
	"a command is completed":         {func() backend.Options { return withEverything() }, pressing("/mo", "tab")},
	"commands by ctrl+p":             {func() backend.Options { return withEverything() }, pressing("ctrl+p", "down", "down")},
	"help":                           {func() backend.Options { return withEverything() }, pressing("?")},
	"the end of help":                {func() backend.Options { return withEverything() }, pressing("f1", "ctrl+end")},
	"help is searched":               {func() backend.Options { return withEverything() }, pressing("?", "model")},
	"help has none of that":          {func() backend.Options { return withEverything() }, pressing("?", "zebra")},
	"conversations":                  {func() backend.Options { return withEverything() }, pressing("ctrl+s")},
	"conversations are filtered":     {func() backend.Options { return withEverything() }, pressing("ctrl+s", "lis")},
	"a conversation is opened again": {func() backend.Options { return withEverything() }, pressing("ctrl+s", "down", "enter")},
	"messages are found":             {func() backend.Options { return withEverything() }, pressing("ctrl+s", "fly")},
	"a found message is opened":      {func() backend.Options { return withEverything() }, pressing("ctrl+s", "fly", "enter")},
	"the tree":                       {func() backend.Options { return withEverything() }, pressing("ctrl+s", "down", "enter", "/tree", "enter")},
	"an alternative has the keys":    {func() backend.Options { return withEverything() }, pressing("ctrl+s", "down", "enter", "tab", "g")},
	"a question is changed":          {func() backend.Options { return withEverything() }, pressing("ctrl+s", "down", "enter", "/edit 4", "enter")},
	"a question was changed":         {func() backend.Options { return withEverything() }, pressing("ctrl+s", "down", "enter", "/edit 3", "enter", " soon", "enter")},
	"models":                         {func() backend.Options { return withEverything() }, pressing("alt+m")},
	"models, and no server":          {func() backend.Options { return deafAndOffline() }, pressing("alt+m")},
	"no model matches":               {func() backend.Options { return withEverything() }, pressing("alt+m", "zzz")},
	"no conversation yet":            {func() backend.Options { o := withEverything(); o.Conversations = unused{}; return o }, pressing("ctrl+s")},
	"no server is configured":        {func() backend.Options { o := withEverything(); o.Servers = &shop{}; return o }, pressing("/mcp", "enter")},
	"another model is used":          {func() backend.Options { return withEverything() }, pressing("alt+m", "down", "enter")},
	"the page of a command":          {func() backend.Options { return withEverything() }, pressing("/tools", "enter")},
	"what fills the window":          {func() backend.Options { return withWorld(play(story(planning, windowed)...)) }, asking(pressing("/context", "enter"))},
	"what was remembered":            {func() backend.Options { return withWorld(play(story(planning[:2], recalled)...)) }, asking()},
	"no such command":                {func() backend.Options { return withEverything() }, pressing("/nonsense", "enter")},
	"a missing model is offered": {func() backend.Options {
		o := withEverything()
		o.Assistant = play(agent.Failed{Message: `model "qwen3:8b" is not installed`, Err: &llm.NotFoundError{Model: "qwen3:8b"}})
		return o
	}, asking()},
	"a model is pulled": {func() backend.Options {
		o := withEverything()
		o.Assistant = play(agent.Failed{Message: `model "qwen3:8b" is not installed`, Err: &llm.NotFoundError{Model: "qwen3:8b"}})
		return o
	}, asking(passing(dialog.QuietPeriod), pressing("y", "enter"), passing(time.Second))},
	"first run":                     {newcomer(backend.FoundModel{Ready: true, Says: "qwen3:8b answers, from Ollama on this machine."}), passing(time.Millisecond)},
	"first run without a model":     {newcomer(noModel), passing(time.Millisecond)},
	"first run looks around":        {lookingAround, passing(time.Millisecond)},
	"first run fetches a model":     {newcomer(backend.FoundModel{Says: "Ollama runs here and has no model yet; until then answers quote your notes, which works at once.", Pull: "qwen3:4b", Why: "a model that fits this machine"}), pressing("up", "enter")},
	"first run in a folder unknown": {newcomer(noModel), pressing("~/nowhere", "enter")},
	"first run is over":             {newcomer(noModel), pressing("down", "enter")},
	"several lines are written":     {func() backend.Options { return withEverything() }, pressing("one", "ctrl+j", "two", "alt+enter", "three", "shift+enter", "four")},
	"a long paste has a name": {func() backend.Options { return withEverything() }, func(r *rig) {
		r.keys("look: ")
		r.send(tea.PasteMsg{Content: strings.Repeat("a line\r\n", 100)})
	}},
	"an earlier prompt":     {func() backend.Options { return withEverything() }, pressing("up", "up")},
	"once more quits":       {func() backend.Options { return withEverything() }, pressing("ctrl+c")},
	"a replay under way":    {replaying(1), passing(14 * time.Second)},
	"a replay is paused":    {replaying(2), func(r *rig) { r.pass(2200 * time.Millisecond); r.keys("space") }},
	"a replay is over":      {replaying(0), passing(time.Second)},
	"scrolled away":         {func() backend.Options { return withWorld(play(longAnswer()...)) }, asking(pressing("pgup"))},
	"a cut turn is offered": {func() backend.Options { o, _ := withLeft(killed); return o }, passing(dialog.QuietPeriod)},
	"what may have happened": {func() backend.Options {
		question, _ := asked(unknown)
		return withWorld(hold(question))
	}, asking(passing(dialog.QuietPeriod))},
	"a mail is asked about": {func() backend.Options {
		question, _ := asked(onceOnly)
		return withWorld(hold(question))
	}, asking(passing(dialog.QuietPeriod))},
	"figures by day":   {withFigures, pressing("/stats", "enter")},
	"figures by model": {withFigures, pressing("/stats", "enter", "tab", "down")},
	"figures of turns": {withFigures, pressing("/stats turn", "enter", "G")},
	"no figures yet": {func() backend.Options {
		o := withFigures()
		o.Figures = func(context.Context, string) ([]agent.Figures, error) { return nil, nil }
		return o
	}, pressing("/stats", "enter")},
}

func statesOfAStep() []agent.Body {
	var made agent.PlanMade
	states := []agent.Status{agent.Pending, agent.Running, agent.Done, agent.StepFailed, agent.Denied, agent.Skipped}
	var changes []agent.Body
	for i, state := range states {
		id := fmt.Sprint(i + 1)
		made.Steps = append(made.Steps, agent.Step{ID: id, Tool: "list_tasks", Description: "state " + string(state)})
		changes = append(changes, agent.StepChanged{Step: id, Status: state, Reason: map[agent.Status]string{agent.Denied: "not now", agent.StepFailed: "no such note"}[state]})
	}
	made.Dropped = []string{"step 9: no tool is called shell"}
	return append([]agent.Body{made}, changes...)
}

func longAnswer() []agent.Body {
	var bodies []agent.Body
	for i := range 60 {
		bodies = append(bodies, agent.Said{Content: fmt.Sprintf("Paragraph %d.\n\n", i)})
	}
	return append(bodies, agent.Ended{})
}

// kept is a store with two conversations.
type kept struct{}

func (kept) New(context.Context) (string, error) { return "c9", nil }

func (kept) Recent(context.Context, int) ([]agent.Conversation, error) {
	day := time.Date(2000, 1, 1, 9, 30, 0, 0, time.UTC) // synctest's first day
	return []agent.Conversation{
		{ID: "c2", Title: "Marathon training", Messages: 6, Updated: day.Add(-20 * time.Hour)},
		{ID: "c1", Title: "A week in Lisbon", Messages: 4, Updated: day.Add(-300 * time.Hour)},
	}, nil
}

func (kept) Exchanges(_ context.Context, id string) ([]agent.Exchange, error) {
	if id != "c1" {
		return nil, errors.New("open conversation " + id + ": no such conversation")
	}
	return []agent.Exchange{
		{Turn: "c1.4", Siblings: []string{"c1.1", "c1.4"}, Current: true, Question: "When do I fly to Lisbon?", Answer: agent.Answer{
			Text: "On 3 May [1].", Sources: []agent.Source{{N: 1, Path: "trips/lisbon.md", Line: 3, Heading: "Flights"}},
			Citations: []agent.Citation{{N: 1, Path: "trips/lisbon.md", Line: 4, Verdict: agent.Stale}},
		}},
		{Turn: "c1.5", After: "c1.4", Current: true, Question: "And back?", Answer: agent.Answer{Text: "You come ba", Cut: true}},
		{Turn: "c1.6", After: "c1.5", Current: true, Question: "Book a hotel", Answer: agent.Answer{Error: "model server not reachable"}},
		{Turn: "c1.7", After: "c1.6", Current: true, Question: "Are you there?", Open: true},
	}, nil
}

func (k kept) Latest(ctx context.Context, id string, _ int) ([]agent.Exchange, error) {
	return k.Exchanges(ctx, id)
}

func (k kept) Tree(ctx context.Context, id string) ([]agent.Exchange, error) {
	path, err := k.Exchanges(ctx, id)
	return append([]agent.Exchange{
		{Turn: "c1.1", Siblings: []string{"c1.1", "c1.4"}, Question: "When do I fly?", Answer: agent.Answer{Text: "Where to? You fly to **Lisbon** on 3 May and to Rome in June."}},
		{Turn: "c1.2", After: "c1.1", Siblings: []string{"c1.2", "c1.3"}, Question: "To Rome", Answer: agent.Answer{Text: "On 7 June."}},
		{Turn: "c1.3", After: "c1.1", Siblings: []string{"c1.2", "c1.3"}, Question: "To Lisbon", Undone: true, Answer: agent.Answer{Text: "On 3 May."}},
	}, path...), err
}

func (kept) GoOn(context.Context, string, string) error { return nil }

func (kept) Show(context.Context, string, string) error { return nil }

func (kept) Fork(context.Context, string, string) (agent.Conversation, error) {
	return agent.Conversation{ID: "c1", Title: "A week in Lisbon (fork)"}, nil
}

// search finds one message by any words.
func search(_ context.Context, words string, _ int) ([]agent.Hit, error) {
	return []agent.Hit{{Conversation: "c1", Title: "A week in Lisbon", Turn: "c1.6", Excerpt: "…when do I " + words + " to Lisbon, and", Time: time.Date(2000, 1, 1, 9, 30, 0, 0, time.UTC)}}, nil
}

// shelf is a model server with two models, on which a pull takes its time.
type shelf struct{}

func (shelf) List(context.Context) ([]llm.Info, error) {
	return []llm.Info{
		{Name: "qwen3:8b", Size: 5_200_000_000, Context: 40960, Parameters: "8.2B", Capabilities: []string{"completion", "tools", "thinking"}},
		{Name: "gpt-oss:120b-cloud", Remote: "ollama.com", Capabilities: []string{"completion", "tools"}},
	}, nil
}

func (shelf) Use(context.Context, string) error { return nil }

func (shelf) Pull(ctx context.Context, _ string, progress func(string, int64, int64)) error {
	progress("pulling manifest", 0, 0)
	progress("pulling 5c9f", 2_100_000_000, 5_200_000_000)
	<-ctx.Done()
	return ctx.Err()
}

// deaf is a model server that does not answer.
type deaf struct{ shelf }

func (deaf) List(context.Context) ([]llm.Info, error) {
	return nil, fmt.Errorf("%w at 127.0.0.1:11434: connection refused", llm.ErrUnreachable)
}

func deafAndOffline() backend.Options {
	o := withEverything()
	status := make(chan backend.Status, 1)
	status <- backend.Status{Provider: "offline", Notes: 1284, Indexed: 1284}
	close(status)
	o.Models, o.Status = deaf{}, status
	return o
}

// unused has kept no conversation.
type unused struct{ kept }

func (unused) Recent(context.Context, int) ([]agent.Conversation, error) { return nil, nil }

// folders are what the first-run screen finds.
type folders struct{ took []backend.Offer }

func (*folders) Offers(context.Context) ([]backend.Offer, error) {
	return []backend.Offer{
		{Name: "Obsidian vault", Path: "/home/ana/Documents/Vault", Detail: "1,284 notes"},
		{Name: "Starter notes", Detail: "24 notes of a made-up life, to look around with", Ask: "how often do I run?"},
	}, nil
}

func (f *folders) Take(_ context.Context, o backend.Offer) error {
	if o.Path == "~/nowhere" {
		return errors.New("there is no folder ~/nowhere")
	}
	f.took = append(f.took, o)
	return nil
}

// noModel is a machine without a model server.
var noModel = backend.FoundModel{
	Says: "No model on this machine: answers quote your notes, which works at once.",
	Next: "For written ones install Ollama from ollama.com, then: ollama pull qwen3:8b. LifeHub notices by itself.",
}

// newcomer is somebody who has named no notes.
func newcomer(found backend.FoundModel) func() backend.Options {
	return func() backend.Options {
		o := withEverything()
		o.FirstRun = true
		o.FindModel = func(context.Context) backend.FoundModel { return found }
		return o
	}
}

// lookingAround is a machine on which nothing has been found yet.
func lookingAround() backend.Options {
	o := newcomer(noModel)()
	o.Notes = &slowFolders{}
	o.FindModel = func(ctx context.Context) backend.FoundModel { <-ctx.Done(); return backend.FoundModel{} }
	return o
}

// slowFolders are looked for until the screen is left.
type slowFolders struct{ folders }

func (*slowFolders) Offers(ctx context.Context) ([]backend.Offer, error) {
	<-ctx.Done()
	return nil, nil
}

func withEverything() backend.Options {
	o := withWorld(hold())
	o.Conversations, o.Branches, o.Search, o.Models, o.Notes = kept{}, kept{}, search, shelf{}, &folders{}
	o.Rename = func(context.Context, string, string) error { return nil }
	o.Prompts = func(context.Context, int) ([]string, error) {
		return []string{"the last prompt", "the one before"}, nil
	}
	o.Commands = []backend.Command{{
		Name: "tools", Args: "[NAME]", Help: "the tools and their levels",
		Run: func(context.Context, string, string) (string, error) {
			return "- search_notes: auto\n- add_task: confirm", nil
		},
	}}
	return o
}

// windowed is a turn that tells how its prompt fills the window.
var windowed = []agent.Body{
	agent.ContextCounted{
		Agent: "explainer", Used: 9420, Reserve: 2048, Allocated: 16384,
		Parts: map[string]int{"system": 610, "history": 2210, "summary": 340, "memory": 180, "sources": 4830, "results": 1130, "question": 120},
	},
	agent.Said{Content: "Three times a week."},
	agent.Used{Agent: "explainer", Prompt: 9307, Answer: 40},
	agent.Ended{},
}

// recalled is a turn that knows something from before.
var recalled = []agent.Body{
	agent.Remembered{
		Facts: []agent.Fact{
			{Text: "I run on Tuesdays, Thursdays and Sundays", Path: "memory.md", Line: 6, Fits: true},
			{Text: "My cat is called Whiskers", Path: "memory.md", Line: 5},
		},
		Exchanges: []agent.Recollection{{
			Question: "Which marathon did I want to run next year, and in what time?", Asked: time.Date(1999, 12, 1, 10, 0, 0, 0, time.UTC), Untrusted: true,
		}},
	},
	agent.Said{Content: "Three times a week."},
	agent.Ended{},
}

// withDocuments is a conversation in which a document was made and changed.
func withDocuments() backend.Options {
	o := withEverything()
	o.Assistant = play(
		agent.ArtifactChanged{Name: "asyncio", Version: 2, By: "general", Why: "said plainer"},
		agent.Said{Content: "The document is made."}, agent.Ended{},
	)
	o.Artifacts = &documents{name: "asyncio", why: "said plainer", text: "# asyncio\n\n- prefer `TaskGroup`\n- timeouts\n"}
	return o
}

// documents are two versions of one document.
type documents struct{ name, why, text string }

func (d *documents) ArtifactVersions(context.Context, string, string) ([]agent.Artifact, error) {
	day := time.Date(2000, 1, 1, 9, 30, 0, 0, time.UTC)
	return []agent.Artifact{
		{Conversation: "c1", Name: d.name, Version: 1, Text: "# asyncio\n\n- TaskGroup\n", By: "general", Why: "first draft", Time: day.Add(-time.Hour)},
		{Conversation: "c1", Name: d.name, Version: 2, Text: d.text, By: "general", Why: d.why, Time: day},
	}, nil
}

func (d *documents) Artifacts(ctx context.Context, conversation string) ([]agent.Artifact, error) {
	versions, err := d.ArtifactVersions(ctx, conversation, d.name)
	return versions[1:], err
}

func withFigures() backend.Options {
	o := withWorld(hold())
	o.Figures = func(_ context.Context, by string) ([]agent.Figures, error) {
		var list []agent.Figures
		names := map[string][]string{
			"day":   {"2026-03-14", "2026-03-13", "2026-03-11", "2026-03-02"},
			"model": {"qwen3:8b", "", "hf.co/a/model-with-a-long-name-that-does-not-fit:Q4_K_M"},
		}[by]
		for i := 0; by == "turn" && i < 30; i++ {
			names = append(names, fmt.Sprintf("c.%d", i))
		}
		for i, name := range names {
			f := agent.Figures{
				Of: name, Turns: 12 + 400*i, Cut: i, Latency50: int64(4200 * (i + 1) / 2), Latency95: int64(9800 * (i + 1)), FirstToken50: 1100, FirstToken95: 3000,
				PromptTokens: 12_300, AnswerTokens: 2100, PerSecond: 42.04, ModelCalls: 24, Searches: 10, Passages: 50, Cited: 12, ToolsOK: 18, ToolsFailed: 1, ToolsDenied: 2, Asked: 3,
			}
			if by == "turn" {
				f.Turns, f.Cut, f.Title = 1, 0, fmt.Sprintf("What was question %d about the garden and the boat\x1b[31m?", i)
			}
			if i == 2 && by != "turn" {
				f = agent.Figures{Of: name, Turns: 1, Cut: 1}
			}
			list = append(list, f)
		}
		return list, nil
	}
	return o
}

func TestEveryKeyIsInAPictureOfHelp(t *testing.T) {
	keys := keys.Default()
	h := panel.Help{}
	h.Build(&keys, 100, draw.NewTheme("", true, false, nil))
	page := strings.Join(h.Lines, "\n")
	for _, group := range keys.Groups() {
		for _, named := range group.Keys {
			if b := key.Binding(*named.Binding); !strings.Contains(page, b.Help().Key) {
				t.Errorf("help does not name %s", named.Name)
			}
		}
	}
}

func TestTheHeaderKeepsItsCountWhereTheServerSaysNone(t *testing.T) {
	options := withWorld(play(agent.ContextCounted{Agent: "explainer", Used: 2100, Allocated: 16384}, agent.Said{Content: "Yes."}, agent.Used{Agent: "explainer"}, agent.Ended{Answer: "Yes."}))
	inRig(t, 80, 30, options, func(r *rig) {
		r.ask("Do I run?")
		r.mustShow("ctx 2.1k of 16k")
	})
}
