package agent

// Figures are the sums of the turns of one day or model, or of one turn.
type Figures struct {
	Of    string `json:"of"`              // the day (2006-01-02), the model ("": unknown) or the turn's id
	Title string `json:"title,omitempty"` // the question of a single turn
	Turns int    `json:"turns"`
	Cut   int    `json:"cut"` // of them not finished: stopped, failed, killed or under way

	// The times are in milliseconds: half of the turns, and 95 of 100, took no
	// longer. Only turns that have one count; 0: none has.
	Latency50    int64 `json:"latency_p50_ms"`
	Latency95    int64 `json:"latency_p95_ms"`
	FirstToken50 int64 `json:"first_token_p50_ms"`
	FirstToken95 int64 `json:"first_token_p95_ms"`

	PromptTokens int     `json:"prompt_tokens"`
	AnswerTokens int     `json:"answer_tokens"`
	PerSecond    float64 `json:"tokens_per_second"` // of answers; 0: unknown
	ModelCalls   int     `json:"model_calls"`
	Searches     int     `json:"searches"`
	Passages     int     `json:"passages"` // that searches brought
	Cited        int     `json:"cited"`    // citations whose quoted words stand in their source
	ToolsOK      int     `json:"tools_ok"`
	ToolsFailed  int     `json:"tools_failed"`
	ToolsDenied  int     `json:"tools_denied"`
	Asked        int     `json:"permissions_asked"`
}

// Metrics are the figures of one turn.
type Metrics struct {
	Latency      int64 `json:"latency_ms"` // without Waited, as is FirstToken
	FirstToken   int64 `json:"first_token_ms,omitempty"`
	ModelCalls   int   `json:"model_calls"`
	PromptTokens int   `json:"prompt_tokens"`
	AnswerTokens int   `json:"answer_tokens"`
	Searches     int   `json:"searches"`
	RAGHits      int   `json:"rag_hits"`
	ToolCalls    int   `json:"tool_calls"`
	Interrupted  bool  `json:"interrupted"`

	Model       string `json:"model,omitempty"`             // that answered last; "": none, or unknown
	Waited      int64  `json:"waited_ms,omitempty"`         // nothing but an answer of the user was waited for
	Generating  int64  `json:"generating_ms,omitempty"`     // producing AnswerTokens
	ToolsFailed int    `json:"tools_failed,omitempty"`      // of ToolCalls
	ToolsDenied int    `json:"tools_denied,omitempty"`      // calls that were not let run
	Asked       int    `json:"permissions_asked,omitempty"` // questions for a permission
	Cited       int    `json:"cited,omitempty"`             // citations whose quoted words stand in their source
}
