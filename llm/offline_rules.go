package llm

import (
	"strconv"
	"strings"
	"time"
	"unicode"
)

// rule reads a request for one tool. read returns nil when the words ask for
// something else.
type rule struct {
	tool string
	read func(said string, task *Task) map[string]any
}

// rules in the order in which they are tried. What none knows is searched for.
var rules = []rule{
	{"complete_task", completeTask},
	{"append_note", appendNote},
	{"add_task", addTask},
	{"create_note", createNote},
	{"list_tasks", listTasks},
	{"read_note", readNote},
	{"list_notes", listNotes},
	{"remember", remember},
	{"get_weather", weather},
	{"web_search", webSearch},
	{"today", today},
	{"calculate", calculate},
}

// compile makes patterns that ignore case and let a dot match line ends.
func compile(patterns ...string) []pattern {
	out := make([]pattern, len(patterns))
	for i, p := range patterns {
		out[i] = lazy(`(?is)` + p)
	}
	return out
}

// match returns the groups of the first pattern that matches.
func match(patterns []pattern, s string) []string {
	for _, p := range patterns {
		if m := p.FindStringSubmatch(s); m != nil {
			return m
		}
	}
	return nil
}

var (
	keyValue  = lazy(`([\pL_][\pL\pN_]*)=("(?:[^"\\]|\\.)*"|'[^']*'|\S+)`)
	noteFile  = `[^\s"“”:]+\.(?:md|markdown)`
	aboutMine = lazy(`(?i)\bmy notes?\b|\bnotes? (?:say|says|about|on|mention)|\b(?:did|have|had) i\b|\bi (?:wrote|noted|said|write)\b|notizen|(?:habe|hatte) ich\b`)
)

var addTasks = compile(
	`^(?:add|create|make|set up|save|write down|enter|new)\s+(?:me\s+)?(?:a|an|another|one more|the|this)?\s*(?:new\s+)?(?:task|todo|to-do|reminder)s?\b(.+)$`,
	`^(?:todo|to-do|task|(?:neue\s+)?aufgabe)\s*:(.+)$`,
	`^remind me\b(.+)$`,
	`^(?:add|put)\s+(.+?)\s+(?:to|on|onto)\s+(?:my|the)\s+(?:task|to-?do)s?(?:[\s-]*list)?[.!]?$`,
	`^(?:füge|leg|lege|erstelle?|mach|mache|schreibe?|neue)\s+(?:mir\s+)?(?:eine|einen|die|den)?\s*(?:neue[nrs]?\s+)?(?:aufgabe|todo|erinnerung)\b\s*(?:hinzu|an)?(.+)$`,
	`^erinnere?\s+mich\b(.+)$`,
)

var (
	taskNote = lazy(`(?is)^(?:to|in|into|zu|in)\s+(?:the\s+|my\s+)?(?:note\s+|file\s+)?(` + noteFile + `)\s*[:,]?\s*(.+)$`)
	taskLead = lazy(`(?is)^(?:[:,\-–]|(?:to|that says|that i should|that|called|titled|named|saying|about|of|an|daran|dass)\s*:?\s)\s*`)
	taskFor  = lazy(`(?is)^(?:(?:due|by|for|on|für|am|bis)\s+)?(` + dayWords + `)\s*(?:[:,]|\bto\b|\bthat\b|\babout\b)\s*(.+)$`)
)

func addTask(said string, task *Task) map[string]any {
	m := match(addTasks, said)
	if m == nil {
		return nil
	}
	args := map[string]any{}
	text := strings.TrimSpace(m[1])
	if n := taskNote.FindStringSubmatch(text); n != nil {
		args["note"], text = n[1], n[2]
	}
	text = taskLead.ReplaceAllString(text, "")
	if d := taskFor.FindStringSubmatch(text); d != nil {
		if day, ok := readDay(d[1], task.Today); ok {
			args["due"], text = day, d[2]
		}
	}
	text = unquote(strings.TrimRight(strings.TrimSpace(text), ".!? "))
	if _, dated := args["due"]; !dated {
		if rest, day, ok := dueDay(text, task.Today); ok {
			args["due"], text = day, rest
		}
	}
	if text = unquote(oneLine(text)); text == "" {
		return nil
	}
	args["text"] = text
	return args
}

var completeTasks = compile(
	`^(?:complete|finish|close|check off|tick off|cross off|tick|check|resolve)\s+(?:off\s+)?(?:the\s+|my\s+)?(?:task|todo|to-do|reminder)s?\b\s*(?:called|titled|named|to|about)?\s*[:\-–]?\s*(.+)$`,
	`^mark\s+(?:the\s+|my\s+)?(?:task|todo|to-do)?\s*:?\s*(.+?)\s+(?:as\s+|is\s+)?(?:done|complete|completed|finished)[.!]?$`,
	`^(?:check off|tick off|cross off)\s+(.+)$`,
	`^(?:check|tick|cross)\s+(.+?)\s+off(?:\s+my\s+list)?[.!]?$`,
	`^(?:done with|done:)\s*(?:the\s+|my\s+)?(?:task\s+)?(.+)$`,
	`^done\s+(?:task|todo)\s*:?\s*(.+)$`,
	`^(?:erledige|schließe|beende|hake)\s+(?:die\s+|meine\s+)?aufgabe\s*:?\s*(.+?)(?:\s+ab)?[.!]?$`,
	`^hake\s+(.+?)\s+ab[.!]?$`,
	`^markiere\s+(?:die\s+)?(?:aufgabe\s+)?(.+?)\s+als\s+(?:erledigt|fertig)[.!]?$`,
)

func completeTask(said string, _ *Task) map[string]any {
	m := match(completeTasks, said)
	if m == nil {
		return nil
	}
	name := unquote(strings.TrimRight(strings.TrimSpace(m[1]), ".! "))
	if name = unquote(trimSuffixFold(name, " as done", " as completed", " as finished")); name == "" {
		return nil
	}
	return map[string]any{"task": name}
}

var (
	tasksAsked = lazy(`(?is)^(?:list|show|what|what's|which|any|are there|do i have|have i|how many|give me|see|check|all|my|open|overdue|due|tasks?|todos?|to-dos?|liste?|zeige?|welche|was|meine|offene|überfällige)\b.*?(?:\b(?:tasks?|to-?dos?|to do list|task list)\b|\baufgaben?\b|überfällig)|^(?:tasks?|todos?|to-dos?|aufgaben)[?.!]?$`)
	dueAsked   = lazy(`(?is)^(?:what's|what is|what are|whats|anything|is anything|was ist)\s+(?:still\s+|already\s+)?(?:due|overdue|fällig|überfällig|open on my list|on my list)\b|^what\s+(?:do|should|must)\s+i\s+(?:have to\s+|need to\s+)?(?:do|get done|finish)\b(?:\s+(?:today|tomorrow|next|now|this week))?\s*[?.!]*$|^was (?:muss|soll) ich (?:heute |morgen |noch )?(?:tun|machen|erledigen)\b`)
	tasksAbout = lazy(`(?is)\b(?:about|regarding|concerning|containing|with|mentioning|zum thema|über|zu)\s+(.+?)[?.!]*$`)
	tasksFor   = lazy(`(?is)\b(?:for|für)\s+(?:the\s+|my\s+)?(.+?)[?.!]*$`)
)

func listTasks(said string, task *Task) map[string]any {
	asked := tasksAsked.MatchString(said) && !sayOfNotes.MatchString(said)
	if !asked && !dueAsked.MatchString(said) {
		return nil
	}
	lower := strings.ToLower(said)
	has := func(words ...string) bool {
		for _, w := range words {
			if strings.Contains(lower, w) {
				return true
			}
		}
		return false
	}
	args := map[string]any{"status": "open"}
	switch {
	case has("overdue", "late", "überfällig"):
		args["status"] = "overdue"
	case has("done", "completed", "finished", "erledigt"):
		args["status"] = "done"
	case has("due", "today", "tomorrow", "this week", "fällig", "heute", "morgen"):
		args["status"] = "due"
	case has("all tasks", "all my tasks", "all todos", "every task", "alle aufgaben"):
		args["status"] = "all"
	}
	m := tasksAbout.FindStringSubmatch(said)
	if m == nil {
		if m = tasksFor.FindStringSubmatch(said); m != nil {
			if _, isDay := readDay(m[1], task.Today); isDay || has("for this week", "for the week", "for next") {
				m = nil
			}
		}
	}
	if m != nil {
		if topic := bare(m[1]); topic != "" {
			args["query"] = topic
		}
	}
	return args
}

var appendNotes = compile(
	`^(?:append|add|write|put)\s+(?:this\s+)?(?:to|in|into)\s+(?:the\s+|my\s+)?(?:note\s+)?("[^"]+"|“[^”]+”|`+noteFile+`)\s*[:,]?\s+(.+)$`,
	`^(?:append|add|write|put)\s+(?:this\s+)?(?:to|in|into)\s+(?:the\s+|my\s+)?note\s+([^:\n]+?)\s*:\s*(.+)$`,
	`^(?:append|add|write|put)\s+(?:this\s+)?(?:to|in|into)\s+(?:my\s+|the\s+|today's\s+)?(daily|daily note|journal|diary|log)\s*[:,]\s*(.+)$`,
	`^(?:ergänze|schreibe?)\s+(?:in|zu)\s+(?:der\s+|die\s+)?(?:notiz\s+)?([^:\n]+?)\s*:\s*(.+)$`,
)

var appendTo = compile(
	`^(?:append|add|write|put)\s+(.+?)\s+(?:to|in|into)\s+(?:the\s+|my\s+)?note\s+("[^"]+"|“[^”]+”|[^:\n?]+?)[.!]?$`,
	`^(?:append|add|write|put)\s+(.+?)\s+(?:to|in|into)\s+(?:the\s+|my\s+)?(`+noteFile+`)[.!]?$`,
	`^(?:append|add|write|put)\s+(.+?)\s+(?:to|in|into)\s+(?:my\s+|the\s+|today's\s+)(daily note|journal|diary|log)[.!]?$`,
)

var justNote = compile(
	`^(?:note|notiz|log|journal)\s*:\s*(.+)$`,
	`^(?:note|write|jot)\s+down\s*(?:that\s+|:\s*)?(.+)$`,
	`^(?:note|make a note)\s+(?:that|of|:)\s*(.+)$`,
	`^notiere\s*(?:dir\s+)?[:,]?\s*(?:dass\s+)?(.+)$`,
)

func appendNote(said string, _ *Task) map[string]any {
	var name, content string
	if m := match(appendNotes, said); m != nil {
		name, content = m[1], m[2]
	} else if m := match(appendTo, said); m != nil && !strings.HasPrefix(strings.ToLower(m[1]), "a task") {
		name, content = m[2], m[1]
	} else if m := match(justNote, said); m != nil {
		content = m[1]
	}
	if content = unquote(strings.TrimSpace(content)); content == "" {
		return nil
	}
	args := map[string]any{"content": content}
	switch strings.ToLower(name) {
	case "", "daily", "daily note", "journal", "diary", "log": // the tool knows today's note
	default:
		args["path"] = notePath(unquote(name), false)
	}
	return args
}

var createNotes = compile(
	`^(?:create|make|write|start|new)\s+(?:me\s+)?(?:a\s+|an\s+|the\s+)?(?:new\s+)?note\s*(?:called|titled|named|with the title|at|in|on|about|:)?\s*("[^"]+"|“[^”]+”|`+noteFile+`)\s*(?:,?\s*(?:with|containing|saying|that says)\s*(?:the\s+)?(?:text|content|contents|body)?\s*:?|[:,])?\s*(.*)$`,
	`^(?:create|make|write|start|new)\s+(?:me\s+)?(?:a\s+|an\s+|the\s+)?(?:new\s+)?note\s+(?:called|titled|named|with the title|on|about|:)?\s*([^:\n]+?)\s*(?:,?\s*(?:with|containing|saying|that says)\s+(?:the\s+)?(?:text|content|contents|body)?\s*:?|:)\s*(.+)$`,
	`^(?:create|make|write|start|new)\s+(?:me\s+)?(?:a\s+|an\s+|the\s+)?(?:new\s+)?note\s+(?:called|titled|named|with the title|on|about|:)\s*([^:\n]+?)()[.!]?$`,
	`^(?:erstelle?|schreibe?|lege?)\s+(?:mir\s+)?(?:eine\s+)?(?:neue\s+)?notiz\s+(?:namens|mit dem titel|über|zu|:)?\s*("[^"]+"|„[^“]+“|[^:\n]+?)\s*(?::\s*(.+)|())?$`,
)

func createNote(said string, _ *Task) map[string]any {
	m := match(createNotes, said)
	if m == nil {
		return nil
	}
	title := unquote(strings.TrimSpace(m[1]))
	body := unquote(strings.TrimSpace(m[2]))
	path := notePath(title, true)
	if path == "" {
		return nil
	}
	if isFile := strings.HasSuffix(strings.ToLower(title), ".md") || strings.HasSuffix(strings.ToLower(title), ".markdown"); isFile {
		title = title[strings.LastIndexByte(title, '/')+1 : strings.LastIndexByte(title, '.')]
	}
	content := "# " + oneLine(title) + "\n"
	if body != "" {
		content += "\n" + body + "\n"
	}
	return map[string]any{"path": path, "content": content}
}

// notePath makes the path of a note from what the user calls it. A new note's
// name is made of the letters and digits of its title.
func notePath(name string, isNew bool) string {
	name = strings.TrimSpace(name)
	if lower := strings.ToLower(name); strings.HasSuffix(lower, ".md") || strings.HasSuffix(lower, ".markdown") {
		return name
	}
	if !isNew {
		return name + ".md"
	}
	var slug strings.Builder
	for _, r := range strings.ToLower(name) {
		switch {
		case unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.Is(unicode.Mn, r):
			slug.WriteRune(r)
		case slug.Len() > 0 && !strings.HasSuffix(slug.String(), "-"):
			slug.WriteByte('-')
		}
	}
	path := strings.Trim(clipBytes(slug.String(), 80), "-")
	if path == "" {
		return ""
	}
	return path + ".md"
}

var readNotes = compile(
	`^(?:read|open|show|display|print|cat|lies|öffne|zeige?)\s+(?:me\s+)?(?:the\s+|my\s+|die\s+)?(?:(?:note|notiz|file)\s+)?(`+noteFile+`)[.!?]?$`,
	`^(?:read|open|show|display)\s+(?:me\s+)?(?:the\s+|my\s+)?note\s+(?:called\s+|titled\s+|named\s+)?("[^"]+"|“[^”]+”|[^:\n?]+?)[.!]?$`,
	`^(?:what's|what is|what does)\s+(?:in\s+)?(?:the\s+|my\s+)?(?:note\s+)?(`+noteFile+`)(?:\s+say)?[?]?$`,
)

func readNote(said string, _ *Task) map[string]any {
	m := match(readNotes, said)
	if m == nil {
		return nil
	}
	name := unquote(strings.TrimSpace(m[1]))
	if about := startsAbout; name == "" || about.MatchString(name) {
		return nil
	}
	return map[string]any{"path": notePath(name, false)}
}

var (
	notesAsked = lazy(`(?is)^(?:list|show|show me|which|what|what are|give me|my|recent|latest|newest|last|all|liste?|zeige?|zeig mir|welche|meine|neueste|letzte)\b(?:\s+(?:all|the|my|me|of|most|recent|recently|latest|newest|last|changed|edited|updated|new|\d+|die|meine[nr]?|alle|neuesten?|letzten?|are|is|do|i|have))*\s+(?:notes|notizen)\b(.*)$`)
	notesAbout = lazy(`(?i)(?:^|\s)(?:about|on|regarding|mention\w*|say|says|for|über|zu|contain\w*|talk\w*|with(?:\s+the)?\s+word)\b`)
	notesTag   = lazy(`(?i)\b(?:tagged|tag|with tag|mit tag|markiert mit)\s*:?\s*(?:with\s+|as\s+)?#?([\pL\pN_/-]+)|(?:^|\s)#([\pL\pN_/-]+)`)
	notesIn    = lazy(`(?i)\b(?:in|under|below|from)\s+(?:the\s+|my\s+)?(?:folder\s+)?([\pL\pN_./-]+?)/?(?:\s+folder)?[?.!]*$`)
)

func listNotes(said string, _ *Task) map[string]any {
	m := notesAsked.FindStringSubmatch(said)
	if m == nil {
		return nil
	}
	rest := strings.TrimSpace(m[1])
	if notesAbout.MatchString(rest) {
		return nil
	}
	args := map[string]any{}
	if t := notesTag.FindStringSubmatch(rest); t != nil {
		args["tag"] = t[1] + t[2]
	} else if f := notesIn.FindStringSubmatch(rest); f != nil && !timeWord.MatchString(f[1]) {
		args["folder"] = f[1]
	}
	if n := aCount.FindString(said); n != "" {
		args["limit"], _ = strconv.Atoi(n)
	}
	return args
}

var remembers = compile(`^(?:remember|merke? dir)\s*(?:that|:|,|dass)?\s+(.+)$`)

func remember(said string, task *Task) map[string]any {
	m := match(remembers, said)
	if m == nil || strings.HasSuffix(said, "?") {
		return nil
	}
	spec, _ := offered(task.Tools, "remember")
	shape, _ := shapeOf(spec)
	for _, name := range append(textArguments(shape), "text") {
		return map[string]any{name: strings.TrimRight(strings.TrimSpace(m[1]), ".!")}
	}
	return nil
}

var (
	weatherAsked = lazy(`(?i)\b(?:weather|forecast|temperature outside|rain|raining|snow|snowing|sunny|how (?:warm|cold|hot) is it|wetter|regnet|regnen|schneit|vorhersage)\b`)
	weatherWhen  = lazy(`(?i)[\s,]+(?:(?:for|over|during|in)\s+the\s+)?(?:today|tonight|tomorrow|now|right now|currently|at the moment|later|this (?:morning|afternoon|evening|week|weekend)|next (?:week|few days|couple of days)|(?:for |over |in )?(?:the )?next (\d+) days|on \w+day|the weekend|weekend|heute|morgen|übermorgen|gerade|jetzt|diese woche|nächste woche|am wochenende|am \w+tag)[\s?.!]*$`)
	weatherIn    = lazy(`(?i)\b(?:in|at|for|near|around|für|bei)\s+([\pL][\pL\pN .,'’-]*)$`)
	weatherOf    = compile(`^(?:the\s+)?(?:weather|forecast|wetter)\s*:?\s+(?:forecast\s+)?([\pL][\pL .,'’-]*)$`, `^([\pL][\pL .'’-]*?)\s+(?:weather|wetter)(?:\s+forecast)?$`)
	questionMark = " \t\n?.!,"
)

func weather(said string, _ *Task) map[string]any {
	if !weatherAsked.MatchString(said) || aboutMine.MatchString(said) {
		return nil
	}
	args := map[string]any{}
	place := strings.Trim(said, questionMark)
	for range 2 { // "in Oslo tomorrow", "tomorrow in Oslo this week"
		if m := weatherWhen.FindStringSubmatchIndex(place); m != nil {
			if days := weatherDays(place[m[0]:]); days > 0 {
				args["days"] = days
			}
			place = strings.Trim(place[:m[0]], questionMark)
		}
	}
	if days := weatherDays(said); args["days"] == nil && days > 0 {
		args["days"] = days
	}
	if m := weatherIn.FindStringSubmatch(place); m != nil {
		place = m[1]
	} else if m := match(weatherOf, place); m != nil {
		place = m[1]
	} else {
		return nil
	}
	place = strings.TrimSpace(timeBeforePlace.ReplaceAllString(place, ""))
	if place == "" || timeWord.MatchString(place) || question.MatchString(place) {
		return nil
	}
	args["place"] = place
	return args
}

// weatherDays is how many days ahead the words look; 0: they do not say.
func weatherDays(said string) int {
	said = strings.ToLower(said)
	if m := nextDays.FindStringSubmatch(said); m != nil {
		n, _ := strconv.Atoi(m[1] + m[2])
		return min(max(n, 1), 14)
	}
	switch {
	case strings.Contains(said, "week"), strings.Contains(said, "woche"), strings.Contains(said, "days"):
		return 7
	case strings.Contains(said, "tomorrow"), strings.Contains(said, "morgen") && !strings.Contains(said, "übermorgen"):
		return 2
	case strings.Contains(said, "übermorgen"):
		return 3
	case onADay.MatchString(said):
		return 7
	}
	return 0
}

var webSearches = compile(
	`^(?:search|look|google|browse|check)\s+(?:up\s+)?(?:on\s+|in\s+)?(?:the\s+)?(?:web|internet|online)\s+(?:for|about)?\s*(.+)$`,
	`^(?:google|duckduckgo)\s+(?:for\s+)?(.+)$`,
	`^(?:search|look|find)\s+(?:for\s+|up\s+)?(.+?)\s+(?:on the web|on the internet|online)[.!?]?$`,
	`^suche\s+im\s+(?:web|internet|netz)\s+(?:nach\s+)?(.+)$`,
)

func webSearch(said string, _ *Task) map[string]any {
	m := match(webSearches, said)
	if m == nil {
		return nil
	}
	return map[string]any{"query": strings.TrimRight(m[1], ".!? ")}
}

var todayAsked = lazy(`(?i)^(?:what(?:'s|’s| is| are)?|tell me|which|give me)?\s*(?:the\s+|today's\s+)?(?:current\s+|exact\s+)?(?:date|time|day|day of the week|weekday|date and time|time and date)(?:\s+(?:is it|is today|today|now|it is|right now|and time|is it now|is it today|do we have))*(?:\s+(?:in|at)\s+([\pL][\pL\pN /_-]*?))?(?:\s+(?:today|now|right now))?[\s?.!]*$|^what(?:'s|’s| is) today[\s?.!]*$|^(?:wie spät ist es|wie viel uhr ist es|wieviel uhr ist es|welcher tag ist heute|welches datum (?:ist|haben wir) heute|der wievielte ist heute)(?:\s+in\s+([\pL /_-]+?))?[\s?.!]*$`)

func today(said string, _ *Task) map[string]any {
	m := todayAsked.FindStringSubmatch(said)
	if m == nil || aboutMine.MatchString(said) {
		return nil
	}
	args := map[string]any{}
	if place := strings.TrimSpace(m[1] + m[2]); place != "" {
		args["zone"] = zoneOf(place)
	}
	return args
}

// zoneOf finds the zone of a city by its name; other words stay as they are.
func zoneOf(place string) string {
	name := strings.ReplaceAll(place, " ", "_")
	if r := []rune(strings.ToLower(name)); len(r) > 0 {
		for i := range r {
			if i == 0 || r[i-1] == '_' || r[i-1] == '/' || r[i-1] == '-' {
				r[i] = unicode.ToUpper(r[i])
			}
		}
		for _, area := range []string{"Europe/", "America/", "Asia/", "Africa/", "Australia/", "Pacific/", "Atlantic/", "Indian/"} {
			if _, err := time.LoadLocation(area + string(r)); err == nil {
				return area + string(r)
			}
		}
	}
	return place
}

var (
	sumAsked = lazy(`(?i)^(?:what(?:'s|’s| is| are| does)?|calculate|compute|calc|evaluate|how much (?:is|are)|solve|work out|was ist|was sind|wie ?viel (?:ist|sind|ergibt)|berechne|rechne)\s*:?\s+`)
	sumWords = []struct {
		from pattern
		to   string
	}{
		{lazy(`(?i)(\d)\s*(?:%|percent|prozent)\s*(?:of|von)\s+`), "$1/100*"},
		{lazy(`(?i)\bplus\b`), "+"},
		{lazy(`(?i)\bminus\b`), "-"},
		{lazy(`(?i)\b(?:times|multiplied by|mal)\b|×|·`), "*"},
		{lazy(`(?i)\b(?:divided by|over|geteilt durch|durch)\b|÷`), "/"},
		{lazy(`(?i)\b(?:to the power of|hoch)\b`), "^"},
		{lazy(`(?i)\bsquared\b`), "^2"},
		{lazy(`(?i)\b(?:square root of|the square root of|wurzel aus)\s*(\d+(?:\.\d+)?)`), "sqrt($1)"},
		{lazy(`(\d)\s*[xX]\s*(\d)`), "$1*$2"},
		{lazy(`(\d),(\d{3})\b`), "$1$2"},
	}
	sum  = lazy(`^(?:[\d.\s+\-*/^()%]|sqrt)+$`)
	op   = lazy(`[\d)]\s*[+*/^%]|[\d)]\s+-\s*[\d(]|[\d)]-[\d(]|sqrt`)
	date = lazy(`\d{4}-\d{1,2}-\d{1,2}|\d{1,2}/\d{1,2}/\d{2,4}`)
)

func calculate(said string, _ *Task) map[string]any {
	expr := strings.Trim(said, " \t\n?.!=")
	asked := sumAsked.MatchString(expr)
	expr = sumAsked.ReplaceAllString(expr, "")
	for _, w := range sumWords {
		expr = w.from.ReplaceAllString(expr, w.to)
	}
	expr = strings.TrimSpace(expr)
	if !sum.MatchString(expr) || !op.MatchString(expr) || date.MatchString(expr) {
		return nil
	}
	if !asked && !operator.MatchString(expr) {
		return nil // 3-4 may be a range
	}
	return map[string]any{"expression": oneLine(expr)}
}

// unquote takes one pair of quotation marks off.
func unquote(s string) string {
	s = strings.TrimSpace(s)
	for _, pair := range []string{`""`, `''`, "“”", "„“", "‘’", "«»"} {
		marks := []rune(pair)
		opening, closing := string(marks[0]), string(marks[1])
		if len(s) > len(opening)+len(closing)-1 && strings.HasPrefix(s, opening) && strings.HasSuffix(s, closing) {
			return strings.TrimSpace(s[len(opening) : len(s)-len(closing)])
		}
	}
	return s
}

func trimSuffixFold(s string, endings ...string) string {
	for _, ending := range endings {
		if len(s) >= len(ending) && strings.EqualFold(s[len(s)-len(ending):], ending) {
			return s[:len(s)-len(ending)]
		}
	}
	return s
}

// What the rules above look for inside a message.
var (
	sayOfNotes      = lazy(`(?i)\bnotes? (?:say|says|about|on|mention)`)
	startsAbout     = lazy(`(?i)^(?:about|on|regarding|for|with|from)\b`)
	aCount          = lazy(`\b\d{1,3}\b`)
	timeBeforePlace = lazy(`(?i)^(?:today|tomorrow|now|heute|morgen|the|like)\b\s*(?:in\s+)?`)
	nextDays        = lazy(`next (\d+) days|nächsten (\d+) tage`)
	onADay          = lazy(`on \w+day|am \w+tag`)
	operator        = lazy(`[+*/^(]|\s-\s`)
)
