package prompt

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"lifehub/agent"
	"lifehub/internal/text"
	"lifehub/llm"
)

// AnswerTool is the name by which a model that replies in JSON gives its answer:
// {"tool":"answer","input":{"text":"…"}}.
const AnswerTool = "answer"

// InNotation returns a call, or an answer, as a model that replies in JSON writes it;
// "" if the input cannot be written as JSON.
func InNotation(tool string, input any) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(struct {
		Tool  string `json:"tool"`
		Input any    `json:"input"`
	}{tool, input}); err != nil {
		return ""
	}
	return strings.TrimSpace(b.String())
}

// Reply is what a model's text says.
type Reply struct {
	Text    string // the answer; with calls, what was said before them
	Calls   []Step
	Problem error // why the text is neither an answer nor calls; it is nil if there are any
}

// Read reads a whole reply, in this order: reasoning is cut, calls in any
// notation are taken out, and what is left is the answer, without the special
// tokens of a chat template. Calls are either marked as such, or all there is
// and of known tools.
func Read(whole string, known func(name string) bool) Reply {
	if len(whole) > maxDraft {
		return Reply{Text: Answer(whole)}
	}
	thought, rest, calls, err := channels(whole)
	r := Reply{Calls: calls, Problem: err}
	if err != nil || len(calls) > 0 {
		return r
	}
	if rest == "" { // a thought that does not end holds the answer, or ends with a call
		rest = thought
		if m := toolMark.FindStringIndex(rest); m != nil && !codeIn(rest).has(m[0]) {
			rest = rest[:m[0]] + "\n" + rest[m[0]:]
		}
	}
	rest = strings.TrimSpace(withoutTokensBefore(rest))
	before, calls, err := callsOf(rest, func(name string) bool { return name == AnswerTool || known(name) })
	for _, c := range calls {
		if strings.EqualFold(c.Tool, AnswerTool) {
			r.Text = answerIn(c.Input)
			if _, inner, _, _ := channels(r.Text); inner != "" {
				r.Text = inner
			}
		} else {
			r.Calls = append(r.Calls, c)
		}
	}
	switch {
	case err != nil:
		if r.Text, r.Problem = before, err; errors.Is(err, ErrNotAlone) {
			r.Text = rest
		}
	case len(r.Calls) > 0:
		r.Text = before
	case len(calls) == 0:
		r.Text = rest
	}
	r.Text = Answer(r.Text)
	switch {
	case !r.IsAnswer():
	case strings.TrimSpace(r.Text) == "":
		r.Problem = ErrEmpty
	case refersAt(r.Text) >= 0:
		r.Problem = errRefers
	}
	return r
}

var (
	// ErrEmpty means that a reply holds nothing but reasoning, if that.
	ErrEmpty = errors.New("it is empty")
	// ErrNotAlone means that a reply ends with what looks like a call, after
	// text: it may be one, or an example.
	ErrNotAlone = errors.New("a call has to stand alone, without text")
	errRefers   = errors.New("it refers to the result of a step instead of saying it")
)

// IsAnswer reports whether the reply is an answer.
func (r Reply) IsAnswer() bool { return len(r.Calls) == 0 && r.Problem == nil }

// Answer returns a text as an answer: without the special tokens of a chat
// template and what follows them, without reasoning or its closing tag at the end,
// without records of what was done, and without a code fence or tags around the
// whole.
func Answer(whole string) string {
	if at := tokenAt(whole, false); at >= 0 {
		whole = whole[:at]
	}
	whole = strings.TrimSpace(whole)
	if m := afterthought.FindStringIndex(whole); m != nil && !codeIn(whole).has(m[1]-1) {
		whole = strings.TrimSpace(whole[:m[0]])
	}
	for _, m := range thinkEnd.FindAllStringIndex(whole, -1) { // it ends nothing
		if m[1] == len(whole) {
			whole = whole[:m[0]]
		}
	}
	whole = strings.TrimSpace(agent.WithoutRecords(whole))
	if m := wrapped.FindStringSubmatch(whole); m != nil {
		whole = strings.TrimSpace(m[1])
	}
	return text.Unfenced(whole)
}

// answerIn returns the text of an answer given in JSON: the one named text, or
// the only one.
func answerIn(input json.RawMessage) string {
	var fields map[string]json.RawMessage
	if json.Unmarshal(input, &fields) != nil {
		return Text(input)
	}
	if raw := first(fields, "text", "answer", "content", "message"); raw != nil {
		return Text(raw)
	}
	for _, raw := range fields {
		if len(fields) == 1 {
			return Text(raw)
		}
	}
	return ""
}

// AnswerInJSON returns the answer in the reply of a model that was asked for JSON and wrote something else around it or
// in it: the only text of its first object, or of the beginning of one that is broken; "" if there is none, or the
// object calls a tool.
func AnswerInJSON(reply string, known func(name string) bool) string {
	reply = WithoutThoughts(reply)
	at := max(0, strings.IndexByte(reply, '{'))
	var whole json.RawMessage
	if m := envelope.FindStringIndex(reply[at:]); m != nil &&
		json.NewDecoder(strings.NewReader(reply[at:])).Decode(&whole) != nil {
		inside := reply[at+m[1]:]
		if end := afterText.FindStringIndex(inside); end != nil {
			inside = inside[:end[0]]
		}
		return Answer(unquoted(strings.ReplaceAll(strings.ReplaceAll(inside, `\"`, `"`), `"`, `\"`)))
	}
	bare := llm.Unfenced(reply)
	alone := strings.HasPrefix(bare, "{") && strings.HasSuffix(bare, "}")
	for raw, err := range jsonIn(reply) {
		if err != nil {
			return ""
		}
		s := callReader{known: known}
		if _, calls := s.callsIn(raw, 0); calls {
			return ""
		}
		texts := textsIn(raw)
		if !isReply(raw, alone) || len(texts) != 1 {
			return ""
		}
		if inner := json.RawMessage(texts[0]); isReply(inner, true) && len(textsIn(inner)) == 1 {
			texts = textsIn(inner)
		}
		return Answer(texts[0])
	}
	return ""
}

// isReply reports whether an object is a reply, rather than what a reply may show: it has the name of a tool, or it is
// alone and nothing but a text with a usual name.
func isReply(raw json.RawMessage, alone bool) bool {
	var fields map[string]json.RawMessage
	if json.Unmarshal(raw, &fields) != nil {
		return false
	}
	_, called := fields["tool"]
	return called || alone && len(fields) == 1 && first(fields, "text", "answer", "response", "content", "message") != nil
}

// afterText matches what ends a text that is last in an object.
var afterText = regexp.MustCompile("\"[\\s}\\]`]*$")

// textsIn returns the texts in a JSON value, except those that are about it; a list of texts is one.
func textsIn(raw json.RawMessage) (texts []string) {
	var list []string
	var fields map[string]json.RawMessage
	switch {
	case Text(raw) != "":
		return []string{Text(raw)}
	case json.Unmarshal(raw, &list) == nil && len(list) > 0:
		return []string{strings.Join(list, "\n")}
	case json.Unmarshal(raw, &fields) == nil:
		for _, key := range slices.Sorted(maps.Keys(fields)) {
			if key != "tool" && key != "function" && key != "action" && !slices.Contains(besideArguments, key) {
				texts = append(texts, textsIn(fields[key])...)
			}
		}
	}
	return texts
}

const (
	// thinking are the names of the tags around reasoning.
	thinking = `(?:think|(?:ant)?thinking|thoughts?|reasoning|reflection|analysis|scratchpad)`
	// thinkTag begins reasoning.
	thinkTag = `(?:<\|?(?:\w+:)?` + thinking + `\|?>|\[THINK\]|◁think▷|<\|open\|>` + thinking +
		`<\|sep\|>|<\|(?:start|begin)_(?:of_)?` + thinking +
		`\|>|<\|channel>` + thinking + `\b)`
	// controls are the special tokens of chat templates: <|…|>, <｜…｜>, and
	// those that are written like tags.
	controls = `<[|｜][^<>\n]{1,60}[|｜]>|</(?:s|assistant|response)>|<(?:start|end)_of_(?:turn|text)>|<turn\|>|` +
		`<(?:eos|pad)>|\[EOS\]|\[/?INST\]`
	moreTokens = `(?:\s*(?:` + controls + `|<s>))*?\s*`
)

var (
	thinkEnd = regexp.MustCompile(`(?i)<\|?/(?:\w+:)?` + thinking + `\|?>|\[/THINK\]|◁/think▷|<\|end_(?:of_)?` +
		thinking + `\|>|<channel\|>|<\|close\|>` + thinking + `<\|sep\|>`)
	thinkOpen  = regexp.MustCompile(`(?i)` + thinkTag)
	thinkBegin = regexp.MustCompile(`(?i)^\s*` + thinkTag)
	// afterthought matches where reasoning begins on a line after an answer.
	afterthought = regexp.MustCompile(`(?im)\n[ \t]*` + thinkTag)
	// wrapped matches an answer in tags of its own.
	wrapped = regexp.MustCompile(`(?is)^<(?:final_)?(?:answer|response)>(.*)</(?:final_)?(?:answer|response)>$`)
	control = regexp.MustCompile(controls)
	// turnEnd matches what follows a special token that ends an answer: nothing, more of them, or the next turn.
	turnEnd = regexp.MustCompile(`^` + moreTokens + `(?:$|\[INST\]|` +
		`(?:assistant|user|system|model|tool|human)[ \t]*(?:[\n:<]|$))`)
	// turnMayEnd matches what may become that.
	turnMayEnd = regexp.MustCompile(`^` + moreTokens + `(?:[<\[][^<>\n]{0,60}|[a-z]{1,9})$`)
	headTokens = regexp.MustCompile(`^\s*(?:` + controls + `)(?:\s*(?:assistant|model)\b)?`)
	// recipient names the tool in the header of a channel.
	recipient = regexp.MustCompile(`to=([\w.\-]+)`)
	// bareChannels are channels whose special tokens the server has removed.
	bareChannels = regexp.MustCompile(`(?s)^\s*analysis(.*?)assistant(?:final|(commentary))(.*)`)
	// bareRecipient is the header of a message with a recipient without them.
	bareRecipient = regexp.MustCompile(`(?s)^\s*(?:assistant)?\s*(?:commentary|` +
		`analysis)?\s*(to=[\w.\-]+?)\s*(?:commentary)?\s*(?:json|code)?\s*(\{.*)`)
)

// channels cuts the reasoning off a reply: everything up to the last closing tag
// outside code, or the channel for it. In channels, a message with a recipient
// is a call. If the reasoning does not end, rest is empty.
func channels(whole string) (thought, rest string, calls []Step, err error) {
	if m := bareChannels.FindStringSubmatch(whole); m != nil {
		if thought, whole = m[1], m[2]+m[3]; !bareRecipient.MatchString(whole) {
			return thought, m[3], nil, nil
		}
	}
	if m := bareRecipient.FindStringSubmatch(whole); m != nil {
		whole = m[1] + "<|message|>" + m[2]
	}
	if head, more, found := strings.Cut(whole, "<|message|>"); found {
		for found {
			body, next := more, ""
			if end := strings.Index(more, "<|"); end >= 0 {
				body, next = more[:end], more[end:]
			}
			switch to := recipient.FindStringSubmatch(head); {
			case to != nil && ToolName(to[1], nil) != "":
				raw, _, wrong := llm.ReadJSON(strings.TrimSpace(body))
				if wrong != nil {
					err = fmt.Errorf("the arguments of %.60s are not JSON: %w", to[1], wrong)
				}
				calls = append(calls, Step{Tool: ToolName(to[1], nil), Input: raw})
			case strings.Contains(head, "analysis"):
				thought += body
			default:
				rest = strings.TrimSpace(rest + "\n\n" + body)
			}
			head, more, found = strings.Cut(next, "<|message|>")
		}
		return thought, rest, calls, err
	}
	code := codeIn(whole)
	end := -1
	begin := thinkBegin.FindStringIndex(whole)
	for _, m := range thinkEnd.FindAllStringIndex(whole, -1) {
		line, _, _ := strings.Cut(whole[m[1]:], "\n")
		ends := begin != nil || strings.TrimSpace(line) == "" || !namesTag(whole[:m[0]])
		if !code.has(m[0]) && ends && strings.TrimSpace(withoutTokensBefore(whole[m[1]:])) != "" {
			thought, rest, end = whole[:m[0]], whole[m[1]:], m[1]
		}
	}
	switch {
	case end >= 0 && begin != nil:
		thought = whole[begin[1]:len(thought)]
	case end < 0 && begin != nil:
		if last := thinkEnd.FindStringIndex(whole); last != nil {
			return whole[begin[1]:last[0]], "", nil, nil
		}
		return whole[begin[1]:], "", nil, nil
	case end < 0:
		rest = whole
	}
	return thought, rest, nil, nil
}

// namesTag reports whether the last tag of reasoning that begins in a text stands in a sentence, which is about it.
func namesTag(before string) bool {
	all := thinkOpen.FindAllStringIndex(before, -1)
	if len(all) == 0 {
		return false
	}
	line := before[:all[len(all)-1][0]]
	if ends := thinkEnd.FindAllStringIndex(line, -1); len(ends) > 0 {
		line = line[ends[len(ends)-1][1]:]
	}
	line = line[strings.LastIndexByte(line, '\n')+1:]
	return strings.TrimSpace(line) != "" && !endsSentence(line)
}

// withoutTokensBefore returns a text without the special tokens at its beginning.
func withoutTokensBefore(whole string) string {
	for {
		m := headTokens.FindStringIndex(whole)
		if m == nil || toolMark.MatchString(whole[:m[1]]) {
			return whole
		}
		whole = whole[m[1]:]
	}
}

// tokenAt returns the offset of the first special token outside code that ends an answer; -1 if there is none. One in a
// sentence is text. If open, more may come.
func tokenAt(whole string, open bool) int {
	code := codeIn(whole)
	for _, m := range control.FindAllStringIndex(whole, -1) {
		name, closes := strings.CutPrefix(whole[m[0]:m[1]], "</")
		if !code.has(m[0]) && (!closes || !strings.Contains(whole[:m[0]], "<"+name)) &&
			(turnEnd.MatchString(whole[m[1]:]) || open && turnMayEnd.MatchString(whole[m[1]:])) {
			return m[0]
		}
	}
	return -1
}

// reference matches the notation of a plan for the result of a step.
var reference = regexp.MustCompile(`\{\{\s*\d+\.\w+\s*\}\}`)

// refersAt returns the offset of the first reference to a step outside code; -1
// if there is none.
func refersAt(whole string) int {
	code := codeIn(whole)
	for _, m := range reference.FindAllStringIndex(whole, -1) {
		if !code.has(m[0]) {
			return m[0]
		}
	}
	return -1
}

// spans are parts of a text, by their offsets.
type spans [][]int

func (s spans) has(at int) bool { return s.start(at) >= 0 }

// start returns the offset at which the part begins that has an offset; -1 if none has.
func (s spans) start(at int) int {
	for _, span := range s {
		if span[0] <= at && at < span[1] {
			return span[0]
		}
	}
	return -1
}

// code matches fenced blocks and code in a line.
var code = regexp.MustCompile("(?ms)^[ \t]*```.*?(?:^[ \t]*```[ \t]*$|\\z)|`[^`\n]+`")

func codeIn(whole string) spans { return code.FindAllStringIndex(whole, -1) }
