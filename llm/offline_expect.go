package llm

import "lifehub/pattern"

// questionPhrase are words that ask together, and say nothing of the topic.
var questionPhrase = pattern.Lazy(`(?i)\bhow\s+(?:often|many times|much|many|long|far|high|old|big|late|early)\b|\bwie\s+(?:oft|viele?|lange?|weit|hoch|alt|groß|spät|früh)\b`)

// expectations are what the way of asking lets one expect of the sentence
// that answers: "how often" is answered by "three times a week".
var expectations = []struct{ asks, answers pattern.Pattern }{
	{
		pattern.Lazy(`(?i)\bhow\s+(?:often|many times)\b|\bwie\s+oft\b`),
		pattern.Lazy(`(?i)\b(?:once|twice|\w+ times|every|each|daily|weekly|monthly|yearly|(?:a|per) (?:day|week|month|year)|ein-?mal|\w*mal|jede\w?|täglich|wöchentlich|monatlich|pro (?:tag|woche|monat|jahr))\b`),
	},
	{
		pattern.Lazy(`(?i)\bhow\s+(?:much|many|long|far|high|old|big)\b|\bwie\s+(?:viele?|lange?|weit|hoch|alt|groß)\b`),
		pattern.Lazy(`\d|(?i)\b(?:two|three|four|five|six|seven|eight|nine|ten|dozen|half|zwei|drei|vier|fünf|sechs|sieben|acht|neun|zehn)\b`),
	},
	{
		pattern.Lazy(`(?i)^\W*(?:when|at what time|(?:on )?(?:what|which) (?:day|date|time)|wann|um wie viel uhr)\b`),
		pattern.Lazy(`(?i)\d|\b(?:mon|tues|wednes|thurs|fri|satur|sun)days?\b|\b(?:january|february|march|april|may|june|july|august|september|october|november|december)\b|\b(?:montag|dienstag|mittwoch|donnerstag|freitag|samstag|sonntag)s?\b`),
	},
}

// expected tells whether a sentence looks like an answer to the question; nil:
// the way of asking tells nothing.
func expected(question string) func(sentence string) bool {
	for _, e := range expectations {
		if e.asks.MatchString(question) {
			return e.answers.MatchString
		}
	}
	return nil
}

// expectedWeight is how much more a sentence of the expected form counts than
// one that shares as many words with the question. Chosen on the starter notes.
const expectedWeight = 1.7
