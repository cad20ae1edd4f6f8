package llm

import (
	"strings"

	"lifehub/pattern"
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
	taskNote = pattern.Lazy(`(?is)^(?:to|in|into|zu|in)\s+(?:the\s+|my\s+)?(?:note\s+|file\s+)?(` + noteFile + `)\s*[:,]?\s*(.+)$`)
	taskLead = pattern.Lazy(`(?is)^(?:[:,\-–]|(?:to|that says|that i should|that|called|titled|named|saying|about|of|an|daran|dass)\s*:?\s)\s*`)
	taskFor  = pattern.Lazy(`(?is)^(?:(?:due|by|for|on|für|am|bis)\s+)?(` + dayWords + `)\s*(?:[:,]|\bto\b|\bthat\b|\babout\b)\s*(.+)$`)
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
	tasksAsked = pattern.Lazy(`(?is)^(?:list|show|what|what's|which|any|are there|do i have|have i|how many|give me|see|check|all|my|open|overdue|due|tasks?|todos?|to-dos?|liste?|zeige?|welche|was|meine|offene|überfällige)\b.*?(?:\b(?:tasks?|to-?dos?|to do list|task list)\b|\baufgaben?\b|überfällig)|^(?:tasks?|todos?|to-dos?|aufgaben)[?.!]?$`)
	dueAsked   = pattern.Lazy(`(?is)^(?:what's|what is|what are|whats|anything|is anything|was ist)\s+(?:still\s+|already\s+)?(?:due|overdue|fällig|überfällig|open on my list|on my list)\b|^what\s+(?:do|should|must)\s+i\s+(?:have to\s+|need to\s+)?(?:do|get done|finish)\b(?:\s+(?:today|tomorrow|next|now|this week))?\s*[?.!]*$|^was (?:muss|soll) ich (?:heute |morgen |noch )?(?:tun|machen|erledigen)\b`)
	tasksAbout = pattern.Lazy(`(?is)\b(?:about|regarding|concerning|containing|with|mentioning|zum thema|über|zu)\s+(.+?)[?.!]*$`)
	tasksFor   = pattern.Lazy(`(?is)\b(?:for|für)\s+(?:the\s+|my\s+)?(.+?)[?.!]*$`)
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
