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
	"lifehub/agent/prompt"
	"lifehub/internal/text"
	"lifehub/llm"
)

//go:embed prompts/worker.md
var workerPrompt string

const (
	// maxAttempts is how often a worker tries a task.
	maxAttempts = 3
)

// delegate is the tool that delegates a task to a worker. It needs no
// permission, because each of the worker's calls passes the gate.
type delegate struct {
	turn  *turn
	kinds []Worker
	lead  bool // for the lead of a team
}

func (d *delegate) Spec() llm.ToolSpec {
	property := ""
	if d.lead {
		property = `,"whole_message":{"type":"boolean","description":"true: this one task is all that the message ` +
			`asks for, and its report is the answer"}`
	}
	return llm.ToolSpec{
		Name:        agent.DelegateTool,
		Description: "Hand a task to a worker. Workers: " + strings.ReplaceAll(describeWorkers(d.kinds), "\n", " "),
		Schema: json.RawMessage(`{"type":"object","properties":{"worker_type":{"type":"string","enum":` +
			workerNames(d.kinds) + `},` +
			`"task_description":{"type":"string","description":"all it must know"},` +
			`"success_criteria":{"type":"string"}` + property + `},"required":["worker_type","task_description"]}`),
	}
}

func (d *delegate) Properties() agent.Properties {
	return agent.Properties{ReadOnly: true, LoopOnly: true, Delegates: true}
}

// Run works on the task. If no result was accepted, it returns the best one,
// marked as partial.
func (d *delegate) Run(ctx context.Context, raw json.RawMessage) (agent.Result, error) {
	task, err := agent.ReadArgs[delegation](agent.DelegateTool, raw)
	if err != nil {
		return agent.Result{}, err
	}
	host := agent.HostFrom(ctx)
	if host == nil {
		return agent.Result{}, errors.New("a task can only be handed out within a turn")
	}
	for _, kind := range d.kinds {
		if kind.Name == task.Worker {
			return d.turn.delegated(ctx, host.Step(), kind, task)
		}
	}
	return agent.Result{}, fmt.Errorf("unknown worker %.60q", task.Worker)
}

// attempt is the result of one attempt of a worker.
type attempt struct {
	report    string
	judgement agent.Judgement
}

// delegated lets a worker try until the evaluator accepts its report.
func (t *turn) delegated(ctx context.Context, step string, kind Worker, task delegation) (agent.Result, error) {
	own, form := kind.Of(t.tools), "Name the place that each statement comes from."
	if t.plans.sole {
		form = alone
	}
	l := &agentLoop{
		turn: t, parentStep: step, numbered: t.plans.sole, callable: own, rounds: kind.Rounds, writes: kind.Writes,
		base: prompt.Prompt{
			Agent: kind.Name, Step: step, Fence: t.fence(), Today: t.today(), Question: task.text(),
			System: strings.TrimSpace(t.agent.Instructions + "\n\n" +
				strings.NewReplacer("{worker}", kind.Instructions, "{report}", form).Replace(workerPrompt)),
			Material: task.parts(t.fence()),
		},
	}
	if t.plans.sole {
		l.base.Question += "\n\nIt is for this message of the user, which your report answers:\n" +
			withSteering(t.message.question, t.message.received)
	}
	var best attempt
	for n := 1; n <= maxAttempts; n++ {
		l.attempt = n
		tried, err := t.try(ctx, l, task)
		if err != nil {
			if ctx.Err() != nil {
				return agent.Result{}, err
			}
			t.events.Degrade(fmt.Sprintf("the %s worker (step %s) stopped", kind.Name, step), err)
			result := l.result(best.report)
			if result.Partial = true; result.Nothing {
				return agent.Result{}, errors.New("its worker stopped before it found anything")
			}
			return result, nil
		}
		if tried.judgement.Passed {
			result := l.result(tried.report)
			result.Accepted = kind.Writes && !tried.judgement.Unjudged
			return result, nil
		}
		if n == 1 || tried.judgement.Score > best.judgement.Score {
			best = tried
		}
		l.after = append(l.after,
			llm.Message{Role: llm.Assistant, Text: text.Clip(cmp.Or(tried.report, "(no report)"), repeatResult)},
			llm.Message{Role: llm.User, Text: l.again(tried.judgement)})
		l.verdicts = append(l.verdicts, fmt.Sprintf("Attempt %d, score %.2f: %s", n, tried.judgement.Score,
			tried.judgement.Feedback))
		l.repeated = 0
	}
	t.events.Emit(agent.Noticed{Text: strings.TrimSpace(fmt.Sprintf("The %s worker's result (step %s) is incomplete: "+
		"it was not accepted after %d attempts. %s", kind.Name, step, maxAttempts,
		text.OneLine(text.Clip(best.judgement.Feedback, 300))))})
	result := l.result(best.report)
	result.Partial = true
	return result, nil
}

// try makes one attempt and has it evaluated.
func (t *turn) try(ctx context.Context, l *agentLoop, task delegation) (tried attempt, err error) {
	ended := agent.PhaseEnded{Agent: l.base.Agent, Step: l.parentStep, Attempt: l.attempt}
	t.events.Emit(agent.PhaseStarted{Agent: ended.Agent, Step: ended.Step, Attempt: ended.Attempt})
	start := t.events.Now()
	defer func() {
		ended.Took = t.events.Since(start)
		t.events.Emit(ended)
	}()
	var saved bool
	if tried.report, tried.judgement, saved = t.saved.verdict(l.parentStep, l.attempt); saved {
		err = l.replay(ctx)
	} else {
		tried, err = l.judged(ctx, task)
	}
	if err != nil {
		return attempt{}, err
	}
	ended.Score, ended.Passed = &tried.judgement.Score, tried.judgement.Passed
	t.events.Emit(agent.Evaluated{
		Step: l.parentStep, Attempt: l.attempt, Report: tried.report,
		Judgement: tried.judgement,
	})
	return tried, nil
}

// judged lets the worker report and the evaluator judge, and journals both, so
// that a resumed turn repeats neither.
func (l *agentLoop) judged(ctx context.Context, task delegation) (attempt, error) {
	report, err := l.report(ctx)
	if err != nil {
		return attempt{}, err
	}
	verdict, err := l.turn.evaluate(ctx, l.assessment(task, report))
	if err != nil {
		return attempt{}, err
	}
	return attempt{report, verdict}, l.turn.events.Enter(ctx,
		agent.Entry{Moment: agent.Judged, Step: l.parentStep, Attempt: l.attempt, Report: report, Verdict: &verdict})
}

// report runs the worker and returns its report. If its rounds are used up, it
// is asked for one. If the report is cut off, the part that arrived is used.
func (l *agentLoop) report(ctx context.Context) (string, error) {
	answered, err := l.run(ctx)
	if errors.Is(err, llm.ErrCut) {
		answered, err = true, nil
	}
	if err != nil || answered {
		return strings.TrimSpace(l.text), err
	}
	last := *l
	last.silent = true
	last.after = append(last.after[:len(last.after):len(last.after)],
		llm.Message{Role: llm.User, Text: "No more calls can be made. Report now what you have, and say what is " +
			"missing."})
	if _, err := last.decide(ctx); err != nil && !errors.Is(err, llm.ErrCut) {
		return "", err
	}
	return strings.TrimSpace(last.text), nil
}

// result returns the result of a worker: its report and its sources.
func (l *agentLoop) result(report string) agent.Result {
	result := agent.Result{Text: report, Sources: l.turn.sourcesOf(l.found)}
	result.Nothing = report == "" && len(result.Sources) == 0
	result.Unlikely = nothingIn(l.found)
	for _, f := range l.found {
		result.Origin = result.Origin.And(f.Result.Origin)
		// the report may repeat the error's text
		result.Untrusted = result.Untrusted || f.Status == agent.StepFailed && f.Result.Untrusted
		if f.Status != agent.Done || f.same != "" {
			continue
		}
		result.Untrusted = result.Untrusted || f.Result.IsUntrusted()
		result.Coverage = cmp.Or(f.Result.Coverage, result.Coverage)
	}
	return result
}

// delegation returns the tool for this turn.
func (t *turn) delegation() []agent.Tool {
	return []agent.Tool{&delegate{turn: t, kinds: t.workers(), lead: t.mode == agent.TeamMode}}
}
