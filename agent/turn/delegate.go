package turn

import (
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"lifehub/agent"
	"lifehub/internal/text"
	"lifehub/llm"
)

//go:embed prompts/worker.md
var workerPrompt string

const (
	// maxAttempts is how often a worker tries a task.
	maxAttempts = 3
)

// delegation is a task for a worker.
type delegation struct {
	Worker     string          `json:"worker_type"`
	Task       string          `json:"task_description"`
	Parameters json.RawMessage `json:"parameters,omitempty"`
	Criteria   string          `json:"success_criteria,omitempty"`
}

// delegate is the tool. What a worker does passes the gate call by call, so
// that handing out a task needs no permission of its own.
type delegate struct {
	turn  *turn
	kinds []role
}

// delegation is the tool for this turn; a list of one.
func (t *turn) delegation() []agent.Tool {
	return []agent.Tool{&delegate{turn: t, kinds: workersFor(t.tools)}}
}

func (d *delegate) Spec() llm.ToolSpec {
	return llm.ToolSpec{
		Name:        agent.DelegateTool,
		Description: "Hand a task to a worker, which works on it with its own tools until an evaluator is content. Workers: " + strings.ReplaceAll(describeWorkers(d.kinds), "\n", " "),
		Schema: json.RawMessage(`{"type":"object","properties":{"worker_type":{"type":"string","enum":` + workerNames(d.kinds) + `},` +
			`"task_description":{"type":"string","description":"all that the worker must know; it sees nothing else"},"parameters":{"type":"object"},` +
			`"success_criteria":{"type":"string","description":"by what its result will be judged"}},"required":["worker_type","task_description"]}`),
	}
}

func (d *delegate) Level(json.RawMessage) agent.Level { return agent.Auto }
func (d *delegate) ReadOnly() bool                    { return true }

// wait runs the tool to its end. Each of its calls has a bound of its own and
// ends with ctx.
func (d *delegate) wait(ctx context.Context, p *permit) (_ agent.Result, err error) {
	defer agent.Catch(&err)
	return p.run(ctx)
}

// Run works on the task. A result that was never accepted is the best there
// was, and marked.
func (d *delegate) Run(ctx context.Context, raw json.RawMessage) (agent.Result, error) {
	task, err := agent.ReadArgs[delegation](agent.DelegateTool, raw)
	if err != nil {
		return agent.Result{}, err
	}
	desk := agent.HostFrom(ctx)
	if desk == nil {
		return agent.Result{}, errors.New("a task can only be handed out within a turn")
	}
	for _, kind := range d.kinds {
		if kind.name == task.Worker {
			return d.turn.delegated(ctx, desk.Step(), kind, task)
		}
	}
	return agent.Result{}, fmt.Errorf("there is no worker %.60q", task.Worker)
}

// attempt is what one try of a worker came to.
type attempt struct {
	report string
	agent.Judgement
}

// delegated lets a worker try until the evaluator is content.
func (t *turn) delegated(ctx context.Context, step string, kind role, task delegation) (agent.Result, error) {
	own := kind.of(t.tools)
	th := &agentLoop{
		turn: t, agent: kind.name, parentStep: step, tools: chooseTools(own, task.Task, t.MaxTools), callable: own, rounds: kind.rounds,
		system: strings.NewReplacer("{today}", date(t.Now()), "{worker}", kind.prompt).Replace(workerPrompt),
		task:   task.text(),
	}
	var best attempt
	for n := 1; n <= maxAttempts; n++ {
		th.attempt = n
		tried, err := t.try(ctx, th, task)
		if err != nil {
			if ctx.Err() != nil {
				return agent.Result{}, err
			}
			t.survived(fmt.Sprintf("the %s worker (step %s) stopped", kind.name, step), err)
			result := th.result(best.report)
			if result.Partial = true; result.Nothing {
				return agent.Result{}, errors.New("its worker stopped before it found anything")
			}
			return result, nil
		}
		if tried.Passed {
			return th.result(tried.report), nil
		}
		if n == 1 || tried.Score > best.Score {
			best = tried
		}
		th.after = append(th.after,
			llm.Message{Role: llm.Assistant, Text: text.Clip(cmp.Or(tried.report, "(no report)"), repeatResult)},
			llm.Message{Role: llm.User, Text: again(tried.Judgement)})
		th.repeated = 0
	}
	t.emit(agent.Noticed{Text: strings.TrimSpace(fmt.Sprintf("The %s worker's result (step %s) is partial: it was not accepted in %d attempts. %s", kind.name, step, maxAttempts, text.OneLine(text.Clip(best.Feedback, 300))))})
	result := th.result(best.report)
	result.Partial = true
	return result, nil
}

// try is one attempt and its verdict.
func (t *turn) try(ctx context.Context, th *agentLoop, task delegation) (_ attempt, err error) {
	t.emit(agent.PhaseStarted{Agent: th.agent, Step: th.parentStep, Attempt: th.attempt})
	start := t.Now()
	ended := agent.PhaseEnded{Agent: th.agent, Step: th.parentStep, Attempt: th.attempt}
	defer func() {
		ended.Took = t.since(start)
		t.emit(ended)
	}()
	tried, kept := t.saved.judged[try{th.parentStep, th.attempt}]
	if kept {
		err = th.replay(ctx)
	} else {
		tried, err = th.judged(ctx, task)
	}
	if err != nil {
		return attempt{}, err
	}
	ended.Score, ended.Passed = &tried.Score, tried.Passed
	t.emit(agent.Evaluated{Step: th.parentStep, Attempt: th.attempt, Judgement: tried.Judgement})
	return tried, nil
}

// judged lets the worker report and the evaluator judge, and keeps both: a turn
// that is resumed does neither again.
func (th *agentLoop) judged(ctx context.Context, task delegation) (attempt, error) {
	report, err := th.report(ctx)
	if err != nil {
		return attempt{}, err
	}
	verdict, err := th.evaluate(ctx, th, task, report)
	if err != nil {
		return attempt{}, err
	}
	return attempt{report, verdict}, th.journal(ctx, agent.Entry{Moment: agent.Judged, Step: th.parentStep, Attempt: th.attempt, Report: report, Verdict: &verdict})
}

// report runs the worker to its last words. One whose rounds are used up is
// asked for them; one whose model calls no tools is told how to print calls.
// Of words that were cut off, what arrived is the report.
func (th *agentLoop) report(ctx context.Context) (string, error) {
	said, err := th.run(ctx)
	if cannotCall(err) && !th.inWords {
		th.inWords = true
		said, err = th.run(ctx)
	}
	if errors.Is(err, llm.ErrCut) {
		said, err = true, nil
	}
	if err != nil || said {
		return strings.TrimSpace(th.text), err
	}
	last := *th
	last.tools = nil
	last.after = append(last.after[:len(last.after):len(last.after)], llm.Message{Role: llm.User, Text: "No more calls can be made. Report now what you have, and say what is missing."})
	if _, err := last.decide(ctx); err != nil && !errors.Is(err, llm.ErrCut) {
		return "", err
	}
	return strings.TrimSpace(last.text), nil
}

// result is what the turn gets of a worker: its report, and what it rests on.
func (th *agentLoop) result(report string) agent.Result {
	result := agent.Result{Text: report, Sources: th.sourcesOf(th.found)}
	result.Nothing = report == "" && len(result.Sources) == 0
	for _, f := range th.found {
		if f.status == agent.StepFailed && (f.result.Untrusted || errorsUntrusted(th.tool(f.step.Tool))) {
			result.Untrusted = true // the report may tell the words of its error
		}
		if f.status != agent.Done || f.same != "" {
			continue
		}
		result.Untrusted = result.Untrusted || f.result.IsUntrusted()
		result.Coverage = cmp.Or(f.result.Coverage, result.Coverage)
	}
	return result
}

// text is the task as the worker reads it.
func (d delegation) text() string {
	task := "Your task:\n" + d.Task
	if len(d.Parameters) > 2 && string(d.Parameters) != "null" {
		task += "\n\nParameters: " + text.Clip(string(d.Parameters), repeatResult)
	}
	if d.Criteria != "" {
		task += "\n\nIt is done well when: " + d.Criteria
	}
	return task
}
