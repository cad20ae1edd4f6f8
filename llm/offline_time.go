package llm

import (
	"strings"

	"lifehub/pattern"
)

// Words for a time. A search reads them from its query, so that they must
// stand there whole: "this week", not "week".
const (
	weekday   = `(?:monday|tuesday|wednesday|thursday|friday|saturday|sunday|montag|dienstag|mittwoch|donnerstag|freitag|samstag|sonntag)`
	monthName = `(?:` + months + `|` + monate + `)`
	stretch   = `(?:weeks?|weekend|months?|years?|days?|woche|wochen|wochenende|monat|monate|monaten|jahr|jahre|jahren|tag|tage|tagen)`
)

var (
	// relativeTime is said from today: no note holds these words.
	relativeTime = pattern.Lazy(`(?i)\b(?:(?:the )?day before yesterday|yesterday|today|vorgestern|gestern|heute|lately|recently|of late|these days|kürzlich|neulich|zuletzt)(?:['’]s)?\b` +
		`|\b(?:last|past|previous|this|letzte[nrsm]?|vorige[nrsm]?|diese[nrsm]?) (?:few |couple of |paar )?(?:` + stretch + `|` + weekday + `)(?:['’]s)?\b` +
		`|\b(?:on|am) (?:the )?(?:` + weekday + `|weekend|wochenende)\b` +
		`|\b\w+ ` + stretch + ` ago\b|\bvor \S+ ` + stretch + `\b` +
		`|[大]?前天|昨天|昨日|今天|今日|上周|上週|上星期|先週|这周|本周|这星期|今週|[上这]个月|上個月|先月|本月|今月|去年|今年|昨年|最近|周末|週末|[\d一二两三四五六七八九十]+ ?(?:天|周|个?星期|个?月|年)前`)
	// namedTime is a date, a month or a year.
	namedTime = pattern.Lazy(`(?i)\b\d{1,2}(?:\.|st|nd|rd|th)?(?: of)? ` + monthName + `(?:,? \d{4})?\b|\b` + monthName + ` \d{1,2}(?:st|nd|rd|th)?(?:,? \d{4})?\b` +
		`|\b(?:in|im|during|since|from|of|last) (?:` + monthName + `(?:,? \d{4})?|\d{4})\b`)
)

// timed tells whether a question speaks of a time from today.
func timed(question string) bool { return relativeTime.MatchString(question) }

// withTimesWhole puts spaces that do not part words into what names a time.
func withTimesWhole(text string) string {
	for _, p := range []pattern.Pattern{relativeTime, namedTime} {
		text = p.ReplaceAllStringFunc(text, func(time string) string { return strings.ReplaceAll(time, " ", innerSpace) })
	}
	return text
}

// innerSpace stands for a space within what is not to be cut.
const innerSpace = "\x1f"

// doing are the words of a question that asks for a time itself: "what
// happened yesterday".
var doing = wordSet("happen happened happening going went been up gemacht getan passiert geschehen los erlebt unternommen notiert geschrieben hab gab")

// asksOnly tells a piece of a script without spaces that only asks: 做了, 什么.
func asksOnly(word string) bool {
	return isCJK([]rune(word)[0]) && strings.Trim(word, "我你他她们做了什么麼何事情有的吗呢干过写記记发生些都在是しまたか私は") == ""
}
