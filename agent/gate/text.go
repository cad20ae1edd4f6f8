package gate

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"lifehub/agent"
)

// Format returns the rule as one line of YAML, as [Append] writes it.
func Format(r Rule) string {
	var b strings.Builder
	fmt.Fprintf(&b, "{tool: %s", quoteYAML(r.Tool))
	if len(r.Where) > 0 {
		var list []string
		for _, w := range r.Where {
			list = append(list, quoteYAML(w.Argument)+": "+w.String())
		}
		fmt.Fprintf(&b, ", args: {%s}", strings.Join(list, ", "))
	}
	if r.Only {
		b.WriteString(", only: true")
	}
	fmt.Fprintf(&b, ", level: %s}", r.Level)
	return b.String()
}

// Words describes in words which calls the rule covers.
func (r Rule) Words() string {
	calls := r.Tool
	for i, w := range r.Where {
		join := " with "
		if i > 0 {
			join = " and "
		}
		switch w.Fit {
		case NotGiven:
			calls += join + "no " + w.Argument
		case LikeGlob:
			calls += join + w.Argument + " " + argumentUnescaper.Replace(strings.Join(w.Values, " or "))
		default:
			calls += join + w.Argument + " " + w.String()
		}
	}
	if r.Only && len(r.Where) > 0 {
		calls += ", and nothing else"
	}
	return calls
}

// String returns the condition as written in the file.
func (w Where) String() string {
	switch {
	case w.Fit == NotGiven:
		return "null"
	case w.Fit == LikeGlob && len(w.Values) == 1:
		return quoteYAML(w.Values[0])
	}
	var list []string
	for _, value := range w.Values {
		list = append(list, quoteYAML(value))
	}
	if len(list) == 1 && w.Fit != OneOf {
		return fmt.Sprintf("{%s: %s}", w.Fit, list[0])
	}
	return fmt.Sprintf("{%s: [%s]}", w.Fit, strings.Join(list, ", "))
}

// plainWord matches text that needs no quotes in YAML, except for yamlWords.
var plainWord = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_.-]*$`)

var yamlWords = []string{"true", "false", "null", "yes", "no", "on", "off", "y", "n"}

// quoteYAML quotes s only if necessary, so that a file written by LifeHub reads
// like one written by hand.
func quoteYAML(s string) string {
	if plainWord.MatchString(s) && !slices.Contains(yamlWords, strings.ToLower(s)) {
		return s
	}
	if strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) && r != ' ' }) {
		if quoted, err := json.Marshal(s); err == nil {
			return string(quoted)
		}
	}
	return "'" + strings.ReplaceAll(s, "'", "''") + "'"
}

// ParseOne parses one rule, as given to --allow: in the form that [Format]
// writes, or the name or glob of a tool followed by conditions:
//
//	add_task
//	add_task=confirm
//	add_task note=tasks.md text='Buy *'
//	web_fetch url=host:*.example.org
//	append_note path=under:log/
//
// The level defaults to auto.
func ParseOne(text string) (Rule, error) {
	rule, err := parseRule(strings.TrimSpace(text))
	if err != nil {
		return Rule{}, fmt.Errorf("rule %q: %w", text, err)
	}
	return rule, nil
}

func parseRule(text string) (Rule, error) {
	if !utf8.ValidString(text) {
		return Rule{}, errors.New("it is not UTF-8 text")
	}
	if strings.HasPrefix(text, "{") {
		rules, err := Parse("rule", []byte("rules:\n- "+text+"\n"))
		if err != nil {
			return Rule{}, err
		}
		if len(rules.list) != 1 {
			return Rule{}, errors.New("it is not one rule")
		}
		rule := rules.list[0]
		rule.From = ""
		return rule, nil
	}
	head, rest := text, ""
	if at := strings.IndexFunc(text, unicode.IsSpace); at >= 0 {
		head, rest = text[:at], text[at:]
	}
	tool, name, named := strings.Cut(head, "=")
	rule := Rule{Tool: tool, Level: agent.Auto}
	if named {
		if err := rule.Level.UnmarshalText([]byte(name)); err != nil {
			return Rule{}, err
		}
	}
	if err := checkGlob(rule.Tool); err != nil {
		return Rule{}, err
	}
	pairs, err := SplitArguments(rest)
	if err != nil {
		return Rule{}, err
	}
	for _, pair := range pairs {
		w := Where{Argument: pair[0], Fit: LikeGlob, Values: []string{pair[1]}}
		for _, fit := range []Fit{Under, OnHost, OneOf} {
			if value, ok := strings.CutPrefix(pair[1], string(fit)+":"); ok {
				w.Fit, w.Values = fit, []string{value}
				if fit != Under {
					w.Values = strings.Split(value, "|")
				}
			}
		}
		if err := w.check(); err != nil {
			return Rule{}, err
		}
		if slices.ContainsFunc(rule.Where, func(o Where) bool { return o.Argument == w.Argument }) {
			return Rule{}, fmt.Errorf("%s is given twice", w.Argument)
		}
		rule.Where = append(rule.Where, w)
	}
	sortWhere(rule.Where)
	return rule, nil
}

// SplitArguments parses key=value key2='two words'.
func SplitArguments(s string) (pairs [][2]string, err error) {
	for s = strings.TrimSpace(s); s != ""; s = strings.TrimSpace(s) {
		key, rest, ok := strings.Cut(s, "=")
		if !ok || key == "" || strings.ContainsAny(key, " '\"") {
			return nil, fmt.Errorf("%q is not key=value", s)
		}
		var value string
		switch {
		case rest != "" && (rest[0] == '"' || rest[0] == '\''):
			end := strings.IndexByte(rest[1:], rest[0])
			if end < 0 {
				return nil, fmt.Errorf("the quote of %s is never closed", key)
			}
			value, s = rest[1:1+end], rest[end+2:]
		default:
			value, s, _ = strings.Cut(rest, " ")
		}
		pairs = append(pairs, [2]string{key, value})
	}
	return pairs, nil
}
