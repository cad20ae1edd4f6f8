package layout

import (
	"strings"
	"sync"
)

// Token is the kind of a piece of code.
type Token int

const (
	plainCode Token = iota
	Keyword
	String
	Number
	Comment
	Added
	Removed
)

// State is the state of highlighting at some position: the text that ends the current comment or
// string, or "" outside of both.
type State struct {
	until string
	kind  Token
}

// Language describes a language for highlighting. The nil language highlights nothing.
type Language struct {
	words  map[string]bool
	marks  []string       // beginnings of comments and strings, longer ones first; see marked
	folded bool           // keywords in any case
	lines  map[byte]Token // kind of a whole line by its first byte; nil in most languages
}

// marked maps the beginning of a comment or string to the state it starts.
var marked = map[string]State{
	"//": {"\n", Comment}, "#": {"\n", Comment}, "--": {"\n", Comment}, "/*": {"*/", Comment}, "<!--": {"-->", Comment},
	`"`: {`"`, String}, "'": {"'", String}, "`": {"`", String}, `"""`: {`"""`, String}, "'''": {"'''", String},
}

// Named returns the language with a name, in any case, or nil if it is unknown.
func Named(name string) *Language { return languages()[strings.ToLower(name)] }

// languages returns all languages by name, built on first use.
var languages = sync.OnceValue(func() map[string]*Language {
	all := map[string]*Language{}
	add := func(names, marks, words string) *Language {
		l := &Language{marks: strings.Fields(marks), words: map[string]bool{}}
		for word := range strings.FieldsSeq(words) {
			l.words[word] = true
		}
		for name := range strings.FieldsSeq(names) {
			all[name] = l
		}
		return l
	}
	add("go golang", "// /* ` \" '", "break case chan const continue default defer else fallthrough for func go goto if import interface map package range return select struct switch type var nil true false iota string int int64 bool byte rune error any float64 make len append new")
	add("python py", `# """ ''' " '`, "and as assert async await break class continue def del elif else except finally for from global if import in is lambda nonlocal not or pass raise return try while with yield None True False self match case")
	add("javascript js typescript ts jsx tsx", "// /* ` \" '", "async await break case catch class const continue default delete do else export extends finally for from function if import in instanceof let new null of return static super switch this throw true false try typeof undefined var void while yield interface type enum implements private public readonly string number boolean")
	add("c cpp c++ h java rust rs swift kotlin cs csharp php", `// /* "`, "abstract as auto bool boolean break case catch char class const continue crate default delete do double dyn else enum extends extern false final float fn for fun if impl implements import in int interface let long loop match mod mut namespace new null nullptr override package private protected pub public return self short signed sizeof static struct super switch template this throw trait true try type typedef union unsafe unsigned use using val var virtual void where while yield")
	add("bash sh shell zsh console", `# " '`, "if then else elif fi for while until do done case esac in function return local export exit echo cd set source read shift trap")
	add("sql sqlite", `-- /* ' "`, "select from where insert into values update set delete create table index view drop alter add primary key foreign references not null default unique and or in is like between join left right inner outer on group by order having limit offset as distinct union all case when then else end begin commit rollback with exists integer text real blob virtual using").folded = true
	add("json jsonc", `// "`, "true false null")
	add("yaml yml toml ini", `# " '`, "true false null yes no on off")
	add("ruby rb perl r", `# " '`, "alias and begin break case class def do else elsif end ensure false for if in module next nil not or redo rescue retry return self super then true undef unless until when while yield require my sub use function")
	add("lua haskell hs elm", `-- "`, "and break do else elseif end false for function if in local nil not or repeat return then true until while case class data deriving import instance let module of type where")
	add("html xml svg vue", `<!-- " '`, "")
	add("css scss", `/* " '`, "important inherit initial none auto flex grid block inline")
	add("makefile make dockerfile docker", `# " '`, "FROM RUN COPY ADD CMD ENTRYPOINT ENV ARG WORKDIR EXPOSE USER VOLUME LABEL ifeq ifdef else endif include")
	add("diff patch", "", "").lines = map[byte]Token{'+': Added, '-': Removed, '@': Comment}
	return all
})

// Highlight calls yield with consecutive pieces of text, each of one kind, and returns the state
// after it.
func (l *Language) Highlight(text string, st State, yield func(string, Token)) State {
	if l == nil {
		yield(text, plainCode)
		return st
	}
	if l.lines != nil && st.until == "" && text != "" { // text begins a line
		st = State{until: "\n", kind: l.lines[text[0]]}
	}
	for text != "" {
		n, kind := 0, st.kind
		if st.until == "" {
			if n, kind = l.next(text); kind == Comment || kind == String {
				st = marked[text[:n]]
			}
		} else if n = endOf(text, st); n < 0 {
			n = len(text)
		} else {
			st = State{}
		}
		yield(text[:n], kind)
		text = text[n:]
	}
	return st
}

// next returns the length and kind of the first piece of text: the beginning of a comment or
// string, a word, a number, or anything in between.
func (l *Language) next(text string) (int, Token) {
	plain := 0
	for plain < len(text) {
		n, kind := l.piece(text[plain:])
		if kind != plainCode {
			if plain == 0 {
				return n, kind
			}
			break
		}
		plain += n
	}
	return plain, plainCode
}

func (l *Language) piece(s string) (int, Token) {
	for _, mark := range l.marks {
		if strings.HasPrefix(s, mark) {
			return len(mark), marked[mark].kind
		}
	}
	switch n := wordBytes(s); {
	case n == 0:
		return 1, plainCode
	case s[0] >= '0' && s[0] <= '9':
		return n, Number
	case l.words[s[:n]] || l.folded && l.words[strings.ToLower(s[:n])]:
		return n, Keyword
	default:
		return n, plainCode
	}
}

// endOf returns the length of s up to the end of the current comment or string, or -1 if it does
// not end in s.
func endOf(s string, st State) int {
	for i := 0; i < len(s); i++ {
		if st.kind == String && s[i] == '\\' {
			i++
			continue
		}
		if strings.HasPrefix(s[i:], st.until) {
			return i + len(st.until)
		}
	}
	return -1
}

// wordBytes returns the length of the word or number that s begins with.
func wordBytes(s string) int {
	n := 0
	for n < len(s) && (s[n]|0x20 >= 'a' && s[n]|0x20 <= 'z' || s[n] == '_' || s[n] >= '0' && s[n] <= '9' || s[n] >= 0x80) {
		n++
	}
	return n
}

// LineEnd returns the state at the beginning of the next line.
func (l *Language) LineEnd(st State) State {
	if st.until == "\n" || st.until == `"` || st.until == "'" {
		return State{}
	}
	return st
}
