package markdown

import (
	"strings"
	"sync"
)

// token is what a piece of code is.
type token int

const (
	plainCode token = iota
	keyword
	stringCode
	numberCode
	comment
	added
	removed
)

// state is what highlighting must know of the code before: the text that ends
// the comment or string under way, "" outside of both.
type state struct {
	until string
	kind  token
}

// language is as much of a language as highlighting needs. The nil language
// highlights nothing.
type language struct {
	words    map[string]bool
	comments []string       // up to the end of the line
	blocks   [2]string      // comments from the first to the second
	quotes   string         // of strings that end with their line
	long     []string       // of strings that may span lines
	folded   bool           // keywords in any case
	lines    map[byte]token // what a whole line is, by its first letter; nil: nothing is told by that
}

func words(list string) map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields(list) {
		set[w] = true
	}
	return set
}

// languages is made when the first code block names one.
var languages = sync.OnceValue(func() map[string]*language {
	slashes := [2]string{"/*", "*/"}
	all := map[string]*language{}
	add := func(names string, l language) {
		for _, name := range strings.Fields(names) {
			all[name] = &l
		}
	}
	add("go golang", language{
		words:    words("break case chan const continue default defer else fallthrough for func go goto if import interface map package range return select struct switch type var nil true false iota string int int64 bool byte rune error any float64 make len append new"),
		comments: []string{"//"}, blocks: slashes, quotes: `"'`, long: []string{"`"},
	})
	add("python py", language{
		words:    words("and as assert async await break class continue def del elif else except finally for from global if import in is lambda nonlocal not or pass raise return try while with yield None True False self match case"),
		comments: []string{"#"}, quotes: `"'`, long: []string{`"""`, `'''`},
	})
	add("javascript js typescript ts jsx tsx", language{
		words:    words("async await break case catch class const continue default delete do else export extends finally for from function if import in instanceof let new null of return static super switch this throw true false try typeof undefined var void while yield interface type enum implements private public readonly string number boolean"),
		comments: []string{"//"}, blocks: slashes, quotes: `"'`, long: []string{"`"},
	})
	add("c cpp c++ h java rust rs swift kotlin cs csharp php", language{
		words:    words("abstract as auto bool boolean break case catch char class const continue crate default delete do double dyn else enum extends extern false final float fn for fun if impl implements import in int interface let long loop match mod mut namespace new null nullptr override package private protected pub public return self short signed sizeof static struct super switch template this throw trait true try type typedef union unsafe unsigned use using val var virtual void where while yield"),
		comments: []string{"//"}, blocks: slashes, quotes: `"`,
	})
	add("bash sh shell zsh console", language{
		words:    words("if then else elif fi for while until do done case esac in function return local export exit echo cd set source read shift trap"),
		comments: []string{"#"}, quotes: `"'`,
	})
	add("sql sqlite", language{
		words:    words("select from where insert into values update set delete create table index view drop alter add primary key foreign references not null default unique and or in is like between join left right inner outer on group by order having limit offset as distinct union all case when then else end begin commit rollback with exists integer text real blob virtual using"),
		comments: []string{"--"}, blocks: slashes, quotes: `'"`, folded: true,
	})
	add("json jsonc", language{words: words("true false null"), comments: []string{"//"}, quotes: `"`})
	add("yaml yml toml ini", language{words: words("true false null yes no on off"), comments: []string{"#"}, quotes: `"'`})
	add("ruby rb perl r", language{
		words:    words("alias and begin break case class def do else elsif end ensure false for if in module next nil not or redo rescue retry return self super then true undef unless until when while yield require my sub use function"),
		comments: []string{"#"}, quotes: `"'`,
	})
	add("lua haskell hs elm", language{
		words:    words("and break do else elseif end false for function if in local nil not or repeat return then true until while case class data deriving import instance let module of type where"),
		comments: []string{"--"}, quotes: `"`,
	})
	add("html xml svg vue", language{blocks: [2]string{"<!--", "-->"}, quotes: `"'`})
	add("css scss", language{words: words("important inherit initial none auto flex grid block inline"), blocks: slashes, quotes: `"'`})
	add("makefile make dockerfile docker", language{
		words: words("FROM RUN COPY ADD CMD ENTRYPOINT ENV ARG WORKDIR EXPOSE USER VOLUME LABEL ifeq ifdef else endif include"), comments: []string{"#"}, quotes: `"'`,
	})
	add("diff patch", language{lines: map[byte]token{'+': added, '-': removed, '@': comment}})
	return all
})

// highlight gives text in pieces of one kind, and returns the state after it.
func (l *language) highlight(text string, st state, yield func(string, token)) state {
	if l == nil {
		yield(text, plainCode)
		return st
	}
	if l.lines != nil && st.until == "" && text != "" { // here a line begins
		st = state{until: "\n", kind: l.lines[text[0]]}
	}
	plain := 0 // where the piece without a kind begins
	i := 0
	give := func(n int, k token) {
		if i > plain {
			yield(text[plain:i], plainCode)
		}
		yield(text[i:i+n], k)
		i += n
		plain = i
	}
	for i < len(text) {
		if st.until != "" {
			n := endOf(text[i:], st)
			if n < 0 {
				give(len(text)-i, st.kind)
				return st
			}
			k := st.kind
			st = state{}
			give(n, k)
			continue
		}
		rest := text[i:]
		if next, n := l.opens(rest); n > 0 {
			st = next
			give(n, st.kind)
			continue
		}
		switch c := rest[0]; {
		case letterByte(c) || c == '_' || c >= 0x80:
			n := wordBytes(rest)
			if word := rest[:n]; l.words[word] || l.folded && l.words[strings.ToLower(word)] {
				give(n, keyword)
			} else {
				i += n
			}
		case c >= '0' && c <= '9':
			give(max(1, wordBytes(rest)), numberCode)
		default:
			i++
		}
	}
	if plain < len(text) {
		yield(text[plain:], plainCode)
	}
	return st
}

// opens returns the state inside the comment or string that s begins with, and
// the length of its opening mark.
func (l *language) opens(s string) (state, int) {
	for _, mark := range l.comments {
		if strings.HasPrefix(s, mark) {
			return state{until: "\n", kind: comment}, len(mark)
		}
	}
	if l.blocks[0] != "" && strings.HasPrefix(s, l.blocks[0]) {
		return state{until: l.blocks[1], kind: comment}, len(l.blocks[0])
	}
	for _, mark := range l.long {
		if strings.HasPrefix(s, mark) {
			return state{until: mark, kind: stringCode}, len(mark)
		}
	}
	if strings.IndexByte(l.quotes, s[0]) >= 0 {
		return state{until: s[:1], kind: stringCode}, 1
	}
	return state{}, 0
}

// endOf returns the length of s up to the end of the comment or string under
// way, -1 if it goes on.
func endOf(s string, st state) int {
	for i := 0; i < len(s); i++ {
		if st.kind == stringCode && s[i] == '\\' {
			i++
			continue
		}
		if strings.HasPrefix(s[i:], st.until) {
			return i + len(st.until)
		}
	}
	return -1
}

func wordBytes(s string) int {
	n := 0
	for n < len(s) && (letterByte(s[n]) || s[n] == '_' || s[n] >= '0' && s[n] <= '9' || s[n] >= 0x80) {
		n++
	}
	return n
}

// lineEnd returns the state at the beginning of the next line.
func (l *language) lineEnd(st state) state {
	if l == nil || st.until == "\n" || st.kind == stringCode && len(st.until) == 1 && strings.Contains(l.quotes, st.until) {
		return state{}
	}
	return st
}
