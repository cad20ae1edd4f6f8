package agent

// Figures are the totals for a day, a model or a single turn.
type Figures struct {
	Of    string `json:"of"`              // day (2006-01-02), model ("" if unknown) or turn id
	Title string `json:"title,omitempty"` // question of a single turn
	Turns int    `json:"turns"`
	Cut   int    `json:"cut"` // turns not finished: stopped, failed, killed or running

	// Median and 95th percentile in milliseconds, over the turns that have a
	// time; 0 if none has.
	Latency50    int64 `json:"latency_p50_ms"`
	Latency95    int64 `json:"latency_p95_ms"`
	FirstToken50 int64 `json:"first_token_p50_ms"`
	FirstToken95 int64 `json:"first_token_p95_ms"`

	PromptTokens int     `json:"prompt_tokens"`
	AnswerTokens int     `json:"answer_tokens"`
	PerSecond    float64 `json:"tokens_per_second"` // of answers; 0 if unknown
	ModelCalls   int     `json:"model_calls"`
	Searches     int     `json:"searches"`
	Passages     int     `json:"passages"` // returned by searches
	Cited        int     `json:"cited"`    // citations whose quoted words are in their source
	ToolsOK      int     `json:"tools_ok"`
	ToolsFailed  int     `json:"tools_failed"`
	ToolsDenied  int     `json:"tools_denied"`
	Asked        int     `json:"permissions_asked"`
}

// Metrics are the measurements of one turn.
type Metrics struct {
	Latency      int64 `json:"latency_ms"` // in milliseconds, excluding Waited, like FirstToken
	FirstToken   int64 `json:"first_token_ms,omitempty"`
	ModelCalls   int   `json:"model_calls"`
	PromptTokens int   `json:"prompt_tokens"`
	AnswerTokens int   `json:"answer_tokens"`
	Searches     int   `json:"searches"`
	RAGHits      int   `json:"rag_hits"`
	ToolCalls    int   `json:"tool_calls"`
	Interrupted  bool  `json:"interrupted"`

	Model       string `json:"model,omitempty"`             // model that answered last; "" if none or unknown
	Waited      int64  `json:"waited_ms,omitempty"`         // time spent waiting only for the user
	Generating  int64  `json:"generating_ms,omitempty"`     // time spent generating AnswerTokens
	ToolsFailed int    `json:"tools_failed,omitempty"`      // failed calls, included in ToolCalls
	ToolsDenied int    `json:"tools_denied,omitempty"`      // calls that were denied
	Asked       int    `json:"permissions_asked,omitempty"` // permission questions
	Cited       int    `json:"cited,omitempty"`             // citations whose quoted words are in their source
}
