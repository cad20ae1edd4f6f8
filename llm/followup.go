package llm

import (
	"strings"
	"unicode/utf8"

	"lifehub/pattern"
)

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
		if len(history) > 0 && saysNothing(topic) {
			query = ""
		}
		for i, turns := len(history)-1, 0; i >= 0 && turns < 2; i-- {
			if m := history[i]; m.Role == User && !saysNothing(m.Text) && smallTalk(m.Text, false, nil) == "" {
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

var (
	// aboutForm says how to answer, and nothing of what about.
	aboutForm = pattern.Lazy(`(?i)^(?:(?:and|now|then|please|again|but|say|tell|answer|write|put|repeat|translate|explain|give|me|it|that|this|them|` +
		`und|jetzt|bitte|noch ?mal|aber|sag|antworte|schreib|übersetze?|erkläre?|mir|das|es)[\s,]+)*` +
		`(?:(?:in|into|to|auf|en|in (?:a|one|einem)|as an?|als)\s+(?:english|german|french|spanish|italian|portuguese|dutch|russian|chinese|japanese|korean|` +
		`deutsch|englisch|französisch|spanisch|italienisch|français|anglais|español|inglés|more detail|short|brief|sentence|satz|list|table|bullet points|liste|tabelle)|` +
		`shorter|longer|simpler|briefly|summari[sz]e|again|repeat|kürzer|länger|einfacher|ausführlicher|noch ?mal)` +
		`(?:[\s,]+(?:please|bitte|it|that|this|the answer|again|das|es|too|auch|s'il (?:te|vous) plaît|por favor))*$|` +
		`^(?:请?用\p{Han}{2}(?:说|回答|写)?|(?:短|长|简单|详细)一?点|再说一遍|日本語で|もう一度|短く|한국어로)(?:吧|お願いします)?$`)
	// leaningSigns points back in scripts without spaces, in a short question.
	leaningSigns = pattern.Lazy(`^(?:那|然后|还有|では|じゃあ|それ|그럼|그리고)|(?:^|[^其])[她他它]|彼|그녀|그건|그거|呢$`)
	// emptySigns is one that says nothing else.
	emptySigns = pattern.Lazy(`^(?:那么?|然后|还有|她|他|它|呢|们|的|是|吗|为什么|什么时候|在哪里?|谁|では|じゃあ|それ|彼女?|は|の|いつ|どこ|なぜ|誰|그럼|그리고|그녀|그건|그거|는|은)+$`)
)

// trimmedEnd are the signs around a message that say nothing.
const trimmedEnd = " .!?,;:。！？…"

// saysNothing tells a message without a topic of its own: how to answer, or a
// pronoun and a question word.
func saysNothing(message string) bool {
	message = strings.Trim(message, trimmedEnd)
	return aboutForm.MatchString(message) || emptySigns.MatchString(message)
}

// leansBySigns is [leans] for what its words do not tell.
func leansBySigns(question string) bool {
	const short = 12 // characters of a script without spaces
	question = strings.Trim(question, trimmedEnd)
	return saysNothing(question) || utf8.RuneCountInString(question) <= short && leaningSigns.MatchString(question)
}
