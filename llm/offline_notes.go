package llm

import (
	"strconv"
	"strings"
	"unicode"

	"lifehub/pattern"
)

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
		args["path"] = unquote(name) // a path, a file name or a title: the tool knows all three
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
	path := newPath(title)
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

// newPath makes the path of a new note from what the user calls it: of the
// letters and digits of a title, or as it is when it names a file.
func newPath(title string) string {
	if lower := strings.ToLower(title); strings.HasSuffix(lower, ".md") || strings.HasSuffix(lower, ".markdown") {
		return title
	}
	var slug strings.Builder
	for _, r := range strings.ToLower(title) {
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
	if name == "" || startsAbout.MatchString(name) {
		return nil
	}
	return map[string]any{"path": name}
}

var linksAsked = compile(
	`^(?:what|which notes?|which ones?)\s+links?\s+to\s+(?:the\s+|my\s+)?(?:note\s+)?("[^"]+"|\[\[[^\]]+\]\]|`+noteFile+`)\s*[?.!]?$`,
	`^(?:(?:show|list|find)\s+(?:me\s+)?)?(?:the\s+|all\s+)?(?:back\s?)?links\s+(?:of|to|from|in)\s+(?:the\s+|my\s+)?(?:note\s+)?("[^"]+"|\[\[[^\]]+\]\]|`+noteFile+`)\s*[?.!]?$`,
	`^(?:was|welche notizen?)\s+(?:verlinkt|verlinken|verweist|verweisen)\s+auf\s+(?:die notiz\s+)?("[^"]+"|\[\[[^\]]+\]\]|`+noteFile+`)\s*[?.!]?$`,
)

func noteLinks(said string, _ *Task) map[string]any {
	m := match(linksAsked, said)
	if m == nil {
		return nil
	}
	return map[string]any{"path": unquote(strings.TrimSpace(m[1]))}
}

var (
	notesAsked = pattern.Lazy(`(?is)^(?:list|show|show me|which|what|what are|give me|my|recent|latest|newest|last|all|liste?|zeige?|zeig mir|welche|meine|neueste|letzte)\b(?:\s+(?:all|the|my|me|of|most|recent|recently|latest|newest|last|changed|edited|updated|new|\d+|die|meine[nr]?|alle|neuesten?|letzten?|are|is|do|i|have))*\s+(?:notes|notizen)\b(.*)$`)
	notesAbout = pattern.Lazy(`(?i)(?:^|\s)(?:about|on|regarding|mention\w*|say|says|for|über|zu|contain\w*|talk\w*|with(?:\s+the)?\s+word)\b`)
	notesTag   = pattern.Lazy(`(?i)\b(?:tagged|tag|with tag|mit tag|markiert mit)\s*:?\s*(?:with\s+|as\s+)?#?([\pL\pN_/-]+)|(?:^|\s)#([\pL\pN_/-]+)`)
	notesIn    = pattern.Lazy(`(?i)\b(?:in|under|below|from)\s+(?:the\s+|my\s+)?(?:folder\s+)?([\pL\pN_./-]+?)/?(?:\s+folder)?[?.!]*$`)
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
		limit, _ := strconv.Atoi(n)
		args["limit"] = min(max(limit, 1), 200)
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
	name := append(textArguments(shape), "text")[0]
	return map[string]any{name: strings.TrimRight(strings.TrimSpace(m[1]), ".!")}
}

var forgets = compile(`^(?:forget|vergiss)\s+(?:(?:that|about|dass)\s+|[:,]\s*)?(.+)$`)

func forget(said string, _ *Task) map[string]any {
	m := match(forgets, said)
	if m == nil || strings.HasSuffix(said, "?") {
		return nil
	}
	return map[string]any{"text": strings.TrimRight(strings.TrimSpace(m[1]), ".!")}
}

var recalls = compile(
	`^what\s+(?:do|did)\s+you\s+(?:remember|know)(?:\s+(?:about|of)\s+(?:me|us))?()\s*\??$`,
	`^what\s+do\s+you\s+remember\s+(?:about|of)\s+(.+?)\s*\??$`,
	`^was\s+(?:weißt|weisst)\s+du\s+(?:über|von)\s+mir?(?:ch)?()\s*\??$`,
	`^recall\s+(.+)$`)

func recall(said string, _ *Task) map[string]any {
	m := match(recalls, said)
	switch {
	case m == nil:
		return nil
	case m[1] == "":
		return map[string]any{}
	}
	return map[string]any{"query": m[1]}
}
