package agent

// Rule sets the level of the tools whose name it matches.
type Rule struct {
	Tool  string // glob over the tool's name
	Level Level
	From  string // file:line it stands in; "" when it was made in this run
}

// Rules decide the level of a call. The last match wins; a deny beats all.
type Rules struct {
	list []Rule
}

type gate struct{}
