package app

import "lifehub/agent/turn"

// workers are the kinds of workers, in the order shown to the lead. A server's tool is available to those whose globs
// match its name, and to general.
var workers = []turn.Worker{
	{
		Name: "notes", Does: "what is in the user's notes and tasks, and changes to them", Rounds: 5, BuiltIn: true,
		Instructions: "You work with the user's notes. Search with more than one wording, read the notes that " +
			"matter, and report what they say, " +
			"naming note and line. If they do not say it, report that.",
		Tools: []string{
			"search_notes", "*_note", "*_notes", "note_links", "find_contradictions", "*_task", "*_tasks",
			"recall", "today", "calculate",
		},
	},
	{
		Name: "search", Does: "the web", Rounds: 5,
		Instructions: "You search the web. Read a page where a snippet is not enough. Report facts with the address " +
			"they come from, and where pages " +
			"contradict each other.",
		Tools: []string{"*web_search*", "web_fetch", "*_search", "*_fetch", "get_weather"},
	},
	{
		Name: "crawl", Does: "several pages of one site", Rounds: 4,
		Instructions: "You go through pages of one site. Report what they say on the task, each with its address.",
		Tools:        []string{"crawl", "web_fetch", "*_crawl*", "*_fetch"},
	},
	{
		Name: "email", Does: "mail", Rounds: 4, Needs: sendsMail,
		Instructions: "You write mail for the user: in their language, short, without invented facts, addresses or " +
			"promises. Send only what the task " +
			"asks for, to whom it names. Report exactly what was sent to whom, or why not.",
		Tools: []string{sendsMail, "recall", "search_notes", "read_note", "today"},
	},
	{
		Name: "general", Does: "what needs tools of several, texts, and all else", Rounds: 5,
		Writes: true, Without: sendsMail,
		Instructions: "You do what no other worker can do alone. Longer texts that the user will keep or change are " +
			"made as artifacts.",
	},
}

const sendsMail = "send_email"
