package citation

import (
	_ "embed"
	"slices"
	"strings"
	"sync"
	"unicode"

	"lifehub/internal/pattern"
	"lifehub/internal/text"
)

// turningPhrases matches phrases that change the meaning of what is around them
// in Chinese, whose words cannot be looked up in a list.
var turningPhrases = pattern.Lazy(`[不没沒無无未非勿莫否别別禁]|如果|假如|要是|除非|只有|只要|的话|若|但|可是|然而|以前|曾|原定|原計劃|原计划|原来|原來|本来|差点|几乎|幾乎|可能|也许|也許|或许|大概|应该|應該|似乎|好像|据说|據說|听说|聽說|说|說|认为|認為|觉得|覺得|以为|以為|相信|建议|建議|想|打算|计划|計劃|拒绝|拒絕|取消|放弃|放棄|停止|避免|错|錯|反对|反對|谣|謠|假|梦|夢|忘|戒|吗|嗎|之前|直到|推迟|过期|作废|少于|至多|至少|最多`)

//go:embed words.txt
var wordLists string

// lists returns the word lists of words.txt by name.
var lists = sync.OnceValue(func() map[string]map[string]bool {
	index := map[string]map[string]bool{}
	var list map[string]bool
	for line := range strings.Lines(wordLists) {
		switch line = strings.TrimSpace(line); {
		case strings.HasPrefix(line, "#"):
		case strings.HasPrefix(line, "["):
			list = map[string]bool{}
			index[strings.Trim(line, "[]")] = list
		default:
			for word := range strings.FieldsSeq(line) {
				list[word] = true
			}
		}
	}
	return index
})

// is reports whether a word is in a list.
func is(word, list string) bool { return lists()[list][word] }

// senseOf names the lists of words that change the meaning of a sentence, for
// its language.
type senseOf struct {
	known bool // whether there is a list for its language
	lists []string
}

func (p *passage) sense(sentence string) (s senseOf) {
	s.lists = []string{"turning en"}
	for _, md := range []string{sentence, p.text} {
		if language, ok := languageOf(md); ok {
			s.known = true
			s.lists = append(s.lists, "turning "+string(language))
			break
		} else if language != "" {
			break // a language without a list
		}
	}
	return s
}

// languageOf returns the language of a text, and whether there is a word list
// for it. The language is "" if it is English or cannot be determined.
func languageOf(md string) (language text.Lang, ok bool) {
	han := false
	for _, r := range md {
		switch {
		case unicode.In(r, unicode.Hiragana, unicode.Katakana, unicode.Hangul), !unicode.Is(unicode.Han, r) && text.Unspaced(r):
			return "other", false
		case unicode.Is(unicode.Han, r):
			han = true
		}
	}
	if han {
		return "zh", true
	}
	if all := text.Languages(md); len(all) > 0 {
		for _, l := range all {
			if lists()["turning "+string(l)] != nil {
				return l, true
			}
		}
		return all[0], false
	}
	words, english := 0, 0
	for w := range text.Words(md) {
		if words++; text.StopWord(strings.ToLower(w.Text), "") {
			english++
		}
	}
	const share = 8 // at least one word in 8 of an English text is a stop word
	return "", text.Latin(md) && english > 0 && english*share >= words
}

var (
	// breaks separates independent clauses; joints separates clauses of any
	// kind.
	breaks = pattern.Lazy(`[;；。]|[.!?]["”’)*_]*\s`)
	joints = pattern.Lazy(`[,;:—(|，；：、（。\x{2600}-\x{1faff}]|[.!?]["”’)*_]*\s`)
)

// gap returns the text between word i and the word before it.
func (p *passage) gap(i int) string { return p.text[p.words[i-1].Token.End:p.words[i].Token.Start] }

// before returns the index of the word before a quotation that changes its
// meaning; -1 if there is none. Unless the quotation is a term, any text longer
// than a label, a lead-in or a subject may govern it, as in: talked Ina out of
// […].
func (s senseOf) before(p *passage, at place, term bool) int {
	for at.first < at.last && (strings.HasPrefix(p.words[at.first].lead, "#") || strings.HasPrefix(strings.TrimLeft(p.line(p.words[at.first].Token.Start), "> "), "[!")) {
		at.first++ // a tag, or the head of a callout
	}
	from := at.last
	for from > at.first && !breaks.MatchString(p.gap(from)) {
		from--
	}
	if at.first = from; at.first == at.last {
		return -1
	}
	if key := s.among(p, at); key >= 0 {
		return key
	}
	last, gap := p.words[at.last-1], p.gap(at.last)
	if is(last.Token.Text, "alternative") || is(last.Token.Text, "governing") || isSpeaker(p, p.words[at.first:at.last]) {
		return at.last - 1
	}
	first := p.words[at.first].Token.Text
	switch n := at.last - at.first; {
	case term, n == 1, n == 2 && (persons[first] != "" || is(first, "anaphora")), n <= 3 && joints.MatchString(gap), strings.Contains(gap, "|"), is(last.Token.Text, "copulas") && gap == " ":
		return -1
	}
	return at.last - 1
}

// behind returns the index of the word after a quotation that changes its
// meaning; -1 if there is none.
func (s senseOf) behind(p *passage, at place, term bool) int {
	for i := at.first; i < at.last; i++ {
		if breaks.MatchString(p.gap(i)) && !s.turns(p.words, i) {
			at.last = i
		}
	}
	if at.first == at.last {
		return -1
	}
	if key := s.among(p, at); key >= 0 {
		return key
	}
	first, gap := p.words[at.first], p.gap(at.first)
	unit := p.words[at.first-1].number != "" && strings.TrimSpace(gap) == ""
	if is(first.Token.Text, "alternative") || unit || !term && !is(first.Token.Text, "linking") && !joints.MatchString(gap) {
		return at.first // the clause continues: was cancelled, to be true
	}
	return -1
}

// among returns the index of the first word at a place that changes the meaning
// of the text around it. In a language without a list, every word may.
func (s senseOf) among(p *passage, at place) int {
	if !s.known {
		return at.first
	}
	for i := at.first; i < at.last; i++ {
		if s.turns(p.words, i) {
			return i
		}
	}
	start := p.words[at.first].Token.Start
	found := turningPhrases.FindStringIndex(p.text[start:p.words[at.last-1].Token.End])
	if found == nil {
		return -1
	}
	return at.first + max(0, slices.IndexFunc(p.words[at.first:at.last], func(w word) bool { return w.Token.End > start+found[0] }))
}

// turns reports whether word i changes the meaning of the text around it.
func (s senseOf) turns(words []word, i int) bool {
	w := words[i].Token.Text
	if text.Is(w, text.Negation|text.Hedge) {
		return true
	}
	pair := w
	if i+1 < len(words) {
		pair += "_" + words[i+1].Token.Text
	}
	return slices.ContainsFunc(s.lists, func(list string) bool { return is(w, list) || is(pair, list) })
}

// isSpeaker reports whether the words right before a quotation name its
// speaker: a name of up to three words and a colon.
func isSpeaker(p *passage, words []word) bool {
	last := words[len(words)-1]
	if len(words) > 3 || !strings.HasPrefix(strings.TrimLeft(p.text[last.Token.End:], "*_ "), ":") && !strings.HasPrefix(p.text[last.Token.End:], "：") {
		return false
	}
	return !slices.ContainsFunc(words, func(w word) bool {
		return !w.Token.Capital && !unicode.IsDigit(firstRune(w.Token.Text)) || persons[w.Token.Text] != ""
	})
}

// phrases of Chinese, whose words cannot be looked up in a list
var (
	backtakingPhrases = pattern.Lazy(`取消|作废|错了|不对|不是真的|假的|不再|推迟|废弃|过时|骗人|谣言|并非如此`)
	settingPhrases    = pattern.Lazy(`^(?:但|可是|不过|不過|然而|其实|其實|除非)`)
	disowningPhrases  = pattern.Lazy(`拒绝|否决|草稿|草案|作废|废弃|取消|归档|存档|想法|点子|谣言|误区|错误|过时|不做|不要|放弃|也许|将来|传言|^(?:Old|Alt|Alte|Alter|Altes)(?: \p{Ll}|$)|❌`)
)

// hasWord reports whether a word, or a pair of adjacent words, is in a list.
func hasWord(words []text.Token, list string) bool {
	for i, w := range words {
		if is(w.Text, list) || i+1 < len(words) && is(w.Text+"_"+words[i+1].Text, list) {
			return true
		}
	}
	return false
}

// disowns reports whether a heading, title or status invalidates the text under
// it.
func disowns(heading string) bool {
	words := text.Tokens(heading)
	if len(words) == 0 || strings.HasSuffix(strings.TrimSpace(heading), "?") || hasWord(words[:1], "asksWhy") {
		return false
	}
	const few = 4 // words
	if hasWord(words, "disowning") || len(words) <= few && hasWord(words, "disowningShort") && !hasWord(words, "events") || disowningPhrases.MatchString(plainText(heading)) {
		return true
	}
	const most = 2 // words, the first of which refuses: "Never", "Not now"
	return hasWord(words[:min(most, len(words))], "refusals") && !strings.Contains(heading, "-") ||
		len(words) > most && hasWord(words[most:], "refusals within")
}

// introduces reports whether a line before a list invalidates its items, makes
// them conditional, or attributes them to someone else.
func introduces(line string) bool {
	words := text.Tokens(strings.TrimRight(line, "*_ :："))
	if len(words) == 0 || hasWord(words[:1], "asksWhy") {
		return false
	}
	return disowns(line) || hasWord(words, "refusals") || hasWord(words[:1], "conditional") || hasWord(words[len(words)-1:], "reporting") ||
		turningPhrases.MatchString(line) && text.Unspaced(firstRune(words[0].Text))
}

// retracts reports whether a sentence retracts the one before it: it begins
// with a "but", or is a short denial.
func retracts(md string, words []word) bool {
	tokens := tokensOf(words)
	plain := plainText(md)
	if len(tokens) == 0 {
		return strings.ContainsAny(md, "❌✗✘🚫")
	}
	if hasWord(tokens[:min(2, len(tokens))], "setting") || settingPhrases.MatchString(plain) {
		return true
	}
	const short, shortUnspaced = 8, 16 // words, characters
	if text.Unspaced(firstRune(tokens[0].Text)) {
		return len(tokens) <= shortUnspaced && backtakingPhrases.MatchString(plain)
	}
	if len(tokens) > short {
		return false
	}
	about := is(tokens[0].Text, "anaphora")
	if hasWord(tokens, "backtaking") && (about || len(tokens) <= 3) {
		return true
	}
	return about && slices.ContainsFunc(tokens, func(t text.Token) bool { return text.Is(t.Text, text.Negation) }) &&
		!slices.ContainsFunc(tokens[1:], func(t text.Token) bool { return !t.Stop && !is(t.Text, "void") && !text.Is(t.Text, text.Negation) })
}

// announces reports whether a sentence denies what follows it.
func announces(md string, words []word) bool {
	tokens := tokensOf(words)
	if len(tokens) == 0 {
		return false
	}
	const short = 10 // words
	ends := strings.HasSuffix(strings.TrimRight(plainText(md), " "), ":") || strings.HasSuffix(md, "：")
	if ends {
		return hasWord(tokens, "backtaking") || introduces(md)
	}
	return len(tokens) <= short && (hasWord(tokens[:1], "none") && hasWord(tokens, "cataphora") ||
		hasWord(tokens, "following") && (hasWord(tokens, "backtaking") || hasWord(tokens, "refusals")))
}

func tokensOf(words []word) (tokens []text.Token) {
	for _, w := range words {
		tokens = append(tokens, w.Token)
	}
	return tokens
}

var clauseEnd = pattern.Lazy(`[,;.!?—(、，。；]|\b(?:but|because|since|as|and|for|aber|denn|weil|und|mais|car|et|pero|porque|y)\b`)

// denied describes how the answer itself negates what it quotes; "" if it does
// not.
func (q quotation) denied() string {
	before := q.before
	if at := clauseEnd.FindAllStringIndex(strings.ToLower(before), -1); at != nil && len(strings.ToLower(before)) == len(before) {
		before = before[at[len(at)-1][1]:]
	}
	colon := strings.HasSuffix(strings.TrimRight(before, " *_"), ":") || strings.HasSuffix(before, "：")
	if i := strings.LastIndexAny(strings.TrimRight(before, " *_:"), ":"); i >= 0 {
		before = before[i+1:]
	}
	tokens := text.Tokens(before)
	no := func(t text.Token) bool { return text.Is(t.Text, text.Negation) }
	if at := slices.IndexFunc(tokens, no); at >= 0 && (!colon || hasWord(tokens, "truth") || hasWord(tokens, "backtaking")) {
		return "the answer says “" + tokens[at].Text + "” of it"
	}
	after := strings.TrimLeft(q.after, "”\"’»“ *_")
	if at := clauseEnd.FindStringIndex(strings.ToLower(after)); at != nil && at[0] <= len(after) {
		after = after[:at[0]]
	}
	tokens = text.Tokens(after)
	if at := slices.IndexFunc(tokens, no); at >= 0 && at < 4 && (hasWord(tokens, "truth") || hasWord(tokens, "backtaking")) {
		return "the answer says “" + tokens[at].Text + "” of it"
	}
	return ""
}
