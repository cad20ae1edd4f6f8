package tools

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"lifehub/agent"
	"lifehub/notes"
)

// valuePairs are two values that cannot both be right.
var valuePairs = [][2]string{
	{"1.5 bar", "2 bar"},
	{"2026-03-14", "15 March 2026"},
	{"yes", "no"},
	{"1,5 bar", "2,25 bar"},
	{"14.3.2026", "15. März 2026"},
	{"ja", "nein"},
	{"€1,200", "1.300 €"},
	{"March 2026", "2026-04-02"},
	{"true", "Nein"},
	{"-5 °C", "5 °C"},
}

// places put two values of one key of one thing into the notes, @N being its name. They are @A and @B.
var places = map[string]map[string]string{
	"front matter of two notes": {
		"@n.md":       "---\ntitle: @N\nlimit: @A\n---\n",
		"@n-notes.md": "---\ncreated: 2026-01-02\ntitle: @N\nLimit: \"@B\"\n---\n",
	},
	"front matter and text": {"@n.md": "---\nlimit: @A\n---\n# @N\n\nSome words.\n\n- Limit: @B\n"},
	"lists of two notes": {
		"@n.md":           "# @N\n\n## Setup\n\n- limit: @A\n",
		"sub/@n guide.md": "# @N\n\nMore of it.\n\n## Setup\n\n* **Limit:** @B\n",
	},
	"properties": {"@n.md": "limit:: @A\n", "@n list.md": "# @N\n\n- size: 3\n- limit:: @B\n"},
	"tables of two notes": {
		"@n.md":      "# @N\n\n| part | limit |\n| --- | ---: |\n| valve | @A |\n",
		"@n more.md": "# @N\n\nthe part | other | limit\n--- | --- | ---\n**Valve** | x | @B\n",
	},
	"a table and a list of one note": {"@n.md": "# @N\n\n| part | limit |\n|---|---|\n| valve | @A |\n\nLater I " +
		"wrote it down again.\n\n- valve\n  - limit: @B\n"},
	"a table and a list": {
		"@n.md":     "# @N\n\n| part | limit |\n|---|---|\n| Valve | `@A` |\n",
		"all @n.md": "# @N\n\n## Valve\n\n- limit: @B\n",
	},
	"nested lists": {
		"@n.md":   "# @N\n\n- Valve\n  - limit: @A\n",
		"@n b.md": "# @N\n\n- valve:\n\t- size: 4\n\t- limit: @B\n",
	},
	"a heading that comes twice": {"@n.md": "# @N\n\n## Valve\n\n1. limit: @A\n2. size: 3\n\n## " +
		"Winter\n\nCold.\n\n## Valve\n\nlimit: @B\n"},
	"notes of one day": {
		"@n.md":   "---\ndate: 2026-05-01\n---\n# @N\n\n- limit: @A\n",
		"@n b.md": "---\ndate: 2026-05-01\nsource: https://a.example\n---\n# @N\n\n- limit: @B\n",
	},
}

// agreeing are pairs of values of one key that do not contradict each other: as written differently, of other
// units, or not compared.
var agreeing = [][2]string{
	{"1,000", "1000"},
	{"1.000", "1000"},
	{"1,5", "1.5"},
	{"1.000", "1"},
	{"2", "2.0"},
	{"1 000 km", "1000 km"},
	{"1’000", "1000"},
	{"1\u202f000", "1000"},
	{"1.234,50 €", "1,234.5 €"},
	{"€50", "50 €"},
	{"50%", "50 %"},
	{"-5", "−5"},
	{"+5", "5"},
	{"007", "7"},
	{"2 bar.", "2 bar"},
	{"1.500", "1.5"},
	{"2026-03-14", "14.3.2026"},
	{"14 March 2026", "14. März 2026"},
	{"March 14, 2026", "[[2026-03-14]]"},
	{"March 2026", "14 March 2026"},
	{"03/04/2026", "2026-04-03"},
	{"03/04/2026", "2026-03-04"},
	{"14.3.", "14.03."},
	{"14.03", "14.3"},
	{"Sat, 14 March 2026", "2026-03-14"},
	{"2026/03/14", "14.03.2026"},
	{"2026", "2026-03-14"},
	{"14.03.26", "2026-03-14"},
	{"yes", "true"},
	{"ja", "yes"},
	{"Nein", "no"},
	{"yes", "mostly no"},
	{"no", "no longer, yes"},
	{"ja", "nein, aber bald"},
	{"yes", "no?"},
	{"1.5 bar", "1500 mbar"},
	{"5 EUR", "6 USD"},
	{"5 km", "6"},
	{"5 mW", "6 MW"},
	{"7 am", "8 pm"},
	{"$5", "€6"},
	{"100 g", "0.2 kg"},
	{"5 km", "6 km/h"},
	{"1 m", "2 m²"},
	{"5-8 km", "9 km"},
	{"5–8", "9–12"},
	{"5 bis 8", "9"},
	{"ca. 5 km", "6 km"},
	{"~5", "6"},
	{"> 5", "4"},
	{"≥5", "4"},
	{"at least 5", "6"},
	{"mindestens 5", "6"},
	{"1.5 bar (cold)", "2 bar (hot)"},
	{"5 or 6", "7"},
	{"3 x 4 m", "3 x 5 m"},
	{"2 bar?", "3 bar"},
	{"1, 2", "1, 3"},
	{"[1, 2]", "[1, 3]"},
	{"5 of 8", "6 of 8"},
	{"½", "1"},
	{"030 1234", "030 5678"},
	{"192.168.1.5", "192.168.1.6"},
	{"1.2.3", "1.2.4"},
	{"9:30", "10:30"},
	{"978-3-16", "978-3-17"},
	{"#5", "#6"},
	{"5 & 6", "7"},
	{"~~5~~ 6", "5"},
	{"5 ± 1", "6"},
	{"5 left", "6 right"},
	{"red", "blue"},
	{"5th", "6th of May"},
	{"1e3", "2e3"},
	{"9.30 Uhr", "10:00 Uhr"},
	{"2026-03-14 10:00", "2026-03-15 10:00"},
	{"2026-03-14 – 2026-03-20", "2026-03-15"},
}

// decoys are notes with values that are not of the same thing, of another time, or not stated.
var decoys = []map[string]string{
	{
		"pump.md": "# Pump\n\n## Settings\n\n- limit: 1 bar\n", "fan.md": "# Fan\n\n## Settings\n\n- limit: 2 bar\n",
		"settings.md": "# Settings\n\n- limit: 3 bar\n",
	},
	{"flat.md": "# Flat\n\n## Kitchen\n\n### Window\n\n- width: 1 m\n\n## Bath\n\n### Window\n\n- width: 2 m\n"},
	{"costs.md": "# Costs\n\n## Plan\n\n| item | cost |\n|---|---|\n| Roof | 500 € |\n| Total | 500 € |\n\n## " +
		"Actual\n\n| item | cost |\n|---|---|\n| Roof | 700 € |\n| Total | 700 € |\n"},
	{"rooms.md": "# Rooms\n\nKitchen:\n\n- width: 3 m\n\n**Bath**\n\n- width: 2 m\n\nFlur:\n| part | size " +
		"|\n|---|---|\n| door | 1 m |\n\nDiele\n\n| part | size |\n|---|---|\n| door | 2 m |\n"},
	{"zimmer.md": "# Zimmer\n\n- Küche\n  - Breite: 3 m\n- Bad\n  - Breite: 2 m\n- Flur:\n\n  - Breite: 4 m\n"},
	{
		"apps/a/README.md": "- port: 80\n- live: yes\n", "apps/b/README.md": "- port: 81\n- live: no\n",
		"README.md": "- port: 82\n",
	},
	{
		"clients/acme/contract.md": "# Contract\n\n- rate: 80 €\n",
		"clients/zeta/contract.md": "# Contract\n\n- rate: 90 €\n",
	},
	{
		"clients/acme/acme-terms.md": "# Terms\n\n- rate: 80 €\n",
		"clients/zeta/zeta-terms.md": "# Terms\n\n- rate: 90 €\n",
	},
	{"acme.md": "# Überblick\n\n- Satz: 80 €\n", "zeta.md": "# Überblick\n\n- Satz: 90 €\n"},
	{
		"money/budget-2025.md": "# Budget\n\n- rent: 700 €\n", "money/budget-2026.md": "# Budget\n\n- rent: 750 €\n",
		"money/budget.md": "# Budget\n\n- rent: 760 €\n",
	},
	{
		"2025/steuer.md": "# Steuer\n\n- Satz: 20 %\n", "2026/steuer plan.md": "# Steuer\n\n- Satz: 21 %\n",
		"steuer alt.md": "# Steuer Plan\n\n- Satz: 22 %\n",
	},
	{"people.md": "# People\n\n- name: Anna\n- age: 30\n- name: Bert\n- age: 28\n\nname: Cleo\nage: 31\n\nname: " +
		"Dora\nage: 32\n"},
	{"spent.md": "# Spent\n\n| item | price |\n|---|---|\n| Milk | 2 € |\n| Milk | 3 € |\n| Bread | 4 € |\n"},
	{"rank.md": "# Rank\n\n| # | points |\n|---|---|\n| 1 | 30 |\n\nThe second round.\n\n| # | points " +
		"|\n|---|---|\n| 1 | 40 |\n"},
	{"sessions.md": "# Sessions\n\n## Run\n\n- distance: 5 km\n\n## Run\n\n- distance: 8 km\n\n## Run\n\n" +
		"- distance: 9 km\n"},
	{"books.md": "# Books\n\n## Book\n\n- author: Lem\n- pages: 200\n\n## Book\n\n- author: Eco\n- pages: 300\n"},
	{
		"cakes.md":    "---\nauthor: Oma\n---\n# Cake\n\n- flour: 500 g\n",
		"cake two.md": "---\nauthor: Jamie\n---\n# Cake\n\n- flour: 400 g\n",
	},
	{"meters.md": "# Meters\n\n- phone: 5\n- phone: 6\n"},
	{
		"daily/2026-01-02.md": "# Weight\n\n- weight: 72 kg\n", "daily/2026-01-03.md": "# Weight\n\n- weight: 73 kg\n",
		"weight.md": "# Weight\n\n- weight: 74 kg\n",
	},
	{"week/2026-W11.md": "# Week\n\n- runs: 3\n", "week/2026-W12.md": "# Week\n\n- runs: 4\n"},
	{"gewicht.md": "# Gewicht\n\n- 2026-01-02 Gewicht: 72 kg\n- 2026-01-03 Gewicht: 73 kg\n\n## 3. Oktober 2025\n\n- " +
		"Gewicht: 74 kg\n\n## 4. Oktober 2025\n\n- Gewicht: 75 kg\n"},
	{"puls.md": "# Puls\n\n- Puls: 60\n\n2026-01-02\n\n- Puls: 61\n\n2026-01-03\n\n- Puls: 62\n\n- 2026-01-04\n  - " +
		"Puls: 63\n- 5.1.2026\n  - Puls: 64\n"},
	{"rides.md": "# Rides\n\n| date | km |\n|---|---|\n| 2026-01-02 | 5 |\n\nMore:\n\n| date | km |\n|---|---|\n| " +
		"2026-01-02 | 6 |\n"},
	{"service.md": "# Service\n\n| part | day | km |\n|---|---|---|\n| chain | 2026-01-02 | 500 |\n\nThen " +
		"again.\n\n| part | day | km |\n|---|---|---|\n| chain | 2026-03-02 | 900 |\n"},
	{
		"meet a.md": "---\ntitle: Meeting\ndate: 2026-01-02\n---\n- people: 5\n",
		"meet b.md": "---\ntitle: Meeting\ndate: 2026-02-02\n---\n- people: 6\n",
	},
	{
		"stock.md": "---\ntitle: Stock\ncreated: 2026-01-02\nupdated: 2026-02-02\nid: 5\norder: 1\ndraft: true\n---\n",
		"stock b.md": "---\ntitle: Stock\ncreated: 2026-01-03\nupdated: 2026-02-03\nid: 6\norder: 2\ndraft: " +
			"false\n---\n- Stand: 2026-05-05\n",
	},
	{
		"stand.md":  "# Tank\n\n- Stand: 2026-05-05\n- full: yes\n",
		"tank b.md": "# Tank\n\n- Stand: 2026-06-05\n- full: no\n",
	},
	{
		"struck.md": "# Hose\n\n- ~~length: 5 m~~\n- > length: 6 m\n\n> length: 7 m\n\n<!--\nlength: 8 m\n-->\n\n%% " +
			"length: 9 m %%\n\n```yaml\nlength: 10 m\n```\n\n    length: 11 m\n\n- [ ] length: 12 m\n- TODO length: 13 m\n",
		"hose b.md": "# Hose\n\n- length: 14 m\n",
	},
	{
		"rejected.md": "# Rope\n\n- length: 5 m\n\n## Rejected\n\n- length: 6 m\n",
		"rope b.md":   "# Rope\n\n## Rejected\n\n- length: 7 m\n\n## Entwurf\n\n- length: 8 m\n",
		"rope c.md":   "# Rope\n\n## Entwurf\n\n- length: 9 m\n",
	},
	{
		"oven.sync-conflict-20260101-120000-ABCDEFG.md": "# Oven\n\n- heat: 200 °C\n",
		"oven.md": "# Oven\n\n- heat: 220 °C\n",
	},
	{
		"chat.md":    "---\nlifehub: conversation\n---\n# Stove\n\n- heat: 200 °C\n",
		"stove b.md": "# Stove\n\n- heat: 220 °C\n",
	},
	{
		"keys.md":   "# Keys\n\n- pressure (hot): 3\n- pressure (cold): 2\n- https://a.example: 5\n- 10:30: 5\n",
		"keys b.md": "# Keys\n\n- pressure (mild): 4\n- https://a.example: 6\n- 10:30: 6\n",
	},
	{"tables.md": "# Tables\n\n| a \\| b | limit |\n|---|---|\n| one \\| two | 5 |\n| short |\n\n" +
		"Not a table: | one | 6 |\n\n| part | min | max |\n|---|---|---|\n| tap | 5 | 6 |\n"},
	{"one tap.md": "# Tap one\n\n- limit: 5\n", "Tap.md": "# Tap two\n\n- limit: 6\n"},
	{"Untitled.md": "- limit: 5\n", "Untitled 1.md": "# Untitled\n\n- limit: 6\n"},
	{"v1/api.md": "# API\n\n- calls: 5\n", "v2/api new.md": "# API\n\n- calls: 6\n"},
	{"pumps.md": "# Pumps\n\nI had two.\n\n- flow: 5 l\n\nThe second one was better.\n\n- flow: 7 l\n"},
	{"bath.md": "# Bath\n\n| part | width |\n|---|---|\n| tile | 5 cm |\n\nFor the floor I measured these.\n\n| part " +
		"| width |\n|---|---|\n| tile | 9 cm |\n"},
	{"gym.md": "# Gym\n\n## Set\n\n- weight: 50 kg\n\n## Set\n\n- weight: 60 kg\n"},
	{
		"clips/tariff.md":   "---\nsource: https://a.example\n---\n# Tariff\n\n- price: 5 €\n",
		"clips/tariff b.md": "---\nsource: https://b.example\n---\n# Tariff\n\n- price: 6 €\n",
	},
	{"2026-03 trip.md": "# Trip\n\n- nights: 5\n", "2026-03 trip b.md": "# Trip\n\n- nights: 6\n"},
	{"line.md": "# Line\n\nOld\n---\n\n- speed: 5\n\nNew\n===\n\n- speed: 6\n\n***\n\n![[speed.png]]\n"},
	{"box.md": "# Box\n\n- small\n\n  | part | size |\n  |---|---|\n  | lid | 5 |\n\n- large\n\n  | part | size |\n  " +
		"|---|---|\n  | lid | 6 |\n"},
	{"roof.md": "# Roof\n\n| part | year | cost |\n|---|---|---|\n| beam | 2024 | 500 |\n\n- Jahr: 2024\n" +
		"- Kosten: 500\n", "roof b.md": "# Roof\n\n| part | year | cost |\n|---|---|---|\n| beam | 2025 | 600 |\n\n" +
		"- Jahr: 2025\n- Kosten: 600\n"},
	{"wall.md": "# Wall\n\n- Datum: 2026-01-02\n- cracks: 5\n\n| part | side | size |\n|---|---|---|\n| gap | north " +
		"| 5 cm |\n", "wall b.md": "# Wall\n\n- Datum: 2026-02-02\n- cracks: 6\n\n| part | side | size " +
		"|\n|---|---|---|\n| gap | south | 6 cm |\n"},
	{
		"well.md":   "# Well\n\nMeasured on 2026-01-03.\n\n- depth: 5 m\n",
		"well b.md": "# Well\n\nMeasured on 4.2.2026.\n\n- depth: 6 m\n",
	},
	{"yaml.md": "---\nfirst:\n  speed: 5\nsecond:\n  speed: 6\n---\n# Yaml\n\nspeed: 7\n---\n\nspeed: 8\n"},
	{"cards.md": "# Cards\n\nQ: 5\nA: 6\n\nQ: 7\nA: 8\n"},
	{"prices.md": "# Prices\n\n- Milk\n  - price: 1 €\n\n1. Milk\n   - price: 2 €\n   - price: 3 €\n"},
	{"trip/day one.md": "# Plan\n\n- start: 9\n", "trip/day two.md": "# Plan\n\n- start: 10\n"},
	{"team.md": "# Team\n\n- seats: 5\n\nAb März:\n\n- seats: 6\n\n### 2027\n\n- seats: 7\n\n### 2028\n\n- seats: 8\n"},
}

// In 200 notes, each planted contradiction is found, quoted twice, and nothing else.
func TestContradictionsAreFoundAndNothingElse(t *testing.T) {
	files, want := map[string]string{}, []string{}
	name := func(i int) string { // without digits
		return string([]byte{
			"bdfgklmnprstvz"[i%14], "aeiou"[i/14%5], "bdfgklmnprstvz"[(i/14+3*i)%14],
			"aeiou"[i%5], 'x', byte('a' + i%26),
		})
	}
	i := 0
	for _, kind := range sortedKeys(places) {
		for range 3 {
			values, thing := valuePairs[i%len(valuePairs)], name(i)
			var ends [2]string
			for file, text := range places[kind] {
				file = strings.ReplaceAll(file, "@n", thing)
				for i, line := range strings.Split(text, "\n") {
					for at, mark := range []string{"@A", "@B"} {
						if strings.Contains(line, mark) {
							ends[at] = agent.PlaceName(file, i+1)
						}
					}
				}
				files[file] = strings.NewReplacer("@A", values[0], "@B", values[1], "@N",
					strings.ToUpper(thing[:1])+thing[1:]).Replace(text)
			}
			slices.Sort(ends[:])
			want = append(want, strings.Join(ends[:], " "))
			i++
		}
	}
	for _, pair := range agreeing {
		thing := name(i)
		i++
		files[thing+".md"] = "---\nsize: " + pair[1] + "\n---\n# " + thing + "\n\n- limit: " + pair[0] +
			"\n- Size: " + pair[0] + "\n"
		if i%2 == 0 {
			files[thing+" b.md"] = "# " + thing + "\n\n| " +
				"part | limit |\n|---|---|\n| lid | 5 |\n\nlimit:: " + pair[1] + "\n"
		}
	}
	for _, decoy := range decoys {
		for file, text := range decoy {
			if _, twice := files[file]; twice {
				t.Fatalf("%s is there twice", file)
			}
			files[file] = text
		}
	}
	for i := len(files); i < 200; i++ {
		files[fmt.Sprintf("more/note %d.md", i)] = fmt.Sprintf("# Note %d\n\nWords about number %d.\n\n- limit: %d\n",
			i, i, i)
	}
	b := work(t, files)
	found, _, err := Contradictions(t.Context(), b.Folders, "")
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d pairs that agree, %d notes with others, %d notes, %d contradictions planted, %d found", len(agreeing),
		len(decoys), len(files), len(want), len(found))
	var got []string
	for _, c := range found {
		ends := []string{
			agent.PlaceName(c.Sides[0].Path, c.Sides[0].Line),
			agent.PlaceName(c.Sides[1].Path, c.Sides[1].Line),
		}
		slices.Sort(ends)
		got = append(got, strings.Join(ends, " "))
		for _, s := range c.Sides {
			if line := strings.Split(files[s.Path], "\n")[s.Line-1]; !strings.Contains(line, s.Text) || s.Text == "" {
				t.Errorf("%q is no quotation of %q", s.Text, line)
			}
			if s.Untrusted != strings.Contains(files[s.Path], "source:") {
				t.Errorf("%s is untrusted: %v", s.Path, s.Untrusted)
			}
		}
	}
	for _, pair := range got {
		if !slices.Contains(want, pair) {
			t.Errorf("claimed, but no contradiction: %s", pair)
		}
	}
	for _, pair := range want {
		if n := len(slices.DeleteFunc(slices.Clone(got), func(other string) bool { return other != pair })); n != 1 {
			t.Errorf("planted, and found %d times: %s", n, pair)
		}
	}
}

func sortedKeys[V any](m map[string]V) (keys []string) {
	for key := range m {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

// Any text is read without a panic, no value contradicts itself, and contradicting is mutual.
func TestAnyTextIsReadForItsValues(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SampledFrom([]string{
			"limit", ": ", ":: ", "- ", "| ", " |", "\n", "|---|", "---", "# ", "5",
			"1,000", ".", "−", "€", " km", "2026-03-14", "  ", "\t", "```", "> ", "ja", "**", "x", "\\|", "\u202f",
		})
		text := strings.Join(rapid.SliceOfN(words, 0, 40).Draw(t, "text"), "")
		for _, s := range statements(place{}, "n.md", notes.Parse(notes.Entry{Path: "n.md"}, []byte(text))) {
			if s.line < 1 || s.line > 1+strings.Count(text, "\n") || s.key == "" {
				t.Fatalf("%q in line %d", s.key, s.line)
			}
		}
		a, b := readValue(strings.Join(rapid.SliceOfN(words, 0, 5).Draw(t, "a"), "")),
			readValue(strings.Join(rapid.SliceOfN(words, 0, 5).Draw(t, "b"), ""))
		if a.contradicts(a) || a.contradicts(b) != b.contradicts(a) {
			t.Fatalf("%+v and %+v", a, b)
		}
	})
}

// An answer without a find names what it is about only if something was asked about.
func TestNoContradictionIsSaidOfWhatWasAsked(t *testing.T) {
	for _, compared := range []int{0, 7} {
		with, without := ContradictionsText("boiler", nil, compared), ContradictionsText(" ", nil, compared)
		if !strings.Contains(with, " about that ") || without != strings.Replace(with, " about that", "", 1) {
			t.Errorf("with words %q, without %q", with, without)
		}
	}
}
