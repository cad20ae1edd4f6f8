package agent

// checkCitations judges each citation of the answer and tells it.
func (t *turn) checkCitations(answer string) []Citation { return nil }
