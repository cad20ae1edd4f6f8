package agent

import (
	"cmp"
	"slices"
)

// Guide tells a model with little room of the most important tools: a small model, and a planner. A small window has
// these tools and no others.
type Guide struct {
	Tools    []Brief // in the order shown
	Examples []Example
	// Words are those of the examples that stand for them: in an answer, unless the user or a note has them, they show
	// that the model repeats an example.
	Words []string
}

// Brief is a tool in one line.
type Brief struct {
	Name  string
	Args  string // names of its arguments, with commas
	Use   string // what it is for, a sentence; "" if the name says it
	Small string // the same for a small model, if it is something else
}

// Example is a message and the call that it asks for. It tells of a world that is in no note.
type Example struct {
	Message string
	Tool    string
	Input   string // the arguments as JSON
}

// Names are the names of the tools.
func (g Guide) Names() []string {
	names := make([]string, len(g.Tools))
	for i, b := range g.Tools {
		names[i] = b.Name
	}
	return names
}

// ForSmall returns the tools as a small model is told of them.
func (g Guide) ForSmall() []Brief {
	list := slices.Clone(g.Tools)
	for i, b := range list {
		list[i].Use = cmp.Or(b.Small, b.Use)
	}
	return list
}

// String returns the line, such as "add_task(text, due)".
func (b Brief) String() string {
	line := b.Name + "(" + b.Args + ")"
	if b.Use != "" {
		line += ": " + b.Use
	}
	return line
}
