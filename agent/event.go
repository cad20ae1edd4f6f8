// Package agent holds the words of answering a message: what a tool, an
// event, a source, a permission and a saved turn are. What works with them
// stands below, first of all package turn.
package agent

import (
	"encoding/json"
	"time"

	"lifehub/internal/text"
)

// Event is something that happened during a turn. Its JSON is one flat
// object: the fields here, then those of Body.
type Event struct {
	Type string    `json:"type"` // the fixed name: start, plan, token …
	Turn string    `json:"turn"`
	Seq  int       `json:"seq"` // counts from 1 within the turn
	Time time.Time `json:"time"`
	Body Body      `json:"-"`
}

// Body says what happened, in the past tense. Only this package makes
// bodies; a front end switches over their types.
type Body interface{ name() string }

// TypeOf is the fixed name of what happened.
func TypeOf(body Body) string { return body.name() }

type (
	// Started is always first.
	Started struct {
		Conversation string `json:"conversation"`
		Message      string `json:"message"`
		Mode         string `json:"mode"`
		Resumed      bool   `json:"resumed,omitempty"` // a turn that was cut is resumed
	}

	// PhaseStarted and PhaseEnded frame the work of one agent, such as planner,
	// worker or explainer. Those of a team's worker name the step that handed it
	// the task; the others' Step is "".
	PhaseStarted struct {
		Agent   string `json:"agent"`
		Step    string `json:"step,omitempty"`
		Attempt int    `json:"attempt,omitempty"` // from 1
		Reason  string `json:"reason,omitempty"`  // why the message was handed to it
	}
	PhaseEnded struct {
		Agent   string   `json:"agent"`
		Step    string   `json:"step,omitempty"`
		Attempt int      `json:"attempt,omitempty"`
		Score   *float64 `json:"score,omitempty"` // 0 to 1; nil: it was not judged
		Passed  bool     `json:"passed,omitempty"`
		Took    int64    `json:"took_ms"`
	}

	// ArtifactChanged reports a new version of a document, without its text.
	ArtifactChanged struct {
		Step    string `json:"step"`
		Name    string `json:"name"`
		Version int    `json:"version"`
		By      string `json:"by"`
		Why     string `json:"why,omitempty"`
	}

	// Evaluated is the evaluator's verdict on an attempt of a worker.
	Evaluated struct {
		Step    string `json:"step"`
		Attempt int    `json:"attempt"`
		Report  string `json:"report,omitempty"` // what was judged
		Judgement
	}

	// Remembered reports what came back from long-term memory.
	Remembered struct {
		Exchanges []Recollection `json:"exchanges,omitempty"`
		Facts     []Fact         `json:"facts,omitempty"` // those that the prompts hold
	}

	// PlanMade replaces any plan shown before. Dropped names what of the
	// model's plan was left out, and why; Repaired what was written otherwise and
	// means the same, which concerns nobody but who reads the trace. Before are the steps of
	// earlier plans of the turn: they stay as they are and are not run again.
	// A plan Under a step is that of the worker which the step handed its task
	// to; its steps stand below that step.
	PlanMade struct {
		Mode      Mode     `json:"mode,omitempty"`    // how the turn is worked on; "": by a plan
		Under     string   `json:"under,omitempty"`   // "": it is the plan of the turn itself
		Attempt   int      `json:"attempt,omitempty"` // of the worker, from 1; of the turn itself AfterAnswer
		Reasoning string   `json:"reasoning,omitempty"`
		Before    []Step   `json:"before,omitempty"`
		Steps     []Step   `json:"steps"`
		Dropped   []string `json:"dropped,omitempty"`
		Repaired  []string `json:"repaired,omitempty"`
		Fallback  bool     `json:"fallback,omitempty"` // the model gave no usable plan
		Again     bool     `json:"again,omitempty"`    // more is planned once these steps have run
	}

	// StepChanged reports each change of a step's state.
	StepChanged struct {
		Step   string `json:"step"`
		Status Status `json:"status"`
		Reason string `json:"reason,omitempty"` // why it failed, was denied or skipped
	}

	// ToolStarted and ToolEnded frame one call; Call pairs them.
	ToolStarted struct {
		Step  string          `json:"step"`
		Call  string          `json:"call"`
		Name  string          `json:"name"`
		Input json.RawMessage `json:"input"`
	}
	ToolEnded struct {
		Step    string   `json:"step"`
		Call    string   `json:"call"`
		Name    string   `json:"name"`
		Output  string   `json:"output,omitempty"`
		Error   string   `json:"error,omitempty"`
		Cause   string   `json:"cause,omitempty"` // what the system or a server said itself, of an error of the network
		Sources []Source `json:"sources,omitempty"`
		Nothing bool     `json:"nothing,omitempty"` // a search that found nothing
		Took    int64    `json:"took_ms"`

		Coverage *Coverage `json:"coverage,omitempty"` // of a search of the notes
	}

	// ToolProgressed reports how far a running call is.
	ToolProgressed struct {
		Step string `json:"step"`
		Call string `json:"call"`
		Name string `json:"name"`
		Progress
	}

	// InputAsked holds its call until Reply is called; the first reply
	// counts. InputGiven does not hold the values: they may be secret.
	InputAsked struct {
		Step string `json:"step"`
		Call string `json:"call"`
		ID   string `json:"id"` // pairs the two
		Name string `json:"name"`
		Question
		Reply func(Input) `json:"-"`
	}
	InputGiven struct {
		Step   string      `json:"step"`
		Call   string      `json:"call"`
		ID     string      `json:"id"`
		Action InputAction `json:"action"`
		Reason string      `json:"reason,omitempty"`
	}

	// PermissionAsked holds its step until Reply is called; the first reply counts.
	PermissionAsked struct {
		Step    string          `json:"step"`
		Call    string          `json:"call"`
		Name    string          `json:"name"`
		Input   json.RawMessage `json:"input"`         // exactly what will run
		Hash    string          `json:"hash"`          // SHA-256 of Input, in hex
		Reason  string          `json:"reason"`        // which rule asked, and why
		New     []string        `json:"new,omitempty"` // what in Input would leave the machine that the user did not say
		Rule    string          `json:"rule"`          // the rule that "always" would write; "": only once can be said
		Preview Preview         `json:"preview,omitzero"`

		// Where nobody can be asked: the rule that would let the call run, with
		// VALUE and HOST for what it has to name, "" if none would. Untrusted: only
		// one that holds after untrusted text.
		Allow     string `json:"allow,omitempty"`
		Untrusted bool   `json:"untrusted,omitempty"`

		Reply func(Reply) `json:"-"`

		// Check says what of other arguments does not fit the tool; nil: they are
		// checked when they are replied.
		Check func(input json.RawMessage) error `json:"-"`

		// Unknown: the call had been started at Since, and LifeHub was stopped
		// before its end, so nobody knows whether it happened. AllowOnce makes it
		// again, AlreadyDone takes it as done, everything else skips it.
		Unknown bool      `json:"outcome_unknown,omitempty"`
		Since   time.Time `json:"since,omitzero"`
	}
	PermissionGiven struct {
		Step     string   `json:"step"`
		Call     string   `json:"call"`
		Decision Decision `json:"decision"`
		Reason   string   `json:"reason,omitempty"` // the user's why, or the rule that decided
	}

	// Thought and Said carry the next piece, not the whole. Workers think side
	// by side: Step is the one that handed the task to who thinks, "" for the
	// turn itself.
	Thought struct {
		Agent   string `json:"agent,omitempty"`
		Step    string `json:"step,omitempty"`
		Content string `json:"content"`
	}
	Said struct {
		Content string `json:"content"`
	}

	// ContextCounted reports how a prompt fills the window, and which calls it
	// holds the results of.
	ContextCounted struct {
		Agent     string         `json:"agent"`
		Step      string         `json:"step,omitempty"`    // as in Thought
		Parts     map[string]int `json:"parts"`             // estimated tokens by part
		Used      int            `json:"used"`              // their sum
		Reserve   int            `json:"reserve,omitempty"` // kept free for the answer
		Allocated int            `json:"allocated"`         // the window; 0: unknown
		Log       []Logged       `json:"log,omitempty"`     // results in their first few hundred bytes
	}

	// Used is the server's own count after a model call.
	Used struct {
		Agent     string  `json:"agent"`
		Step      string  `json:"step,omitempty"` // as in Thought
		Prompt    int     `json:"prompt_tokens"`
		Answer    int     `json:"answer_tokens"`
		PerSecond float64 `json:"tokens_per_second,omitempty"`
	}

	// Cited is the verdict on one citation of the answer.
	Cited struct {
		Citation
		Source Source `json:"source"`
	}

	// Noticed is something the user should know that stops nothing.
	Noticed struct {
		Text    string `json:"text"`
		Passing bool   `json:"passing,omitempty"` // true until the model is heard of again
	}

	// Failed ends a turn that could not be finished. Text streamed before
	// stays, and is saved; what was found and not yet told is listed in it.
	Failed struct {
		Message string   `json:"message"`
		Hint    string   `json:"hint,omitempty"`   // what to do next
		Unkept  bool     `json:"unkept,omitempty"` // the message could not be saved: it is only where it was typed
		Effects Effects  `json:"effects"`
		Dropped []string `json:"dropped,omitempty"` // as in Ended
		Err     error    `json:"-"`
	}

	// Ended ends a turn that was finished or interrupted.
	Ended struct {
		Answer  string   `json:"answer"`
		Log     []Logged `json:"log,omitempty"` // what was done and thought meanwhile, in order
		Effects Effects  `json:"effects"`
		Sources []Source `json:"sources,omitempty"` // numbered
		Dropped []string `json:"dropped,omitempty"` // what of the plans was left out or changed, and why
		Unasked []string `json:"unasked,omitempty"` // tools that needed a permission when nobody could be asked

		Unanswered bool      `json:"unanswered,omitempty"` // the notes hardly say it, with which the answer begins
		Nearest    []Source  `json:"nearest,omitempty"`    // then: what comes nearest, best first
		Close      bool      `json:"close,omitempty"`      // then: it is near to the question, but hardly on it
		Coverage   *Coverage `json:"coverage,omitempty"`   // how far the search went; nil: none was made
		Metrics
	}
)

// Status is the state of a step.
type Status string

// The states of a step: pending, running, then one of the others.
const (
	Pending    Status = "pending"
	Running    Status = "running"
	Done       Status = "done"
	StepFailed Status = "failed"
	Denied     Status = "denied"
	Skipped    Status = "skipped"
)

func (Started) name() string         { return "start" }
func (PhaseStarted) name() string    { return "agent_start" }
func (PhaseEnded) name() string      { return "agent_end" }
func (Evaluated) name() string       { return "evaluation" }
func (ArtifactChanged) name() string { return "artifact" }
func (Remembered) name() string      { return "memory" }
func (PlanMade) name() string        { return "plan" }
func (StepChanged) name() string     { return "step" }
func (ToolStarted) name() string     { return "tool_start" }
func (ToolEnded) name() string       { return "tool_end" }
func (ToolProgressed) name() string  { return "tool_progress" }
func (InputAsked) name() string      { return "input_request" }
func (InputGiven) name() string      { return "input_result" }
func (PermissionAsked) name() string { return "permission_request" }
func (PermissionGiven) name() string { return "permission_result" }
func (Thought) name() string         { return "thinking" }
func (Said) name() string            { return "token" }
func (ContextCounted) name() string  { return "context_log" }
func (Used) name() string            { return "usage" }
func (Cited) name() string           { return "citation" }
func (Noticed) name() string         { return "notice" }
func (Failed) name() string          { return "error" }
func (Ended) name() string           { return "end" }

// Step is one tool call of a plan.
type Step struct {
	ID          string          `json:"id"`
	Tool        string          `json:"tool"`
	Input       json.RawMessage `json:"input"`
	Description string          `json:"description,omitempty"`
	After       []string        `json:"after,omitempty"` // ids of the steps that must end first
	Extra       bool            `json:"extra,omitempty"` // LifeHub's own: a search of the notes, where the model looked elsewhere or nowhere
}

// Decision is an answer to a permission question.
type Decision string

// The decisions.
const (
	AllowOnce         Decision = "once"
	AllowConversation Decision = "conversation"
	AllowAlways       Decision = "always"
	AllowByRule       Decision = "auto"   // nobody had to be asked
	DenyByRule        Decision = "deny"   // nobody was asked
	AlreadyDone       Decision = "done"   // of a call whose outcome was unknown
	Edited            Decision = "edited" // Reply.Input is asked about in place of what was
	Refuse            Decision = "no"
)

// Reply is the user's answer to PermissionAsked.
type Reply struct {
	Decision Decision
	Reason   string // why not, told to the model; "" for none
	Input    string // of Edited: the arguments, as JSON
}

// Verdict is what the check of a citation found.
type Verdict string

const (
	Verified     Verdict = "verified"
	Cites        Verdict = "cited" // nothing is quoted: it says nothing of support. Detail is what the model found
	NotFound     Verdict = "not_found"
	Stale        Verdict = "stale"
	Supported    Verdict = "supported"    // by the model's word
	Contradicted Verdict = "contradicted" // by the model's word
)

// UnmarshalText reads a verdict. An earlier version saved "differs" of sentences
// that quote nothing; they are cited.
func (v *Verdict) UnmarshalText(text []byte) error {
	if *v = Verdict(text); *v == "differs" {
		*v = Cites
	}
	return nil
}

// Citation is one [n] of an answer after the check, or a quotation without a
// number. Line is the line of the best-matching sentence.
type Citation struct {
	N       int    `json:"n"` // 0: no source that was given
	Path    string `json:"path"`
	Line    int    `json:"line"`
	EndLine int    `json:"end_line"`
	Quote   string `json:"quote"`
	// Words is the quotation that was judged, where the answer gives no number
	// for it; N is then the source that holds it.
	Words string `json:"words,omitempty"`
	// Quoted is the verdict on each quotation, where it is not that of the whole.
	Quoted   []Quoted `json:"quoted,omitempty"`
	Verdict  Verdict  `json:"verdict"`
	Context  string   `json:"context,omitempty"`  // of verified: what changes the sense of the quoted words; "": nothing does
	Detail   string   `json:"detail,omitempty"`   // why, in words; "": the verdict says it all
	Sentence string   `json:"sentence,omitempty"` // of the answer, that the verdict is on
	At       int      `json:"at,omitempty"`       // where the citation ends in the answer, in bytes
}

// Place names what is cited: note.md:12, or the address of a page.
func (c Citation) Place() string { return PlaceName(c.Path, c.Line) }

// Quoted is a quotation of an answer after the check.
type Quoted struct {
	Text    string  `json:"text"`
	Verdict Verdict `json:"verdict"`
}

// Judgement is what the evaluator says of a worker's result.
type Judgement struct {
	Passed      bool    `json:"passed"`
	Unjudged    bool    `json:"unjudged,omitempty"` // it passed because nothing readable was said of it
	Score       float64 `json:"score"`              // 0 to 1
	Feedback    string  `json:"feedback,omitempty"`
	Suggestions string  `json:"suggestions,omitempty"`
}

// Brief says in one line what a call brought; "" when it failed.
func (e ToolEnded) Brief() string {
	switch {
	case e.Coverage != nil && e.Coverage.Time != nil:
		return e.Coverage.Time.String()
	case len(e.Sources) > 0:
		return text.Count(len(e.Sources), "passage")
	case e.Nothing:
		return "nothing found"
	}
	return text.Clip(text.OneLine(e.Output), MaxLogged)
}

const MaxLogged = 200 // of a result that is kept with the answer

// AfterAnswer is the attempt of the plan that follows the answer of its turn; the
// turn's other plans have none.
const AfterAnswer = 1

// FollowsAnswer reports whether the plan is the last of its turn, made of the answer.
func (p PlanMade) FollowsAnswer() bool { return p.Under == "" && p.Attempt == AfterAnswer }
