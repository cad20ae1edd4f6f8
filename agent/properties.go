package agent

import "time"

// Properties are what is known of a tool before it is called. They do not depend on the arguments of a call.
type Properties struct {
	Level Level // of calls that no rule is about

	// ReadOnly: calls change nothing, so that they may be repeated.
	ReadOnly bool
	// ArtifactsOnly: calls write only artifacts, whose origin LifeHub tracks. They need no permission, because
	// untrusted text cannot make them change the user's own notes.
	ArtifactsOnly bool
	// Outward: the arguments leave this machine or reach another program on it. Results and errors are untrusted.
	Outward bool
	// Service is what an outward tool sends its arguments to; "": the name of the tool.
	Service string
	// Bounds name the arguments that determine where calls take effect. The first of these that a call has is
	// decisive: an "always" then applies to calls with the same value, whatever their other arguments. If they are
	// empty, the user is asked about every call; if nil, an "always" applies only to identical calls.
	Bounds []string

	Timeout time.Duration // of a call; 0: one minute
	// rules that tighten, and plans in the journal, may use them; a rule that loosens must not
	FormerNames []string
	// for work over several rounds: not offered for a plan, which is made before any result is known
	LoopOnly  bool
	Delegates bool // calls hand a task to agents, whose own calls have their own time-outs
	Use       Use

	// Server is the MCP server of the tool; "" for one of LifeHub.
	Server string
	// Declared is whether the server says that the tool only reads, as the user has reviewed; nil if it says nothing.
	// It is believed where nothing is permitted on the basis of it.
	Declared *bool
	// Trusted: the tool only reads on its server, and the user lets it run unasked unless somebody else outside had a
	// part in the call ("trust": "read").
	Trusted bool
}

// Use is what a turn itself uses a tool for.
type Use int

// The uses of tools; most have none.
const (
	_             Use = iota
	SearchesNotes     // the turn searches the notes for the message: arguments query and, if it has that, limit
	ReadsNote         // it reads the note that the argument path names
	Computes          // it knows nothing that the model does not
	Describes         // it describes tools or skills
)

// PropertiesOf returns the properties of a tool, which may be nil.
func PropertiesOf(tool Tool) Properties {
	if tool == nil {
		return Properties{}
	}
	return tool.Properties()
}

// ReadOnly reports whether calls of a tool change nothing, so that they may be repeated.
func ReadOnly(tool Tool) bool { return PropertiesOf(tool).ReadOnly }

// IsOutward reports whether the arguments of a tool leave this machine or reach another program on it.
func IsOutward(tool Tool) bool { return PropertiesOf(tool).Outward }

// MayWrite reports whether calls of a tool may change something. What its server declares is believed here.
func MayWrite(tool Tool) bool {
	of := PropertiesOf(tool)
	if of.Declared != nil {
		return !*of.Declared
	}
	return !of.ReadOnly
}

// HasNoEffect reports whether a tool neither writes anything nor sends anything to another machine. What its server
// declares is believed here.
func HasNoEffect(tool Tool) bool {
	of := PropertiesOf(tool)
	if of.Server != "" {
		return of.Declared != nil && *of.Declared
	}
	_, fetches := tool.(Fetcher)
	return of.ReadOnly && !of.Outward && !fetches && !of.ArtifactsOnly
}

// KnowsNoNotes reports whether results hold nothing of the user's notes, tasks and facts. What a worker reports has the
// origin of all that it read.
func (p Properties) KnowsNoNotes() bool {
	return p.Use == Computes || p.Use == Describes || p.Delegates
}
