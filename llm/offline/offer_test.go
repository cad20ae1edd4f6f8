package offline

import (
	"strings"
	"testing"
	"time"

	"lifehub/internal/when"
)

func TestMessagesWithWordsOfTasksOfferACommand(t *testing.T) {
	monday := when.DayOf(time.Date(2026, 11, 23, 9, 0, 0, 0, time.Local))
	for message, want := range map[string]string{
		"add task buy milk":                                     "/task buy milk",
		"add a task to buy socks":                               "/task buy socks",
		"Please remind me to call the dentist tomorrow":         "/task call the dentist due:2026-11-24",
		"remind me tomorrow to call mum":                        "/task call mum due:2026-11-24",
		"can you remind me on Friday to water the plants":       "/task water the plants due:2026-11-27",
		"neue Aufgabe: Zahnarzt anrufen":                        "/task Zahnarzt anrufen",
		"erinnere mich an den Zahnarzt":                         "/task Zahnarzt",
		"ajoute une tâche : appeler Inès":                       "/task appeler Inès",
		"rappelle-moi d'appeler Inès":                           "/task appeler Inès",
		"añade una tarea: comprar pan":                          "/task comprar pan",
		"tick off the boiler":                                   "/done boiler",
		"I am done with the tax return":                         "/done tax return",
		"Steuererklärung ist erledigt":                          "/done Steuererklärung",
		"what is due?":                                          "/tasks due",
		"What's overdue":                                        "/tasks overdue",
		"due this week":                                         "/tasks open after:2026-11-23 before:2026-11-30",
		"tasks due tomorrow":                                    "/tasks open after:2026-11-24 before:2026-11-25",
		"was ist heute fällig?":                                 "/tasks open after:2026-11-23 before:2026-11-24",
		"my to-do list":                                         "/tasks open",
		"What are my open to-dos?":                              "/tasks open",
		"mes tâches":                                            "/tasks open",
		"¿qué tareas tengo?":                                    "/tasks open",
		"what is due on the boat?":                              "/tasks due boat",
		"what did I get done last week?":                        "/tasks done after:2026-11-16 before:2026-11-23",
		"have I completed the boiler check?":                    "/tasks done boiler check",
		"how often do I run?":                                   "",
		"remember that I like tea":                              "",
		"new shoes":                                             "",
		"/task buy milk":                                        "",
		"add task a\nand b":                                     "",
		"add task":                                              "",
		"Tick it off.":                                          "",
		"done!":                                                 "",
		strings.Repeat("a long text that has a task in it ", 9): "",
	} {
		if got, _ := OfferFor(message, monday); got.Command != want {
			t.Errorf("%q offers %q, not %q", message, got.Command, want)
		}
	}
}

// What is offered is one line and a command, whatever the message.
func FuzzOffer(f *testing.F) {
	for _, s := range []string{
		"remind me to x tomorrow", "add task \x1b[31m", "due due due", "tick",
		"task 📅 2026-01-01", "rappelle-moi",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, message string) {
		o, ok := OfferFor(message, when.DayOf(time.Now()))
		if ok && (strings.ContainsAny(o.Command, "\r\n") || !strings.HasPrefix(o.Command, "/") ||
			len(strings.Fields(o.Command)) < 2) {
			t.Fatalf("%q offers %q", message, o.Command)
		}
	})
}
