package agent

import (
	"strings"
	"testing"
)

func TestATitleIsWhatTheModelMeantAsOne(t *testing.T) {
	for said, want := range map[string]string{
		"Marathon training plan":                        "Marathon training plan",
		"\n\n  \"Marathon  training plan.\"\n\nBecause": "Marathon training plan",
		"**Title: Flight to Lisbon**":                   "Flight to Lisbon",
		"# Flight to Lisbon":                            "Flight to Lisbon",
		"<think>the user asks</think>\nBoiler":          "Boiler",
		"「富士山の計画」":                                      "富士山の計画",
		"Trip: Lisbon in May":                           "Trip: Lisbon in May",
		"\x1b[2Jclear":                                  "[2Jclear",
		strings.Repeat("word ", 40):                     strings.Repeat("word ", 11) + "word…",
		" \n ":                                          "",
	} {
		title, err := Title(t.Context(), &script{lines: []line{say(said)}}, "q", "a")
		if title != want || (err == nil) != (want != "") {
			t.Errorf("%q: got %q, %v, want %q", said, title, err, want)
		}
	}
}
