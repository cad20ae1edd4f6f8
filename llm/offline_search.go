package llm

import (
	"strings"

	"lifehub/pattern"
)

// topicOf are ways to ask about notes; the group is what they are about.
var topicOf = compile(
	`^(?:search|look|grep|query|browse)\s+(?:(?:in|through|up|into)\s+)?(?:(?:all\s+)?(?:of\s+)?(?:my|the)\s+notes?\s+)?(?:notes\s+)?(?:for|about|on)?\s*(.+)$`,
	`^(?:find|show|list|give)\s+(?:me\s+)?(?:all\s+)?(?:my\s+|the\s+|any\s+)?notes?\s+(?:about|on|for|regarding|mentioning|with)\s+(.+)$`,
	`^find\s+(?:me\s+)?(.+)$`,
	`^(?:what|which|where|anything|is there|do i have|are there|tell me|show me|have i)\b.*?\bnotes?\b.*?\b(?:about|on|regarding|for|mention|mentions)\s+(.+)$`,
	`^(?:my\s+)?notes?\s+(?:about|on|regarding)\s+(.+)$`,
	`^(?:suche?|finde)\s+(?:(?:in\s+)?(?:meinen|den)\s+notizen\s+)?(?:nach\s+)?(.+)$`,
	`^was\b.*?\bnotizen\b.*?\s(?:über|zu|zum|zur)\s+(.+)$`,
)

// filter is a part of a question that keeps notes out of the search.
var filter = pattern.Lazy(`(?i)(?:^|\s)(path|tag|after|before):("[^"]+"|\S+)`)

// searchArgs makes the arguments of a search: the topic without the words that
// only make it a question, filters apart. A question that leans on what was
// said before takes that along.
func searchArgs(topic string, task *Task) map[string]any {
	const most = 1 << 10 // bytes of a pasted text that a search is made of
	args := map[string]any{}
	topic = clipBytes(topic, most)
	for _, m := range filter.FindAllStringSubmatch(topic, -1) {
		args[strings.ToLower(m[1])] = strings.TrimPrefix(unquote(m[2]), "#")
	}
	topic = strings.TrimSpace(filter.ReplaceAllString(topic, " "))
	args["query"] = standAlone(topic, task.Question, task.History)
	return args
}

// bare is a question without its question words; "" when it has no others.
// What is in quotes stays.
func bare(topic string) string {
	topic = strings.TrimSpace(topic)
	said := questionPhrase.ReplaceAllString(polite.ReplaceAllString(topic, ""), "")
	for _, ask := range topicOf {
		if m := ask.FindStringSubmatch(said); m != nil {
			said = m[1]
			break
		}
	}
	stops, mine := stopWords(topic), aboutMine.MatchString(topic)
	quoted := false
	var kept []string
	for _, word := range strings.Fields(withTimesWhole(said)) {
		opens := strings.ContainsAny(word[:1], `"`) || strings.HasPrefix(word, "“") || strings.HasPrefix(word, "„")
		inside := quoted || opens
		if opens {
			quoted = true
		}
		if strings.HasSuffix(strings.TrimRight(word, ".,;:!?"), `"`) && (len(word) > 1 || !opens) || strings.Contains(word, "”") {
			quoted = false
		}
		core := strings.TrimFunc(word, func(r rune) bool { return strings.ContainsRune(".,;:!?()…", r) })
		if inside {
			kept = append(kept, word)
		} else if strings.Contains(core, innerSpace) {
			kept = append(kept, core)
		} else if lower := strings.ToLower(core); core != "" && !stops[lower] && !stops[beforeApostrophe(lower)] && !(mine && asking[lower]) {
			kept = append(kept, core)
		}
	}
	return strings.ReplaceAll(strings.Join(kept, " "), innerSpace, " ")
}

// beforeApostrophe is the "what" of what's and the "don" of don't.
func beforeApostrophe(word string) string {
	if i := strings.IndexAny(word, "'’"); i > 0 {
		return word[:i]
	}
	return word
}

// leaning are beginnings of a question that goes on with the one before.
var leaning = pattern.Lazy(`(?i)^(?:and|but|or|what about|how about|tell me more|more|go on|anything else|what else|also|und|aber|wie ist es mit|was ist mit|mehr|noch)\b|^(?:那|では|じゃあ)`)

// pronouns stand for something said before, and demonstratives do when no
// noun follows them.
var (
	pronouns       = wordSet("it its they them their theirs he him his she her hers ones davon darüber damit er ihn ihm sie")
	demonstratives = wordSet("that this these those das dies diese dieser")
)

// leans tells whether a question can't be understood alone: it has no content,
// points back with a pronoun, or is short and begins like a continuation.
func leans(question string) bool {
	const short = 9 // words
	all, content, points := 0, 0, false
	stops := stopWords(question)
	open := false // a demonstrative waits for its noun
	for word := range words(question) {
		all++
		if !stops[word] {
			content++
			open = false
		} else if open {
			points, open = true, false
		}
		points = points || pronouns[word]
		open = open || demonstratives[word]
	}
	points = points || open
	if leansBySigns(question) {
		return true
	}
	if all == 0 || all > short {
		return false
	}
	return content == 0 || (points && content <= 3) || (content <= 2 && leaning.MatchString(strings.TrimSpace(question)))
}
