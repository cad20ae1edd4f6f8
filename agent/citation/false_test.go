package citation

import (
	"strings"
	"testing"

	"lifehub/agent"
)

// falseAnswers are answers, written by hand, that have the words of their note, or
// nearly, but not its support. None may get a plain check mark.
var falseAnswers = []struct {
	note    string
	answers []string
}{
	// Signs and operators.
	{"Use `x >= 5` in the filter. Stop when count != 0.", []string{
		"“x <= 5”", "“x > 5”", "“x = 5”",
		"“Stop when count = 0.”", "“count == 0”",
	}},
	{"Run `grep -v error log.txt` first.", []string{
		"“grep -V error log.txt”", "“grep v error log.txt”",
		"“grep --v error log.txt”", "`grep` it: “-V error”",
	}},
	{"Add 1/2 cup of sugar.", []string{"“Add 1-2 cup of sugar.”", "“Add 1 2 cup of sugar.”", "“Add 12 cup of sugar.”"}},
	{"The tool is written in C#.", []string{
		"“The tool is written in C.”",
		"“The tool is written in C++.”", "“written in C”",
	}},
	{"The parser is in C++.", []string{"“The parser is in C.”", "“The parser is in C#.”"}},
	{"The balance was –300 € in May.", []string{
		"“The balance was 300 € in May.”", "“300 € in May”",
		"“The balance was +300 € in May.”",
	}},
	{"Anna was tested for Hepatitis A.", []string{
		"“Anna was tested for Hepatitis B.”",
		"“Anna was tested for Hepatitis a.”", "“Hepatitis”",
	}},
	{"Vitamin K is in kale.", []string{"“Vitamin k is in kale.”", "“Vitamin D is in kale.”"}},
	{"The probe sends 10 mW.", []string{"“The probe sends 10 MW.”", "“The probe sends 10 W.”"}},
	{"Set a && b in the rule.", []string{"“Set a || b in the rule.”", "“Set a & b in the rule.”"}},
	{"Go from A → B by ferry.", []string{"“Go from A ← B by ferry.”", "“Go from B → A by ferry.”"}},
	{"The file is ~/.config/app.", []string{"“The file is /.config/app.”", "“The file is ~/config/app.”"}},
	{"It costs ~50 € a night.", []string{"“It costs 50 € a night.”"}},
	{"The room is non-smoking.", []string{"“smoking”", "The room is “smoking” [1]"}},
	{"He asked WHO for help.", []string{"“He asked who for help.”"}},
	{"Take 5–7 drops.", []string{"“Take 5/7 drops.”", "“Take 57 drops.”"}},
	{"Accuracy is ≥95 %.", []string{"“Accuracy is ≤95 %.”", "“Accuracy is 95 %.”", "“95 %”"}},
	{"The result was p<0.05.", []string{"“The result was p>0.05.”", "“The result was p=0.05.”"}},
	{"Choose 2^10 as the size.", []string{"“Choose 2*10 as the size.”", "“Choose 210 as the size.”"}},
	{"Divide a/b and add c.", []string{"“Divide a*b and add c.”", "“Divide a-b and add c.”"}},
	{"Growth was +4 % in June.", []string{"“Growth was -4 % in June.”", "“Growth was 4 % in June.”"}},
	{"Mail @anna about it.", []string{"“Mail #anna about it.”"}},
	{"Write to info@house.example now.", []string{"“Write to info.house.example now.”"}},
	{"Discount: 15 % off.", []string{"“Discount: 15 off.”", "“15” is the discount in percent"}},
	// Tasks.
	{"- [ ] Renew the passport\n- [x] Pay the deposit\n- [-] Sell the bike", []string{
		"You did this: “Renew the passport”", "It is done: “Renew the passport”",
		"“Sell the bike”", "> Renew the passport",
	}},
	{
		"- [x] Plan the trip\n  - book the hotel in Rome\n  - [ ] tell Ines",
		[]string{"“tell Ines”", "You told her: “tell Ines”"},
	},
	// Headings and what introduces a list.
	{
		"# Kitchen\n\n## Rejected ideas\n\nPaint the walls black.\n\n- Buy a second oven.",
		[]string{"You decided: “Paint the walls black.”", "“Buy a second oven.”", "“Paint the walls black”"},
	},
	{
		"| City | Verdict |\n|---|---|\n| Porto | too far |\n| Ghent | rejected |",
		[]string{"“Porto”", "“Ghent” is the choice"},
	},
	// Labels and speakers.
	{"> I hate fish.\n\nThat is what Leo wrote.", []string{"You wrote “I hate fish.”", "“I hate fish”"}},
	// Struck through and commented out.
	{"~~The rent is 900 €.~~ The rent is 950 €.", []string{
		"“The rent is 900 €.”", "“The rent is 900 €”",
		"> The rent is 900 €.",
	}},
	{"<!-- The budget is 400 €. -->\n\nNothing is fixed.", []string{"“The budget is 400 €.”", "“The budget is 400 €”"}},
	{"%% The party is on Sunday. %%", []string{"“The party is on Sunday.”"}},
	{"- ~~call the bank~~\n- mail the bank", []string{"“call the bank”"}},
	// Frames that retract a statement.
	{"The doctor ruled out diabetes.", []string{"You have “diabetes”", "“diabetes”"}},
	// Words combined that are not together in the note.
	{"The ferry sails at noon. The bus leaves at six.", []string{
		"“The ferry leaves at six.”",
		"“The ferry … leaves at six.”", "“The bus sails at noon.”", "“The ferry sails at six.”",
		"“ferry sails at noon. The train”",
	}},
	{"- Ana: red\n- Bob: blue", []string{"“Ana: blue”", "“Bob: red”", "“Ana … blue”"}},
	{"| Drill | 45 € |\n| Saw | 30 € |", []string{"“Drill | 30 €”", "“Saw 45 €”", "“Drill … 30 €”"}},
	{"The plan for May is long: swim, run, rest.", []string{
		"“The plan for May is long: run”",
		"“The plan for June is long”", "“swim, rest”", "“swim”",
	}},
	{"Adams lent the drill to Bob.", []string{"“Adam lent the drill to Bob.”", "“Bob lent the drill to Adams.”"}},
	{"Steep it for 2 minutes at 75 °C.", []string{
		"“Steep it for 2 minutes at 75 °F.”",
		"“Steep it for 2 hours at 75 °C.”", "“Steep it for 20 minutes at 75 °C.”",
	}},
	{"Der Zug fährt um 7:45 Uhr.", []string{
		"„Der Zug fährt um 7:54 Uhr.“", "„Der Zug fährt nicht um 7:45 Uhr.“",
		"„Der Bus fährt um 7:45 Uhr.“",
	}},
}

func TestNoFalseAnswerHasAPlainTick(t *testing.T) {
	made := 0
	for _, c := range falseAnswers {
		source := agent.Source{N: 1, Path: "note.md", Line: 1, EndLine: 1 + strings.Count(c.note, "\n"), Text: c.note}
		for _, answer := range c.answers {
			if !strings.Contains(answer, "[1]") {
				answer += " [1]"
			}
			made++
			for _, got := range Check(answer, []agent.Source{source}, nil) {
				if plain(got) {
					t.Errorf("%s has a plain tick on %q", answer, c.note)
				}
			}
		}
	}
	t.Logf("%d false answers, none with a plain tick", made)
	if made < 90 {
		t.Errorf("only %d answers", made)
	}
}

// What the note marks quoted words as is shown with them.
func TestContextOfQuotedWordsIsShown(t *testing.T) {
	for _, c := range []struct{ note, answer, want string }{
		{"- [ ] Renew the passport", "“Renew the passport”", "open task"},
		{"- [x] Renew the passport", "“Renew the passport”", ""},
		{"- [-] Renew the passport", "“Renew the passport”", "cancelled task"},
		{"# House\n\n## Rejected ideas\n\nPaint it black.", "“Paint it black.”", "under “Rejected ideas”"},
		{"# Ideen\n\n## Entwürfe: 2026\n\n### May\n\n- Paint it black.", "“Paint it black.”", "under “Entwürfe: 2026”"},
		{"# Rejected\n\n# Kept\n\nPaint it black.", "“Paint it black.”", ""},
		{"> [!tip]\n> Paint it black.", "“Paint it black.”", ""},
		{"# Note\n\nPaint it black.", "“Paint it black.”", ""},
		{"~~The rent is 900 €.~~", "“The rent is 900 €.”", "struck out"},
		{"<!-- The rent is 900 €. -->", "“The rent is 900 €.”", "commented out"},
		{"> The rent is 900 €.", "“The rent is 900 €.”", "in a quotation"},
		{"We meet at ten. Bring cake.", "“We meet at ten.”", ""},
		{"- [x] Trip\n  - book it now", "“book it now”", ""},
		{"Due last week =><br>due before Sunday<br/>", "“Due last week => … due before Sunday”", ""},
		{"Due last week =><br>due before Sunday<br/>", "“Due last week => due before Sunday”", ""},
		{"Take the early train[^1] and walk.[^note]", "“Take the early train … and walk.”", ""},
		{"Take the early train[^1] and walk.[^note]", "“Take the early train and walk.”", ""},
	} {
		source := agent.Source{N: 1, Path: "note.md", Line: 1, EndLine: 1 + strings.Count(c.note, "\n"), Text: c.note}
		got := Check(c.answer+" [1]", []agent.Source{source}, nil)
		if len(got) != 1 || got[0].Verdict != agent.Verified || got[0].Context != c.want {
			t.Errorf("%s on %q is %+v, want %q", c.answer, c.note, got, c.want)
		}
	}
}
