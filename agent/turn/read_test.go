package turn

import (
	"testing"

	"lifehub/agent"
)

func TestVerdictsAreReadAsModelsWriteThem(t *testing.T) {
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
