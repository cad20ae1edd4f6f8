package evalmodels_test

import (
	"fmt"
	"strings"
)

// lacks returns a check that no note contains the words.
func lacks(words string) func(vault, home string) string {
	return func(vault, _ string) string {
		if strings.Contains(allNotes(vault), words) {
			return fmt.Sprintf("a note has %q", words)
		}
		return ""
	}
}

// moreTasks are small talk, requests about the last answer, messages that are unclear or need a
// missing tool, in German and in English, dates, sums, and calls that depend on each other.
func (d days) moreTasks() []task {
	undo := []call{{worker: "notes", tool: "undo", input: `{}`, key: `{}`}}
	return []task{
		{name: "greeting", question: "Guten Morgen!", says: "Hallo!", kind: "talk"},
		{
			name: "shorter", question: "Please say that again in five words.", says: "Ferry twice daily in March.", kind: "conversation",
			earlier: [2]string{"How often does the ferry go?", "The ferry from Pico to São Jorge takes 1 h 20 and goes twice a day in March [1]."},
		},
		{name: "translate", question: "Translate into German: the meeting was moved to Tuesday at ten", says: "Die Besprechung wurde auf Dienstag um zehn verschoben.", kind: "text"},
		{name: "unclear", question: "Do it again with the other one.", says: "Which one do you mean?", kind: "other"},
		{name: "no tool", question: "Order me a taxi to the airport at six.", says: "I cannot order a taxi: no tool does that.", kind: "other"},
		{
			name: "turn 20", question: "Which code for the gate did I tell you at the beginning?", says: "The code for the gate is 4711.", kind: "conversation", later: 18,
			earlier: [2]string{"The code for the gate is 4711. Just keep it in mind for now.", "All right."},
		},
		{
			name: "undo", question: "Undo that, please.", calls: undo, right: lacks("Water the lemon tree"),
			did: &call{tool: "add_task", input: `{"text":"Water the lemon tree"}`},
		},
		{
			name: "rückgängig", question: "Mach das bitte wieder rückgängig.", calls: undo, right: contains("home/boiler.md", "Mr Okafor"),
			did: &call{tool: "edit_note", input: `{"path":"home/boiler.md","old_text":"Mr Okafor","new_text":"Mrs Lind"}`},
		},
		{
			name: "what day", question: "Which day of the week is it today?",
			calls: []call{{worker: "general", tool: "today", input: `{}`, key: `{}`}},
			facts: []fact{{d.now.Format("Monday, 2 January 2006"), ""}},
		},
		{
			name: "days until", question: "How many days is it until Marta's birthday?", aboutNotes: true, sum: true,
			calls: []call{search(0, "Marta birthday")},
			facts: []fact{{"Birthday on " + d.birthday.Format("2 January") + ".", "people/marta.md"}},
			says:  "It is in 20 days.",
		},
		{
			name: "calculate", question: "How much is 15 % of 80, plus 7?",
			calls: []call{{worker: "general", tool: "calculate", input: `{"expression":"15% of 80 + 7"}`, key: "15% of 80"}},
			facts: []fact{{"15% of 80 + 7 = 19", ""}},
		},
		{
			name: "Druck", question: "Welchen Druck soll mein Heizkessel haben?", aboutNotes: true,
			calls: []call{search(0, "boiler pressure")},
			facts: []fact{{"Pressure should be between 1.2 and 1.6 bar when cold.", "home/boiler.md"}},
		},
		{
			name: "erinnern", question: "Erinnere mich am Freitag daran, die Pflanzen zu gießen.",
			calls: []call{{worker: "notes", tool: "add_task", input: jsonOf(map[string]any{"text": "Pflanzen gießen", "due": d.friday.Format(iso)}), key: "Pflanzen gießen"}},
			right: hasLine("- [ ] Pflanzen gießen", d.friday.Format(iso)),
		},
		{
			name: "Kuchen", question: "Bei wie viel Grad backe ich den Apfelkuchen?", aboutNotes: true,
			calls: []call{search(0, "Apfelkuchen backen Grad")},
			facts: []fact{{"Bei 175 °C Umluft 45 Minuten backen.", "recipes/apfelkuchen.md"}},
		},
		{
			name: "server in German", question: "Was sagt das Web über asyncio?", server: true,
			calls: []call{{worker: "search", tool: "test_web_search", input: `{"query":"asyncio"}`, key: "asyncio"}},
			facts: []fact{{"Python asyncio: prefer TaskGroup, never block the loop, set timeouts.", ""}},
		},
		{
			name: "note from notes", question: "Make a note projects/service.md of what the service of the boiler cost.", aboutNotes: true,
			calls: []call{
				search(0, "boiler yearly service"),
				{round: 1, worker: "notes", tool: "create_note", input: `{"path":"projects/service.md","content":"The boiler's service: 145 €, by Mr Okafor."}`, key: "The boiler's service", needs: "yearly service, Mr Okafor, 145 €"},
			},
			facts: []fact{{"yearly service, Mr Okafor, 145 €, filter changed.", "home/boiler.md"}},
			right: contains("projects/service.md", "145 €, by Mr Okafor"),
		},
		{
			name: "read, then add", question: "Read my packing list and add a task to buy the torch that is on it.", aboutNotes: true,
			calls: []call{
				{worker: "notes", tool: "read_note", input: `{"path":"packing"}`, key: `"packing"`},
				{round: 1, worker: "notes", tool: "add_task", input: `{"text":"Buy a head torch"}`, key: "Buy a head torch", needs: "head torch, start on Pico is at 3 in the morning"},
			},
			facts: []fact{{"head torch, start on Pico is at 3 in the morning", "trips/azores/packing.md"}},
			right: hasLine("- [ ] Buy a head torch"),
		},
		{
			name: "landlord", question: "What is the phone number of my landlord?", aboutNotes: true, unanswerable: true, invents: "Your landlord's number is 555 0134 (Source 1).",
			calls: []call{search(0, "landlord phone number")},
		},
		{
			name: "Zahnarzt", question: "Wie heißt meine Zahnärztin?", aboutNotes: true, unanswerable: true, invents: "Deine Zahnärztin heißt Dr. Berger (Source 1).",
			calls: []call{{worker: "notes", tool: "search_notes", input: `{"query":"dentist name"}`, key: "dentist name", german: "Zahnärztin Name"}},
		},
		{
			name: "which notes", question: "Which notes are in the folder of my trips?", aboutNotes: true,
			calls: []call{{worker: "notes", tool: "list_notes", input: `{"folder":"trips"}`, key: "trips"}},
			facts: []fact{{"trips/azores/plan.md", ""}},
		},
	}
}
