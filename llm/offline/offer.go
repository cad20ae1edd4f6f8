package offline

import (
	"slices"
	"strings"

	"lifehub/internal/text"
	"lifehub/internal/when"
)

// An Offer is a command that fits a message with a word of tasks. It is shown with the answer, and runs only
// when the user says so.
type Offer struct {
	Command string // "/tasks due", "/task call Ines due:tomorrow", "/done boiler"

	status string // of the tasks to list; "" if the command writes
	query  string // of the tasks to list
	asks   bool   // the message asks for nothing but the list
}

// kind is what a word says about tasks.
type kind int

const (
	list    kind = iota + 1 // tasks
	due                     // those that are due
	overdue                 // those that are late
	remind                  // a task to add
	add                     // a task to add, if another word says that it is one
	done                    // tasks that are done
)

// taskWords are the words of tasks in English, German, French and Spanish, folded.
var taskWords = func() map[string]kind {
	all := map[string]kind{}
	for kind, words := range map[kind]string{
		list:    "task tasks todo todos aufgabe aufgaben tache taches tarea tareas",
		due:     "due fallig faellig echeance vence vencen",
		overdue: "overdue uberfallig ueberfaellig retard vencida vencidas atrasada atrasadas",
		remind:  "remind erinnere erinner rappelle recuerdame",
		add:     "add new create neue neuer fuge hinzu ajoute nouvelle anade nueva crea",
		done: "tick ticked done complete completed finished erledigt abgehakt abhaken hake termine terminee coche " +
			"hecho hecha completada",
	} {
		for word := range strings.FieldsSeq(words) {
			all[word] = kind
		}
	}
	return all
}()

// around are words around those of tasks that say nothing of their own.
var around = wordSet("list show give open pending off zeige zeig liste offen offene offenen alle montre ouvertes " +
	"toutes muestra lista abiertas pendientes tengo hay moi")

// maxOffered is the length in bytes of the longest message for which a command is offered.
const maxOffered = 200

// OfferFor returns the command that fits a message with a word of tasks; false if it has none, or is a text
// of several lines or a command itself.
func OfferFor(message string, today when.Day) (Offer, bool) {
	message = strings.TrimSpace(message)
	if message == "" || len(message) > maxOffered || strings.ContainsAny(message, "\r\n") ||
		strings.ContainsRune("/@", rune(message[0])) {
		return Offer{}, false
	}
	message = strings.NewReplacer("to-do", "todo", "To-do", "todo").Replace(message)
	said := map[kind]bool{}
	after := 0 // where the text after the words of tasks begins
	for w := range text.Words(message) {
		k := taskWords[text.Fold(w.Text)]
		if k == 0 {
			continue
		}
		said[k] = true
		if k == remind || k == add || k == list && said[add] || k == done {
			after = w.End()
		}
	}
	asks := strings.HasSuffix(strings.TrimRight(message, " "), "?") || strings.HasSuffix(message, "？")
	switch {
	case said[remind] && !asks, said[add] && said[list] && !asks:
		return newTask(message[after:], today)
	case said[done] && !asks && about(without(message, today)) != "":
		return Offer{Command: "/done " + about(without(message, today))}, true
	case said[list] || said[due] || said[overdue] || said[done] && asks:
		return listOf(message, said, today), true
	}
	return Offer{}, false
}

// newTask offers to add a task with a text, and the day that it names.
func newTask(said string, today when.Day) (Offer, bool) {
	said = afterStopWords(said)
	task, day := when.Due(said, today)
	if day.IsZero() {
		words := strings.Fields(said)
		for i := len(words) - 1; i > 0 && day.IsZero(); i-- {
			if on, ok := when.DayIn(strings.Join(words[:i], " "), today, true); ok && !on.Before(today) {
				task, day = afterStopWords(strings.Join(words[i:], " ")), on
			}
		}
	}
	if task = strings.TrimRight(task, " .!"); task == "" {
		return Offer{}, false
	}
	command := "/task " + task
	if !day.IsZero() {
		command += " due:" + day.String()
	}
	return Offer{Command: command}, true
}

// afterStopWords cuts the stop words and words of tasks at the beginning of a text.
func afterStopWords(s string) string {
	for {
		s = strings.TrimLeft(s, " :：,-'’")
		word := s
		for w := range text.Words(s) {
			word = s[:w.End()]
			break
		}
		if word == "" || word == s || len(word) > 1 && !isStopWord(word) && taskWords[text.Fold(word)] == 0 &&
			!around[text.Fold(word)] {
			return s
		}
		s = s[len(word):]
	}
}

// isStopWord reports whether a word is a stop word of one of the languages of taskWords.
func isStopWord(word string) bool {
	return slices.ContainsFunc([]text.Lang{"", "de", "fr", "es"},
		func(in text.Lang) bool { return text.StopWord(text.Fold(word), in) })
}

// without returns a message without the time that it names.
func without(message string, today when.Day) string {
	_, rest := when.In(message, today)
	return rest
}

// listOf offers the list of tasks that a message names.
func listOf(message string, said map[kind]bool, today when.Day) Offer {
	o := Offer{status: "open"}
	span, rest := when.In(message, today)
	words := about(rest)
	switch {
	case said[done]:
		o.status = "done"
	case said[overdue]:
		o.status = "overdue"
	case said[due] && span.IsZero():
		o.status = "due"
	}
	parts := []string{words}
	if !span.From.IsZero() {
		parts = append(parts, "after:"+span.From.String())
	}
	if !span.To.IsZero() {
		parts = append(parts, "before:"+span.To.String())
	}
	o.query = strings.TrimSpace(strings.Join(parts, " "))
	o.asks = words == "" && (said[list] || said[due] || said[overdue]) // "are you done?" is for a model
	o.Command = strings.Join(strings.Fields("/tasks "+o.status+" "+o.query), " ")
	return o
}

// about returns the content words of a message, without the words of tasks.
func about(message string) string {
	var words []string
	for w := range text.Words(message) {
		if word := text.Fold(w.Text); !isStopWord(word) && taskWords[word] == 0 && !when.SaysNothing(word) &&
			!asking[word] && !around[word] {
			words = append(words, w.Text)
		}
	}
	return strings.Join(words, " ")
}
