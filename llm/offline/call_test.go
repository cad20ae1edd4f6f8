package offline

import (
	"testing"

	"lifehub/internal/when"
)

func TestTwoNamesAreToldApart(t *testing.T) {
	for typed, want := range map[string][2]string{
		`plan archive/`:                  {"plan", "archive/"},
		`"Fahrrad alt" Archiv/Altes Rad`: {"Fahrrad alt", "Archiv/Altes Rad"},
		`„Fahrrad alt“ "Altes Rad"`:      {"Fahrrad alt", "Altes Rad"},
		`[[Fahrrad alt]] neu`:            {"[[Fahrrad alt]]", "neu"},
		`plan "My plan"`:                 {"plan", "My plan"},
		`O'Reilly it's`:                  {"O'Reilly", "it's"},
		`"Fahrrad alt"`:                  {"Fahrrad alt", ""},
		`Fahrrad alt Archiv/Altes Rad`:   {"Fahrrad alt Archiv/Altes Rad", ""},
		`plan`:                           {"plan", ""},
		``:                               {"", ""},
	} {
		_, got, _ := CallOf("move", typed, when.Day{})
		if got["path"] != want[0] || got["to"] != want[1] {
			t.Errorf("%s: %q", typed, got)
		}
	}
}
