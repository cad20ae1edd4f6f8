package llm

import "strings"

// StandAlone returns the query of a search so that it can be understood
// without the conversation: as a model wrote it, unless it leans on what was
// said before or only repeats a question that does. Then the question is
// joined with what the user asked before it.
func StandAlone(query, question string, history []Message) string {
	if len(history) == 0 {
		return query
	}
	own := contentOf(query)
	asked := contentOf(question)
	adds := false
	for word := range own {
		adds = adds || !asked[word]
	}
	same := strings.EqualFold(strings.Trim(query, " ?.!"), strings.Trim(question, " ?.!"))
	if len(own) > 0 && (adds && !leans(query) || !adds && !same && !leans(question)) {
		return query
	}
	return standAlone(question, question, history)
}

// standAlone is a topic without the words that only make it a question. One
// that leans on what was said before takes that along. It is "" when it holds
// nothing to look for.
func standAlone(topic, question string, history []Message) string {
	const most = 1 << 10 // bytes of a pasted text that a search is made of
	query := bare(topic)
	if leans(topic) {
		for i, turns := len(history)-1, 0; i >= 0 && turns < 2; i-- {
			if m := history[i]; m.Role == User {
				query = strings.TrimSpace(bare(clipBytes(m.Text, 500)) + " " + query)
				turns++
				if !leans(m.Text) {
					break // it stands on its own
				}
			}
		}
	}
	for _, text := range []string{query, strings.Trim(topic, " .!?"), clipBytes(question, most)} {
		if text != "" {
			return text
		}
	}
	return ""
}

// contentOf are the words of a text that say what it is about.
func contentOf(text string) map[string]bool {
	stops := stopWords(text)
	found := map[string]bool{}
	for word := range words(text) {
		if !stops[word] && !pronouns[word] && !asking[word] {
			found[stem(word)] = true
		}
	}
	return found
}
