// Package agent defines the types shared by everything that answers a message:
// tools and the arguments of their calls, events and the stream that numbers, journals
// and traces them, sources, permissions and saved turns. The code that uses them is in
// subpackages; start with package turn.
package agent

import (
	"encoding/json"
	"strings"
	"time"

	"lifehub/internal/text"
)

// Event is something that happened during a turn. Its JSON is one flat object:
// the fields here, then those of Body.
type Event struct {
	Type string    `json:"type"` // fixed name: start, plan, token …
	Turn string    `json:"turn"`
	Seq  int       `json:"seq"` // starts at 1 in each turn
	Time time.Time `json:"time"`
	Body Body      `json:"-"`
}

// Body describes what happened, with a type in the past tense. Only this
// package defines bodies; a front end switches on their types.
type Body interface{ name() string }

// TypeOf returns the fixed name of the event.
func TypeOf(body Body) string { return body.name() }

type (
	// Started is always the first event.
	Started struct {
		Conversation string `json:"conversation"`
		Message      string `json:"message"`
		Mode         string `json:"mode"`
		Resumed      bool   `json:"resumed,omitempty"` // an interrupted turn is resumed

		// Steer offers a message to the turn, which takes it before it asks the
		// model next, or starts another step, and then reports it as Noticed. A
		// message that it has not taken when it ends was not sent. nil: the turn
		// takes none.
		Steer func(Steering) `json:"-"`
	}

	// PhaseStarted and PhaseEnded mark the start and end of work by one agent,
	// such as planner, worker or explainer. For a worker of a team, Step is the
	// step that delegated the task; otherwise it is "".
	PhaseStarted struct {
		Agent   string `json:"agent"`
		Step    string `json:"step,omitempty"`
		Attempt int    `json:"attempt,omitempty"` // from 1
		Reason  string `json:"reason,omitempty"`  // why the message was handed to the agent
	}
	PhaseEnded struct {
		Agent   string   `json:"agent"`
		Step    string   `json:"step,omitempty"`
		Attempt int      `json:"attempt,omitempty"`
		Score   *float64 `json:"score,omitempty"` // 0 to 1; nil if not judged
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
		Report  string `json:"report,omitempty"` // the text that was judged
		Judgement
	}

	// Remembered reports what was recalled from long-term memory.
	Remembered struct {
		Exchanges []Recollection `json:"exchanges,omitempty"`
		Facts     []Fact         `json:"facts,omitempty"` // those in the prompts
	}

	// PlanMade replaces any plan shown before. Dropped lists what was left out
	// of the model's plan and why; Repaired lists corrections that kept the
	// meaning, shown only in the trace. Before has the steps of earlier plans
	// of the turn, which are not run again. If Under is set, the plan is that
	// of the worker to which that step delegated its task, and its steps belong
	// below that step.
	PlanMade struct {
		Mode  Mode   `json:"mode,omitempty"`  // how the turn is worked on; "" by a plan
		Under string `json:"under,omitempty"` // "" for a plan of the turn itself
		// attempt of the worker, from 1; for the turn itself, AfterAnswer or 0
		Attempt   int      `json:"attempt,omitempty"`
		Reasoning string   `json:"reasoning,omitempty"`
		Before    []Step   `json:"before,omitempty"`
		Steps     []Step   `json:"steps"`
		Dropped   []string `json:"dropped,omitempty"`
		Repaired  []string `json:"repaired,omitempty"`
		Fallback  bool     `json:"fallback,omitempty"` // the model returned no usable plan
		Again     bool     `json:"again,omitempty"`    // planning continues after these steps
	}

	// StepChanged reports a change of a step's status.
	StepChanged struct {
		Step   string `json:"step"`
		Status Status `json:"status"`
		Reason string `json:"reason,omitempty"` // why it failed, was denied or was skipped
	}

	// ToolStarted and ToolEnded mark the start and end of a call; Call matches
	// them.
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
		Cause   string   `json:"cause,omitempty"` // for a network error: the original message of the system or server
		Sources []Source `json:"sources,omitempty"`
		Nothing bool     `json:"nothing,omitempty"` // a search without results
		Took    int64    `json:"took_ms"`

		Coverage *Coverage `json:"coverage,omitempty"` // for a search of the notes
	}

	// ToolProgressed reports the progress of a running call.
	ToolProgressed struct {
		Step string `json:"step"`
		Call string `json:"call"`
		Name string `json:"name"`
		Progress
	}

	// InputAsked blocks its call until Reply is called; the first reply counts.
	// InputGiven does not include the values, which may be secret.
	InputAsked struct {
		Step string `json:"step"`
		Call string `json:"call"`
		ID   string `json:"id"` // matches the two events
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

	// PermissionAsked blocks its step until Reply is called; the first reply
	// counts.
	PermissionAsked struct {
		Step   string          `json:"step"`
		Call   string          `json:"call"`
		Name   string          `json:"name"`
		Input  json.RawMessage `json:"input"`  // exactly what will run
		Hash   string          `json:"hash"`   // SHA-256 of Input, in hex
		Reason string          `json:"reason"` // which rule asked, and why
		Rule   string          `json:"rule"`   // the rule that "always" would save; "" if there is none
		// Destination is the host, MCP server or service that Input goes to, if the
		// user can allow that for the conversation; otherwise "".
		Destination string  `json:"destination,omitempty"`
		Preview     Preview `json:"preview,omitzero"`

		// If there is no user to ask: Allow is a rule that would let the call
		// run, with VALUE and HOST as placeholders; "" if there is none.
		// Untrusted means that the rule also has to apply after untrusted text
		// was read.
		Allow     string `json:"allow,omitempty"`
		Untrusted bool   `json:"untrusted,omitempty"`

		Reply func(Reply) `json:"-"`

		// Check returns an error if other arguments do not fit the tool. If
		// nil, they are checked when the reply arrives.
		Check func(input json.RawMessage) error `json:"-"`

		// Unknown means that the call was started at Since and LifeHub was
		// stopped before it ended, so its outcome is unknown. AllowOnce repeats
		// it, AlreadyDone counts it as done, any other reply skips it.
		Unknown bool      `json:"outcome_unknown,omitempty"`
		Since   time.Time `json:"since,omitzero"`
	}
	PermissionGiven struct {
		Step     string   `json:"step"`
		Call     string   `json:"call"`
		Decision Decision `json:"decision"`
		Reason   string   `json:"reason,omitempty"` // the user's reason, or the rule that decided
	}

	// Thought and Said carry the next piece of text. Workers think
	// concurrently: Step is the step that delegated the task, or "" for the
	// turn itself. A Said with Takes has no text: so many bytes at the end of the
	// answer so far are none after all.
	Thought struct {
		Agent   string `json:"agent,omitempty"`
		Step    string `json:"step,omitempty"`
		Content string `json:"content"`
	}
	Said struct {
		Content string `json:"content"`
		Takes   int    `json:"takes,omitempty"`
	}

	// ContextCounted reports how a prompt fills the window, and which call
	// results it contains.
	ContextCounted struct {
		Agent     string         `json:"agent"`
		Step      string         `json:"step,omitempty"`    // as in Thought
		Parts     map[string]int `json:"parts"`             // estimated tokens by part
		Used      int            `json:"used"`              // sum of Parts
		Reserve   int            `json:"reserve,omitempty"` // reserved for the answer
		Allocated int            `json:"allocated"`         // size of the window; 0 if unknown
		Log       []Logged       `json:"log,omitempty"`     // calls, with the first few hundred bytes of their results
	}

	// Used reports the token counts of the server after a model call.
	Used struct {
		Agent     string  `json:"agent"`
		Step      string  `json:"step,omitempty"` // as in Thought
		Prompt    int     `json:"prompt_tokens"`
		Cached    int     `json:"cached_tokens,omitempty"` // of the prompt, held by the server from before
		Answer    int     `json:"answer_tokens"`
		PerSecond float64 `json:"tokens_per_second,omitempty"`
	}

	// Cited is the verdict on one citation of the answer.
	Cited struct {
		Citation
		Source Source `json:"source"`
	}

	// Reading is a model that is silent, because it loads or reads the prompt. It
	// is valid until the model responds or the next one replaces it.
	Reading struct {
		Agent string `json:"agent,omitempty"`
		Step  string `json:"step,omitempty"` // as in Thought
		Model string `json:"model,omitempty"`
		// to be read, without those that the server is known to hold; 0: unknown
		Tokens    int     `json:"tokens,omitempty"`
		Read      int     `json:"read,omitempty"` // of them so far, if the server says so
		PerSecond float64 `json:"tokens_per_second,omitempty"`
		Took      int64   `json:"took_ms"`
		Waiting   string  `json:"waiting,omitempty"` // why the request is sent again
		Again     bool    `json:"again,omitempty"`   // it replaces the one before
		// Beginning means that it reads what all prompts begin with, before the
		// message.
		Beginning bool `json:"beginning,omitempty"`
	}

	// Noticed is a message for the user that does not interrupt the turn.
	Noticed struct {
		Text     string    `json:"text"`
		Steering *Steering `json:"steering,omitempty"` // the message of the user that the turn takes with this event
	}

	// Failed ends a turn that could not be finished. The text streamed before
	// remains and is saved, followed by a list of what was found but not yet
	// used.
	Failed struct {
		Message string   `json:"message"`
		Hint    string   `json:"hint,omitempty"`   // what to do next
		Unkept  bool     `json:"unkept,omitempty"` // the message could not be saved and exists only in the composer
		Effects Effects  `json:"effects"`
		Dropped []string `json:"dropped,omitempty"` // as in Ended
		Err     error    `json:"-"`
	}

	// Ended ends a turn that was finished or interrupted.
	Ended struct {
		Answer  string   `json:"answer"`
		Log     []Logged `json:"log,omitempty"` // actions and thoughts, in order
		Effects Effects  `json:"effects"`
		Sources []Source `json:"sources,omitempty"` // numbered
		Dropped []string `json:"dropped,omitempty"` // what was left out of the plans or changed in them, and why
		Unasked []string `json:"unasked,omitempty"` // tools that needed permission with no user to ask

		// the notes hardly contain an answer; the text begins with that
		Unanswered bool     `json:"unanswered,omitempty"`
		Nearest    []Source `json:"nearest,omitempty"` // if Unanswered: the closest passages, best first
		// if Unanswered: the passages are related to the question but hardly answer it
		Close    bool      `json:"close,omitempty"`
		Coverage *Coverage `json:"coverage,omitempty"` // coverage of the search; nil if there was none
		Metrics
	}
)

// Status is the state of a step.
type Status string

// A step is pending, then running, then in one of the other states.
const (
	Pending    Status = "pending"
	Running    Status = "running"
	Done       Status = "done"
	StepFailed Status = "failed"
	Denied     Status = "denied"
	Skipped    Status = "skipped"
)

// declined is the reason of a call that the user refused, for the model; the user's own may follow.
const declined = "the user said no"

// DeclinedFor returns the reason of a call that the user refused for a reason of theirs, or "".
func DeclinedFor(own string) string {
	if own == "" {
		return declined
	}
	return declined + ": " + own
}

// DeclinedIn reports whether a call was refused by the user, and returns what follows that in its reason.
func DeclinedIn(status Status, reason string) (own string, by bool) {
	own, by = strings.CutPrefix(reason, declined)
	return own, by && status == Denied
}

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
func (Reading) name() string         { return "reading" }
func (Failed) name() string          { return "error" }
func (Ended) name() string           { return "end" }

// Step is one tool call of a plan.
type Step struct {
	ID          string          `json:"id"`
	Tool        string          `json:"tool"`
	Input       json.RawMessage `json:"input"`
	Description string          `json:"description,omitempty"`
	After       []string        `json:"after,omitempty"` // ids of the steps that must end first
	Extra       bool            `json:"extra,omitempty"` // added by LifeHub: the search for the message as typed
}

// Decision is an answer to a permission question.
type Decision string

const (
	AllowOnce         Decision = "once"
	AllowConversation Decision = "conversation"
	AllowAlways       Decision = "always"
	AllowByRule       Decision = "auto"   // the user did not have to be asked
	DenyByRule        Decision = "deny"   // the user was not asked
	AlreadyDone       Decision = "done"   // for a call whose outcome was unknown
	Edited            Decision = "edited" // Reply.Input replaces the arguments and is asked about
	Refuse            Decision = "no"
)

// Reply is the user's answer to PermissionAsked.
type Reply struct {
	Decision Decision
	Reason   string // why the call was refused, shown to the model; may be ""
	Input    string // if Edited: the new arguments as JSON
}

// Verdict is the result of checking a citation.
type Verdict string

const (
	Verified Verdict = "verified"
	Cites    Verdict = "cited" // nothing is quoted, so support is unknown
	Found    Verdict = "found" // the program found the sentence of a source; nothing is cited, quoted or judged
	NotFound Verdict = "not_found"
	Stale    Verdict = "stale"
)

// UnmarshalText parses a verdict. Earlier versions saved others for sentences
// that quote nothing; they count as cited.
func (v *Verdict) UnmarshalText(text []byte) error {
	switch *v = Verdict(text); *v {
	case "differs", "supported", "contradicted":
		*v = Cites
	}
	return nil
}

// Citation is a checked citation [n] of an answer, or a quotation without a
// number. Line is the line of the best-matching sentence.
type Citation struct {
	N       int    `json:"n"` // 0 if there is no such source
	Path    string `json:"path"`
	Line    int    `json:"line"`
	EndLine int    `json:"end_line"`
	Quote   string `json:"quote"`
	// Words is the quotation that was checked, if the answer has no number for
	// it; N is then the source that contains it.
	Words string `json:"words,omitempty"`
	// Quoted has the verdict on each quotation, if it differs from Verdict.
	Quoted  []Quoted `json:"quoted,omitempty"`
	Verdict Verdict  `json:"verdict"`
	// if verified: what changes the meaning of the quoted words; "" if nothing
	Context  string `json:"context,omitempty"`
	Detail   string `json:"detail,omitempty"`   // reason for the verdict; may be ""
	Sentence string `json:"sentence,omitempty"` // sentence of the answer that the verdict is about
	At       int    `json:"at,omitempty"`       // byte offset in the answer where the citation ends
}

// Place returns what is cited: note.md:12, or a web address.
func (c Citation) Place() string { return PlaceName(c.Path, c.Line) }

// Quoted is a checked quotation of an answer.
type Quoted struct {
	Text    string  `json:"text"`
	Verdict Verdict `json:"verdict"`
}

// Judgement is the evaluator's verdict on a worker's result.
type Judgement struct {
	Passed      bool    `json:"passed"`
	Unjudged    bool    `json:"unjudged,omitempty"` // passed because the evaluator's reply could not be read
	Score       float64 `json:"score"`              // 0 to 1
	Feedback    string  `json:"feedback,omitempty"`
	Suggestions string  `json:"suggestions,omitempty"`
}

// Brief describes the result of a call in one line; "" if it failed.
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

const MaxLogged = 200 // bytes of a result that are saved with the answer

// AfterAnswer is the Attempt of a plan that follows the answer of its turn.
// Other plans of the turn itself have none.
const AfterAnswer = 1

// FollowsAnswer reports whether the plan is the last of its turn, derived from
// the answer.
func (p PlanMade) FollowsAnswer() bool { return p.Under == "" && p.Attempt == AfterAnswer }

// Answers are the decisions with which the user may answer, in the order shown: without a rule or a destination,
// nothing can be allowed beyond this call.
func (p PermissionAsked) Answers() []Decision {
	if p.Unknown {
		return []Decision{AllowOnce, Refuse, AlreadyDone}
	}
	answers := []Decision{AllowOnce}
	if p.Rule != "" || p.Destination != "" {
		answers = append(answers, AllowConversation)
	}
	if p.Rule != "" {
		answers = append(answers, AllowAlways)
	}
	return append(answers, Refuse)
}
