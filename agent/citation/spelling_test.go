package citation

import (
	"strings"
	"testing"

	"lifehub/agent"
)

// everyday returns notes that are easily misquoted: plans, tables, code, reported
// speech, doubt.
func everyday() []agent.Source {
	notes := []agent.Source{
		{Path: "a.md", Heading: "House", Text: "The rent is 1,250.50 € a month.\nAnna said that Bob is wrong about " +
			"the roof.\nThe landlord promised to fix the roof by May, but he did not.\n| Item | Price " +
			"|\n|---|---|\n| Drill | 45 € |\n| Saw | 30 € |\n\n- [ ] Call the plumber\n- [x] Pay the " +
			"deposit\n\n1. Open the valve\n2. Close the tap\n\n```sh\ngit reset --hard HEAD~1\nrm -rf " +
			"build/\n```\nThe old boiler was replaced in 2019.\nPrevious address: Elm Street 5.\nThe " +
			"doctor ruled out diabetes.\nWe considered Porto; we chose Lisbon.\nThe \"cheap\" flight " +
			"costs 300 €.\nIt is not true that the shop closes at six.\nTom claims the car is " +
			"stolen.\nThe meeting is on Monday or Tuesday.\nMax speed: 120 km/h.\nTODO: ask " +
			"whether the visa is valid until June.\nThe flight lands at 10:05 pm.\nIn my " +
			"dream, I flew to Mars."},
		{Path: "b.md", Heading: "Lyra", Text: "> Mara wrote: ship on Friday.\n\nI wrote back: ship on " +
			"Monday.\n\nTemperature: 37.5 °C.\n\n**Do** _not_ touch the red wire.\n\nSee [the *setup* " +
			"guide](setup.md) for the port: 8080.\n\nKey results:\n  - Revenue grew 12%\n  - Costs fell 3 " +
			"%\n\nIt’s Ana’s birthday on the 4th of July.\n\nThe password is `hunter2`.\n\nLong line one " +
			"that\nwraps over two lines.\n\n<!-- the budget is 900 € -->\n\n[[Projects/Lyra|Lyra]] " +
			"starts in May.\n\n2024-03-01: planted 3 trees.\n\nUmlaute: Grüße aus Köln.\nDie Straße " +
			"ist gesperrt.\n我的电话号码是 555 1234。\n"},
	}
	for i := range notes {
		notes[i].Line, notes[i].EndLine = 1, 1+strings.Count(strings.TrimRight(notes[i].Text, "\n"), "\n")
	}
	return numbered(notes...)
}

// Quotations that are cut to say the opposite or put into a frame that adds something,
// changed numbers and units, mixed rows of a table, truncated code.
func TestAlteredQuotationIsNeverVerified(t *testing.T) {
	for _, answer := range []string{
		"The rent is 1,250 € a month [1].", "The rent is 1250.50 $ a month [1].", "The rent is 12,505 € a month [1].",
		"Bob is wrong about the roof [1].",
		"The landlord fixed the roof by May [1].", "The landlord promised to fix the roof by May [1].",
		"Drill 30 € [1].", "The drill costs 30 € [1].", "“Drill | 30 €” [1]",
		"“Saw 45 €” [1]", "You called the plumber [1].", "Call the plumber is done [1].", "Unpaid: the deposit [1].",
		"“Open the valve Close the tap HEAD” [1]", "Close the valve [1].", "git reset --hard HEAD~2 [1]",
		"`git reset --hard HEAD` [1]", "“rm -rf /” [1]", "“rm -rf build” [1]",
		"The boiler was replaced in 2019 [1].", "The new boiler was replaced in 2019 [1].",
		"Address: Elm Street 5 [1].", "The doctor found diabetes [1].",
		"You chose Porto [1].", "You considered Lisbon [1].", "The flight costs 300 € [1].",
		"The shop closes at six [1].", "The car is stolen [1].",
		"The meeting is on Monday [1].", "The meeting is on Tuesday [1].", "Max speed: 120 mph [1].",
		"Min speed: 120 km/h [1].", "The visa is valid until June [1].",
		"The flight lands at 10:05 am [1].", "You flew to Mars [1].", "Temperature: 37,5 °F [2].",
		"Temperature: 375 °C [2].", "Touch the red wire [2].", "“Do touch the red wire” [2]", "port: 80 [2]",
		"Revenue fell 12% [2].", "Costs grew 3 % [2].",
		"Revenue grew 3 % [2].", "Ana's birthday on the 5th of July [2].", "The password is hunter3 [2].",
		"Lyra ends in May [2].", "2024-03-01: planted 30 trees [2].",
		"2024-01-03: planted 3 trees [2].", "Die Strasse ist nicht gesperrt [2].", "你的电话号码是 555 1243 [2]。",

		"The old boiler was replaced in 2019 by Siemens [1].", "According to your notes the car is stolen [1].",
		"“the visa is valid until June” [1]",
		"“Porto” [1] is what you chose.",
	} {
		for _, c := range Check(answer, everyday(), nil) {
			if plain(c) {
				t.Errorf("%q is verified", answer)
			}
		}
	}
}

func TestSpellingDifferencesAreIgnored(t *testing.T) {
	for _, answer := range []string{
		"The rent is 1250.50 € a month [1].", "The rent is 1,250.50€ a month [1].",
		"The rent is €1,250.50 a month [1].", "| Drill | 45 € | [1]", "Drill: 45 € [1]",
		"“Drill | 45 €” [1]", "- **Drill** – 45 € [1]", "The old boiler was replaced in 2019. [1]",
		"* The old boiler was replaced in 2019 [1]",
		"> The old boiler was replaced in 2019. [1]", "`git reset --hard HEAD~1` [1]", "“git reset --hard HEAD~1” [1]",
		"Revenue grew 12 % [2].", "Costs fell 3% [2].",
		"It's Ana's birthday on the 4th of July [2].", "“It's Ana's birthday” [2]", "The password is \"hunter2\" [2].",
		"The password is hunter2 [2].",
		"Long line one that wraps over two lines [2].", "“Long line one that wraps over two lines.” [2]",
		"Lyra starts in May [2].", "[Lyra](lyra.md) starts in May [2].",
		"Grüße aus Köln [2].", "你的电话号码是 555 1234 [2]。", "你的电话号码是555 1234[2]。", "Do not touch the red wire [2].",
		"Temperature: 37.5°C [2].", "The temperature: 37.5 °C [2]",
		"See the setup guide for the port: 8080 [2].", "The doctor ruled out diabetes [1].",
		"‘The doctor ruled out diabetes’ [1]",
		"“The doctor ruled out diabetes,” your note says [1].", "1. Open the valve [1]\n2. Close the tap [1]",
		"We considered Porto; we chose Lisbon [1].",
		"You considered Porto; you chose Lisbon [1].", "You chose Lisbon [1].", "Max speed: 120 km/h [1].",
		"Mara wrote: ship on Friday [2].",
		"2024-03-01: planted 3 trees [2].", "The flight lands at 10:05 pm [1].",
		"“The rent is 1\u202f250.50 € a month” [1]",
	} {
		got := Check(answer, everyday(), nil)
		quotes := strings.ContainsAny(answer, "“‘\">")
		if len(got) == 0 || got[0].Verdict == agent.NotFound || quotes && got[0].Verdict != agent.Verified {
			t.Errorf("%q is %+v", answer, got)
		}
	}
}
