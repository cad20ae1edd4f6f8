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
	{"Use `x >= 5` in the filter. Stop when count != 0.", []string{"“x <= 5”", "“x > 5”", "“x = 5”", "“Stop when count = 0.”", "“count == 0”"}},
	{"Run `grep -v error log.txt` first.", []string{"“grep -V error log.txt”", "“grep v error log.txt”", "“grep --v error log.txt”", "`grep` it: “-V error”"}},
	{"Add 1/2 cup of sugar.", []string{"“Add 1-2 cup of sugar.”", "“Add 1 2 cup of sugar.”", "“Add 12 cup of sugar.”"}},
	{"The tool is written in C#.", []string{"“The tool is written in C.”", "“The tool is written in C++.”", "“written in C”"}},
	{"The parser is in C++.", []string{"“The parser is in C.”", "“The parser is in C#.”"}},
	{"The balance was –300 € in May.", []string{"“The balance was 300 € in May.”", "“300 € in May”", "“The balance was +300 € in May.”"}},
	{"Anna was tested for Hepatitis A.", []string{"“Anna was tested for Hepatitis B.”", "“Anna was tested for Hepatitis a.”", "“Hepatitis”"}},
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
		"You did this: “Renew the passport”", "It is done: “Renew the passport”", "“Sell the bike”", "> Renew the passport",
	}},
	{"- [x] Plan the trip\n  - book the hotel in Rome\n  - [ ] tell Ines", []string{"“tell Ines”", "You told her: “tell Ines”"}},
	// Headings and what introduces a list.
	{"# Kitchen\n\n## Rejected ideas\n\nPaint the walls black.\n\n- Buy a second oven.", []string{"You decided: “Paint the walls black.”", "“Buy a second oven.”", "“Paint the walls black”"}},
	{"Never do this:\n\n- mix bleach and vinegar\n- leave the stove on", []string{"“mix bleach and vinegar”", "The guide recommends: “leave the stove on”"}},
	{"Things I gave up\n- smoking after dinner\n- sugar in coffee", []string{"“smoking after dinner”", "“sugar in coffee”"}},
	{"Do not run this:\n\n```sh\nrm -rf build\n```", []string{"“rm -rf build”", "Run “rm -rf build”"}},
	{"- Cancelled\n  - Flight to Oslo on 3 May\n  - Dinner with Tom", []string{"“Flight to Oslo on 3 May”", "“Dinner with Tom”"}},
	{"| City | Verdict |\n|---|---|\n| Porto | too far |\n| Ghent | rejected |", []string{"“Porto”", "“Ghent” is the choice", "“too far”"}},
	{"Myths\n\n1. Cats have nine lives\n2. Bulls hate red", []string{"“have nine lives”"}},
	// Labels and speakers.
	{"Previous address: Elm Street 5.\nOld phone: 555 123.", []string{"Your address is “Elm Street 5”", "“555 123”", "“address: Elm Street 5”"}},
	{"Bob: I will never eat meat again.\nAna: I eat it daily.", []string{"You said “I will never eat meat again”", "“I eat it daily”", "“I will never eat meat again.” are your words"}},
	{"**Tom:** The car is mine.", []string{"“The car is mine.”", "You wrote “The car is mine”"}},
	{"[10:02] Mara: ship on Friday\n[10:05] me: ship on Monday", []string{"“ship on Friday”", "You wrote “ship on Friday”"}},
	{"> I hate fish.\n\nThat is what Leo wrote.", []string{"You wrote “I hate fish.”", "“I hate fish”"}},
	{"She said: “The house is sold.”", []string{"“The house is sold.”", "“The house is sold”"}},
	{"“I quit my job.” was what Leo told us.", []string{"“I quit my job.”", "You: “I quit my job”"}},
	{"Subject: Your rent is due\nFrom: Leo", []string{"“Your rent is due”"}},
	// Struck through and commented out.
	{"~~The rent is 900 €.~~ The rent is 950 €.", []string{"“The rent is 900 €.”", "“The rent is 900 €”", "> The rent is 900 €."}},
	{"<!-- The budget is 400 €. -->\n\nNothing is fixed.", []string{"“The budget is 400 €.”", "“The budget is 400 €”"}},
	{"%% The party is on Sunday. %%", []string{"“The party is on Sunday.”"}},
	{"- ~~call the bank~~\n- mail the bank", []string{"“call the bank”"}},
	// Frames that retract a statement.
	{"Leo lied that the car is stolen.", []string{"“the car is stolen”", "“The car is stolen.”", "Your note says “the car is stolen”"}},
	{"Tom failed to pay the rent in May.", []string{"“pay the rent in May”", "Tom did: “pay the rent in May”"}},
	{"I used to drink coffee every morning.", []string{"“drink coffee every morning”", "You “drink coffee every morning”"}},
	{"Before we moved, the sofa was in the hall.", []string{"“the sofa was in the hall”", "“the sofa was in the hall.”"}},
	{"The meeting is on Monday at 10. It was cancelled.", []string{"“The meeting is on Monday at 10.”", "“meeting is on Monday”"}},
	{"The concert is on 4 June.\nCancelled!", []string{"“The concert is on 4 June.”", "“concert is on 4 June”"}},
	{"- Meeting with Ines on Monday at 10\n  - cancelled", []string{"“Meeting with Ines on Monday at 10”"}},
	{"We fly to Rome. But only if the strike ends.", []string{"“We fly to Rome.”", "“We fly to Rome”"}},
	{"The key is below the mat. That is no longer true.", []string{"“The key is below the mat.”"}},
	{"None of this happened. I met the queen in May.", []string{"“I met the queen in May.”"}},
	{"It is not true that the shop closes at six.", []string{"“the shop closes at six”", "“The shop closes at six.”"}},
	{"If it rains, the picnic is in the barn.", []string{"“the picnic is in the barn”", "“The picnic is in the barn.”"}},
	{"The picnic is in the barn if it rains.", []string{"“The picnic is in the barn”"}},
	{"I wonder whether the visa is valid until June.", []string{"“the visa is valid until June”"}},
	{"Is the train at platform nine?", []string{"“the train at platform nine”", "“Is the train at platform nine”"}},
	{"In my dream the bank gave me a million.", []string{"“the bank gave me a million”"}},
	{"Mia believes the roof leaks.", []string{"“the roof leaks”"}},
	{"The doctor ruled out diabetes.", []string{"You have “diabetes”", "“diabetes”"}},
	{"We nearly bought the house in Ghent.", []string{"“bought the house in Ghent”"}},
	{"Everyone but Ines has the key.", []string{"“Ines has the key”"}},
	{"The landlord promised to fix the roof by May, but he did not.", []string{"“fix the roof by May”", "“The landlord promised to fix the roof by May”"}},
	{"Only Bob may open the safe.", []string{"“Bob may open the safe”"}},
	{"Few of the windows close.", []string{"“the windows close”", "“windows close”"}},
	{"The dog refuses to eat rice.", []string{"“eat rice”", "The dog likes to “eat rice”"}},
	{"He denied that he owes me 40 €.", []string{"“he owes me 40 €”"}},
	{"Until 2019 the office was in Bonn.", []string{"“the office was in Bonn”"}},
	{"The pills did not help against the pain.", []string{"“help against the pain”", "“The pills did … help against the pain.”"}},
	{"Do not prune the apple tree in autumn.", []string{"“prune the apple tree in autumn”", "“Do … prune the apple tree in autumn”"}},
	{"Wir ziehen nicht nach Kiel.", []string{"„nach Kiel“", "„Wir ziehen … nach Kiel“"}},
	{"Früher war der Laden am Markt.", []string{"„war der Laden am Markt“"}},
	{"Je ne mange pas de porc.", []string{"« mange … de porc »", "« mange pas de porc »"}},
	{"我不吃猪肉。", []string{"「吃猪肉」"}},
	{"この薬は食後に飲まないでください。", []string{"「この薬は食後に飲」"}},
	// Words combined that are not together in the note.
	{"The ferry sails at noon. The bus leaves at six.", []string{"“The ferry leaves at six.”", "“The ferry … leaves at six.”", "“The bus sails at noon.”", "“The ferry sails at six.”", "“ferry sails at noon. The train”"}},
	{"- Ana: red\n- Bob: blue", []string{"“Ana: blue”", "“Bob: red”", "“Ana … blue”"}},
	{"| Drill | 45 € |\n| Saw | 30 € |", []string{"“Drill | 30 €”", "“Saw 45 €”", "“Drill … 30 €”"}},
	{"The plan for May is long: swim, run, rest.", []string{"“The plan for May is long: run”", "“The plan for June is long”", "“swim, rest”", "“swim”"}},
	{"Adams lent the drill to Bob.", []string{"“Adam lent the drill to Bob.”", "“Bob lent the drill to Adams.”"}},
	{"Steep it for 2 minutes at 75 °C.", []string{"“Steep it for 2 minutes at 75 °F.”", "“Steep it for 2 hours at 75 °C.”", "“Steep it for 20 minutes at 75 °C.”", "“Steep it for 2 minutes at 75”"}},
	{"Der Zug fährt um 7:45 Uhr.", []string{"„Der Zug fährt um 7:54 Uhr.“", "„Der Zug fährt nicht um 7:45 Uhr.“", "„Der Bus fährt um 7:45 Uhr.“"}},
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
	if made < 170 {
		t.Errorf("only %d answers", made)
	}
}

// The words around a quotation are shown as the note's structure requires.
func TestContextOfQuotedWordsIsShown(t *testing.T) {
	for _, c := range []struct{ note, answer, want string }{
		{"- [ ] Renew the passport", "“Renew the passport”", "open task"},
		{"- [x] Renew the passport", "“Renew the passport”", ""},
		{"- [-] Renew the passport", "“Renew the passport”", "cancelled task"},
		{"# House\n\n## Rejected ideas\n\nPaint it black.", "“Paint it black.”", "under “Rejected ideas”"},
		{"# Note\n\nPaint it black.", "“Paint it black.”", ""},
		{"Bob: I am tired.", "“I am tired.”", "in “Bob: […]”"},
		{"Mia thinks the roof leaks.", "“the roof leaks”", "in “Mia thinks […]”"},
		{"~~The rent is 900 €.~~", "“The rent is 900 €.”", "struck out"},
		{"<!-- The rent is 900 €. -->", "“The rent is 900 €.”", "commented out"},
		{"> The rent is 900 €.", "“The rent is 900 €.”", "in a quotation"},
		{"We meet at ten. It was cancelled.", "“We meet at ten.”", "then “It was cancelled.”"},
		{"We meet at ten. Bring cake.", "“We meet at ten.”", ""},
		{"Never do this:\n\n- mix them", "“mix them”", "under “Never do this”"},
		{"- [x] Trip\n  - book it now", "“book it now”", ""},
		{"| City | Verdict |\n|---|---|\n| Old Ghent | rejected |", "“Old Ghent”", "in “[…] rejected”"},
		{"Due last week =><br>due before Sunday<br/>", "“Due last week => … due before Sunday”", ""},
		{"Due last week =><br>due before Sunday<br/>", "“Due last week => due before Sunday”", ""},
		{"Take the early train[^1] and walk.[^note]", "“Take the early train … and walk.”", ""},
		{"Take the early train[^1] and walk.[^note]", "“Take the early train and walk.”", ""},
		{"Je ne mange pas de porc.", "« mange … de porc »", "in “Je ne […] pas […]”"},
	} {
		source := agent.Source{N: 1, Path: "note.md", Line: 1, EndLine: 1 + strings.Count(c.note, "\n"), Text: c.note}
		got := Check(c.answer+" [1]", []agent.Source{source}, nil)
		if len(got) != 1 || got[0].Verdict != agent.Verified || got[0].Context != c.want {
			t.Errorf("%s on %q is %+v, want %q", c.answer, c.note, got, c.want)
		}
	}
}
