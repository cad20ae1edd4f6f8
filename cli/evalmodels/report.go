package evalmodels

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"lifehub/cli/app"
	"lifehub/tui/draw"
	"lifehub/tui/safetext"
)

// Report is the object that --json prints.
type Report struct {
	Suite  string   `json:"suite"` // ID; changes with the tasks and the notes
	Tasks  int      `json:"tasks"`
	Models []model  `json:"models"`
	Advice []advice `json:"advice"` // one per role
}

// model is the result of one model.
type model struct {
	Model   string    `json:"model"`
	Digest  string    `json:"digest,omitempty"`
	Think   string    `json:"think"`
	LifeHub string    `json:"lifehub"`
	Date    time.Time `json:"date"`   // when the run began
	Tried   int       `json:"tried"`  // number of tasks
	Failed  int       `json:"failed"` // tasks without a complete answer, because of the model or its server
	Roles   []figures `json:"roles"`  // in the order of Advice

	run run
}

// figures are the results of a model in a role.
type figures struct {
	Role    string           `json:"role"`
	Right   count            `json:"right"` // number of tasks
	Checks  map[string]count `json:"checks"`
	Tokens  int              `json:"tokens"`  // of prompts and answers, median per task
	Seconds float64          `json:"seconds"` // median per task
	Earlier *before          `json:"earlier,omitempty"`
}

// count is Passed of Of.
type count struct {
	Passed int `json:"passed"`
	Of     int `json:"of"`
}

func (c *count) add(passed bool) {
	if c.Of++; passed {
		c.Passed++
	}
}

func (c count) String() string { return fmt.Sprintf("%d of %d", c.Passed, c.Of) }

// before is the result of an earlier run of the model.
type before struct {
	Right   count     `json:"right"`
	LifeHub string    `json:"lifehub"`
	Date    time.Time `json:"date"`
	Chance  bool      `json:"chance"` // the difference is not significant
}

// advice recommends a model for a role.
type advice struct {
	Role string `json:"role"`
	Take string `json:"take,omitempty"` // the best; "" if none was tried with all tasks
	Good bool   `json:"good"`           // at least three quarters of the tasks were right
	Text string `json:"text"`
}

// in returns the tasks of a role.
func (s suite) in(role string) (list []task) {
	for _, t := range s.Tasks {
		if t.Role == role {
			list = append(list, t)
		}
	}
	return list
}

// figuresOf returns the figures of a run in a role.
func figuresOf(s suite, r run, role string) figures {
	f := figures{Role: role, Checks: map[string]count{}}
	var tokens []int
	var seconds []float64
	for _, t := range s.in(role) {
		done, tried := r.by[t.Name]
		if !tried {
			continue
		}
		f.Right.add(done.right())
		for name, passed := range done.Checks {
			c := f.Checks[name]
			c.add(passed)
			f.Checks[name] = c
		}
		tokens, seconds = append(tokens, done.Prompt+done.Answer), append(seconds, done.Seconds)
	}
	if n := len(tokens); n > 0 {
		slices.Sort(tokens)
		slices.Sort(seconds)
		f.Tokens, f.Seconds = tokens[n/2], seconds[n/2]
	}
	return f
}

// apart counts the tasks of a role that only one of two runs got right.
func apart(s suite, role string, a, b run) (onlyA, onlyB int) {
	for _, t := range s.in(role) {
		x, y := a.by[t.Name], b.by[t.Name]
		switch {
		case x.Task == "" || y.Task == "" || x.right() == y.right():
		case x.right():
			onlyA++
		default:
			onlyB++
		}
	}
	return onlyA, onlyB
}

// isChance reports whether the difference between two runs is not significant at 5 %, by the exact
// two-sided sign test on the tasks that only one of them got right. 5 to 0 is not significant, 6 to
// 0 is.
func isChance(onlyA, onlyB int) bool {
	n, few := onlyA+onlyB, min(onlyA, onlyB)
	ways, term, all := 0.0, 1.0, 1.0
	for i := range n {
		if i <= few {
			ways += term
		}
		term, all = term*float64(n-i)/float64(i+1), all*2
	}
	return 2*few == n || 2*ways/all >= 0.05
}

// fewest is the number of tasks below which no difference can be significant.
const fewest = 6

// reportOn returns the report on the runs in now; list has all saved results.
func reportOn(s suite, list []result, now []run) Report {
	rep := Report{Suite: s.id, Tasks: len(s.Tasks), Models: []model{}, Advice: []advice{}}
	used := slices.DeleteFunc(slices.Clone(roles), func(role string) bool { return len(s.in(role)) == 0 })
	for _, r := range now {
		m := model{Model: r.Model, Digest: r.Digest, Think: r.Think, LifeHub: r.LifeHub, Date: r.Run, Tried: len(r.by), Roles: []figures{}, run: r}
		for _, done := range r.by {
			if done.Error != "" {
				m.Failed++
			}
		}
		was := earlier(list, s, r)
		for _, role := range used {
			f := figuresOf(s, r, role)
			if was != nil && f.Right.Of > 0 {
				f.Earlier = &before{figuresOf(s, *was, role).Right, was.LifeHub, was.Run, isChance(apart(s, role, r, *was))}
			}
			m.Roles = append(m.Roles, f)
		}
		rep.Models = append(rep.Models, m)
	}
	for at, role := range used {
		rep.Advice = append(rep.Advice, rep.advise(s, role, at))
	}
	return rep
}

// advise chooses, among the models tried with all tasks of a role, the one with the most right, and
// the faster of equals.
func (rep Report) advise(s suite, role string, at int) advice {
	tasks := len(s.in(role))
	all := slices.DeleteFunc(slices.Clone(rep.Models), func(m model) bool { return m.Roles[at].Right.Of < tasks })
	if len(all) == 0 {
		return advice{Role: role, Text: "no model was tried with all tasks"}
	}
	slices.SortStableFunc(all, func(a, b model) int {
		x, y := a.Roles[at], b.Roles[at]
		return cmp.Or(cmp.Compare(y.Right.Passed, x.Right.Passed), cmp.Compare(x.Seconds, y.Seconds))
	})
	best := all[0].Roles[at]
	a := advice{Role: role, Take: all[0].Model, Good: 4*best.Right.Passed >= 3*best.Right.Of}
	a.Text = fmt.Sprintf("take %s: %v tasks right, %.1f s each", a.Take, best.Right, best.Seconds)
	if !a.Good {
		a.Text = fmt.Sprintf("none is good enough: %s, the best, has %v tasks right", a.Take, best.Right)
	}
	var equal []string
	for _, m := range all[1:] {
		if isChance(apart(s, role, all[0].run, m.run)) {
			equal = append(equal, fmt.Sprintf("%s (%v, %.1f s)", m.Model, m.Roles[at].Right, m.Roles[at].Seconds))
		}
	}
	switch {
	case len(equal) > 0 && tasks < fewest:
		a.Text += fmt.Sprintf("; %d tasks are too few to tell models apart", tasks)
	case len(equal) > 0:
		a.Text += "; no significant difference from " + strings.Join(equal, ", ")
	}
	if c := best.Checks[unobeyed]; c.Passed < c.Of {
		a.Text += fmt.Sprintf("; it ignored the orders of a note in %v, and LifeHub asks before the others are done", c)
	}
	return a
}

// titles are the names of the roles and the setting that selects the model of each.
var titles = map[string][2]string{
	plans: {"Planning", "plan_model"}, answers: {"Answering", "model"}, loops: {"Loop", "model, with mode: loop"}, teams: {"Team", "model, with mode: team"},
}

// String returns a table per role and the conclusions.
func (rep Report) String() string {
	var b strings.Builder
	for at, a := range rep.Advice {
		if !slices.ContainsFunc(rep.Models, func(m model) bool { return m.Roles[at].Right.Of > 0 }) {
			continue
		}
		head := []string{titles[a.Role][0], "right"}
		columns := slices.DeleteFunc(slices.Clone(checks), func(name string) bool {
			return !slices.ContainsFunc(rep.Models, func(m model) bool { return m.Roles[at].Checks[name].Of > 0 })
		})
		rows := [][]string{append(append(head, columns...), "tokens", "seconds")}
		for _, m := range rep.Models {
			f := m.Roles[at]
			row := []string{draw.Truncate(safetext.Line(m.Model), 40), fmt.Sprintf("%d/%d", f.Right.Passed, f.Right.Of)}
			for _, name := range columns {
				row = append(row, fmt.Sprintf("%d/%d", f.Checks[name].Passed, f.Checks[name].Of))
			}
			rows = append(rows, append(row, draw.Thousands(f.Tokens), fmt.Sprintf("%.1f", f.Seconds)))
		}
		b.WriteString(app.Table(rows, len(rows[0])-1) + "\n")
	}
	for _, m := range rep.Models {
		name := safetext.Line(m.Model)
		for _, f := range m.Roles {
			if e := f.Earlier; e != nil && e.Right != f.Right {
				how := ""
				if e.Chance {
					how = "; not significant"
				}
				fmt.Fprintf(&b, "%s, %s: %v tasks right, and %v on %s with LifeHub %s%s\n", name, strings.ToLower(titles[f.Role][0]), f.Right, e.Right, e.Date.Local().Format(time.DateOnly), safetext.Line(e.LifeHub), how)
			}
		}
		if m.Failed > 0 {
			fmt.Fprintf(&b, "%s: no whole answer to %s, which count as wrong\n", name, draw.Count(m.Failed, "task"))
		}
		if m.Tried < rep.Tasks {
			fmt.Fprintf(&b, "%s: %v tasks tried; the next run continues there\n", name, count{m.Tried, rep.Tasks})
		}
	}
	for _, a := range rep.Advice {
		fmt.Fprintf(&b, "%s (%s): %s.\n", titles[a.Role][0], titles[a.Role][1], safetext.Line(a.Text))
	}
	return b.String()
}
