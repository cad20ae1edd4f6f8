package agent

import (
	"fmt"
	"strings"
	"sync"
	"unicode/utf8"

	"lifehub/internal/pattern"
)

// notSaid is what the explainer is asked to begin with when the sources do
// not hold the answer. The user never sees it.
const notSaid = "NOT_IN_NOTES"

// beginnings are how an answer begins that says by itself that the notes do
// not hold it, for models that ignore the mark; in lower case, ' for ’.
var beginnings = sync.OnceValue(func() []string {
	list := []string{
		strings.ToLower(noMatch.opening), "das steht nicht in ", "in deinen notizen steht nichts", "in deinen notizen steht nicht ", "in ihren notizen steht nicht",
		"vos notes ne ", "tes notes ne ", "tus notas no ", "sus notas no ", "i tuoi appunti non ", "le tue note non ",
		"as tuas notas não ", "as suas notas não ", "suas notas não ", "je notities zeggen ", "в твоих заметках ", "в ваших заметках ",
		"你的笔记里没有", "你的笔记中没有", "你的笔记没有", "您的笔记中没有", "您的笔记没有", "ノートには", "あなたのノートには",
	}
	for _, whose := range []string{"your notes", "the notes"} {
		for _, not := range []string{" don't ", " do not "} {
			for _, verb := range []string{"say", "mention", "contain", "hold", "state", "tell", "answer", "cover", "include", "provide", "seem to", "appear to"} {
				list = append(list, whose+not+verb)
			}
		}
	}
	for _, whose := range []string{"deine notizen ", "ihre notizen ", "die notizen "} {
		for _, rest := range []string{"sagen nichts", "sagen dazu nichts", "sagen das nicht", "enthalten nichts", "enthalten keine", "enthalten dazu"} {
			list = append(list, whose+rest)
		}
	}
	return list
})

// plainBeginning is how a text begins, as beginnings are written.
func plainBeginning(text string) string {
	return strings.ReplaceAll(strings.ToLower(strings.TrimLeft(text, " \t\r\n>*_`#\"“([<-")), "’", "'")
}

// begins tells whether a text begins with the mark or says that the notes do
// not hold the answer, and whether it still may once it goes on.
func begins(text string) (marked, said, may bool) {
	plain := plainBeginning(text)
	mark := strings.ToLower(notSaid)
	marked, may = strings.HasPrefix(plain, mark), strings.HasPrefix(mark, plain)
	for _, b := range beginnings() {
		said = said || strings.HasPrefix(plain, b)
		may = may || strings.HasPrefix(b, plain)
	}
	return marked, said, may
}

// markText is the mark with what models put around it.
var markText = pattern.Lazy("(?i)^[\\s>*_`#\"“(\\[<-]*" + notSaid + "[*_`\"”)\\]>:.!,\\s]*")

// laterMark is the mark further on in an answer.
var laterMark = pattern.Lazy("(?i)[*_`(\\[]*" + notSaid + "[*_`)\\]]*[:.]?")

// doNotSay opens an answer that the notes do not hold; nearest is put before
// the places that come nearest.
type doNotSay struct{ opening, nearest string }

// doNotSayIn is the opening by the language of the question.
var doNotSayIn = map[string]doNotSay{
	"":   {"Your notes don't say.", "Nearest:"},
	"de": {"Das steht nicht in deinen Notizen.", "Am nächsten kommt:"},
	"fr": {"Tes notes ne le disent pas.", "Au plus près :"},
	"es": {"Tus notas no lo dicen.", "Lo más cercano:"},
	"it": {"I tuoi appunti non lo dicono.", "Più vicino:"},
	"pt": {"As tuas notas não o dizem.", "Mais próximo:"},
	"nl": {"Je notities zeggen dat niet.", "Het dichtst in de buurt:"},
	"ru": {"В твоих заметках этого нет.", "Ближе всего:"},
	"zh": {"你的笔记里没有提到。", "最接近的："},
	"ja": {"ノートには書かれていません。", "最も近いもの："},
}

// noMatch is how the offline provider says it, in any language.
var noMatch = doNotSay{"No exact match.", "Closest notes:"}

// begins tells whether a sentence begins with the opening.
func (d doNotSay) begins(sentence string) bool {
	return strings.HasPrefix(sentence, strings.TrimRight(d.opening, ".。"))
}

// inAnotherLanguage tells whether a sentence is an opening in a language that
// the question is not in, and says nothing more that rests on a source.
func inAnotherLanguage(sentence string) bool {
	for _, d := range doNotSayIn {
		if d.begins(sentence) {
			return !strings.Contains(sentence, "[")
		}
	}
	return false
}

// unlikely tells that the turn searched the notes, that no search found what
// likely answers, and that neither another tool nor memory brought something.
func (t *turn) unlikely() bool {
	if t.fitting() {
		return false
	}
	searched := false
	for _, f := range t.found {
		switch {
		case f.status != Done || f.same != "":
		case f.result.Searched && (f.result.Unlikely || f.result.Nothing):
			searched = true
		case !f.result.Nothing:
			return false
		}
	}
	return searched
}

// onlySearched tells that searching the notes is all that brought something.
func (t *turn) onlySearched() bool {
	searched := false
	for _, f := range t.found {
		if f.status == Done && !f.result.Searched && !f.result.Nothing {
			return false
		}
		searched = searched || f.status == Done && f.result.Searched
	}
	return searched
}

// opening reads the beginning of an answer, and puts before it that the notes
// don't say, when the search or the model says so.
type opening struct {
	*turn
	unlikely bool   // the search says so
	held     string // the beginning, as long as it may become one of those known; later what may become the mark
	decided  bool
}

// longestOpening is how much of an answer is held back at most, in bytes.
const longestOpening = 400

func (o *opening) add(piece string) {
	o.held += piece
	if o.decided {
		o.goOn()
		return
	}
	marked, said, may := begins(o.held)
	switch {
	case len(o.held) > longestOpening:
	case marked && len(markText.FindString(o.held)) == len(o.held), // its end is not seen yet
		said && !sentenceCloses(o.held), !marked && !said && may:
		return
	}
	o.decide()
}

// goOn says what has come since the beginning but for the mark, which the user
// never sees, and holds back what may become one.
func (o *opening) goOn() {
	text := laterMark.ReplaceAllString(o.held, "")
	keep := overlap(text, notSaid)
	o.held = text[len(text)-keep:]
	o.say(text[:len(text)-keep])
}

// flush says what is still held back when the answer has ended.
func (o *opening) flush() {
	if !o.decided && o.held != "" {
		o.decide()
	}
	o.say(o.held)
	o.held = ""
}

// decide passes the held beginning on.
func (o *opening) decide() {
	o.decided = true
	_, said, _ := begins(o.held)
	text := o.held
	o.held = ""
	if mark := markText.FindString(text); mark != "" {
		text = mark + laterMark.ReplaceAllString(text[len(mark):], "")
	} else {
		text = laterMark.ReplaceAllString(text, "")
	}
	mark := markText.FindString(text)
	switch {
	case !o.onlySearched():
		o.say(text[len(mark):])
	case said:
		o.unanswered = o.nearest()
		own := doNotSayIn[languageOf(o.question)]
		sentence, rest := firstSentence(strings.TrimLeft(strings.Replace(text, "don’t", "don't", 1), " \t\r\n"))
		if noMatch.begins(sentence) {
			own = noMatch
		}
		switch {
		case own.begins(sentence):
			o.say(strings.TrimSpace(sentence+" "+o.naming(own)) + rest)
		case inAnotherLanguage(sentence):
			o.say(strings.TrimSpace(own.opening+" "+o.naming(own)) + rest)
		default:
			o.say(strings.TrimSpace(own.opening+" "+o.naming(own)) + "\n\n" + text)
		}
	case mark != "" || o.unlikely:
		o.unanswered = o.nearest()
		own := doNotSayIn[languageOf(o.question)]
		o.say(strings.TrimSpace(own.opening + " " + o.naming(own)))
		if rest := strings.TrimSpace(text[len(mark):]); rest != "" {
			o.say("\n\n" + strings.TrimLeft(text[len(mark):], " \t\r\n"))
		} else {
			o.gap = "\n\n"
		}
	default:
		o.say(text)
	}
}

// maxNearest bounds the near misses that are named.
const maxNearest = 3

// nearest are the best places of the searches, one a note; never nil.
func (t *turn) nearest() []Source {
	places := []Source{}
	named := map[string]bool{}
	for _, s := range t.sources[:t.foundSources] {
		if s.Call == "" && !named[s.Vault+"/"+s.Path] && len(places) < maxNearest {
			named[s.Vault+"/"+s.Path] = true
			places = append(places, s)
		}
	}
	return places
}

// naming is the sentence that names the near misses; "" without any.
func (t *turn) naming(own doNotSay) string {
	if len(t.unanswered) == 0 {
		return ""
	}
	names := make([]string, len(t.unanswered))
	for i, s := range t.unanswered {
		names[i] = fmt.Sprintf("`%s`", strings.ReplaceAll(oneLine(s.Title()), "`", "'"))
	}
	return own.nearest + " " + strings.Join(names, ", ") + "."
}

// sentenceCloses tells whether the first sentence of a text is over.
func sentenceCloses(text string) bool {
	_, rest := firstSentence(text)
	return rest != ""
}

// firstSentence cuts a text after its first full stop or line.
func firstSentence(text string) (sentence, rest string) {
	for i, r := range text {
		end := i + utf8.RuneLen(r)
		switch {
		case r == utf8.RuneError:
		case r == '\n':
			return text[:i], text[i:]
		case strings.ContainsRune("。！？", r), strings.ContainsRune(".!?", r) && end < len(text) && strings.ContainsAny(text[end:end+1], " \n\t"):
			closing := len(text[end:]) - len(strings.TrimLeft(text[end:], `”’»」』）)].`))
			return text[:end+closing], text[end+closing:]
		}
	}
	return text, ""
}
