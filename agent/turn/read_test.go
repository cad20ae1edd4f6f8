package turn

import (
	"strings"
	"testing"

	"lifehub/agent"
)

func TestJudgementsAreReadAsModelsWriteThem(t *testing.T) {
	tests := map[string]struct {
		text string
		want agent.Judgement
		bad  bool
	}{
		"plain":                   {text: `{"passed":true,"score":0.9,"feedback":"It names how often."}`, want: agent.Judgement{Passed: true, Score: 0.9, Feedback: "It names how often."}},
		"of ten":                  {text: `{"passed":false,"score":7,"feedback":"x"}`, want: agent.Judgement{Score: 0.7, Feedback: "x"}},
		"of a hundred":            {text: "```json\n{\"passed\":true,\"score\":85}\n```", want: agent.Judgement{Passed: true, Score: 0.85}},
		"no score":                {text: `{"passed":true}`, want: agent.Judgement{Passed: true, Score: 1}},
		"a list":                  {text: `{"passed":false,"score":0,"suggestions":["a","b"]}`, want: agent.Judgement{Suggestions: "a; b"}},
		"no verdict":              {text: `{"score":1}`, bad: true},
		"prose":                   {text: `It passed.`, bad: true},
		"below zero":              {text: `{"passed":false,"score":-3}`, want: agent.Judgement{}},
		"a fraction":              {text: `{"passed":false,"score":"7/10"}`, bad: true},
		"a word":                  {text: `{"passed":"yes","score":1}`, bad: true},
		"after prose":             {text: `The worker {did} well. {"passed":true,"score":0.8}`, want: agent.Judgement{Passed: true, Score: 0.8}},
		"in an object":            {text: `{"evaluation":{"passed":true,"score":0.7}}`, want: agent.Judgement{Passed: true, Score: 0.7}},
		"in two, by another name": {text: `{"result":{"verdict":{"accepted":false,"score":0.2,"feedback":"x"}}}`, want: agent.Judgement{Score: 0.2, Feedback: "x"}},
		"one of several objects":  {text: `{"first":{"passed":true},"second":{"passed":false}}`, bad: true},
		"of Python":               {text: `{'Passed': True, 'Score': 0.7, 'Feedback': None}`, want: agent.Judgement{Passed: true, Score: 0.7}},
		"two lines":               {text: "{\"passed\":false,\"score\":0.5,\"feedback\":\"more\ndays\",}", want: agent.Judgement{Score: 0.5, Feedback: "more\ndays"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := readJudgement(tc.text)
			if got != tc.want || (err != nil) != tc.bad {
				t.Errorf("got %+v, %v", got, err)
			}
		})
	}
}

func TestDelegationsAreReadAsLeadsWriteThem(t *testing.T) {
	const want = `1 {"worker_type":"notes","task_description":"T","success_criteria":"C"}`
	for name, tc := range map[string]struct{ text, want string }{
		"a plan":                     {`{"reasoning":"r","tasks":[{"id":"1","worker_type":"notes","task_description":"T","success_criteria":"C"}]}`, want},
		"one":                        {`{"worker_type":"notes","task_description":"T","success_criteria":"C"}`, want},
		"after prose":                {`I hand it {out}: {"tasks":[{"id":1,"worker_type":"notes","task_description":"T","success_criteria":"C"}]}`, want},
		"a worker that is not there": {`{"tasks":[{"worker_type":"wizard","task_description":"T"}]}`, `1 {"worker_type":"wizard","task_description":"T"}`},
		"no task":                    {`{"tasks":[{"worker_type":"notes","task_description":" "}]}`, "task 1: it has no description"},
		"prose":                      {`The notes worker should look [1].`, "it holds no JSON object"},
		"a text for the tasks":       {`{"tasks":"notes: look"}`, "it does not have the shape asked for"},
		"no object":                  {`{"tasks":["look"]}`, "it does not have the shape asked for"},
	} {
		t.Run(name, func(t *testing.T) {
			drafts, _, _, err := readDelegations(tc.text)
			var lines []string
			for _, d := range drafts {
				lines = append(lines, d.ID+" "+string(d.Input))
			}
			if err != nil {
				lines = append(lines, err.Error())
			}
			if got := strings.Join(lines, "\n"); got != tc.want {
				t.Errorf("got  %s\nwant %s", got, tc.want)
			}
		})
	}
}
