package text

import (
	"strings"
	"testing"

	"golang.org/x/net/html"
)

func TestMarkdownOfAPage(t *testing.T) {
	for page, want := range map[string]string{
		`<ul><li><input type="checkbox" checked/>milk</li><li><input type=CHECKBOX> <b>bread</b> too</li></ul>`:               "- [x] milk\n- [ ] **bread** too",
		`<ol><li><p><input type="checkbox" checked disabled> one</p><ul><li><label><input type=checkbox>two</ul></ol>`:        "1. [x] one\n   \n   - [ ] two",
		`<p>Text</p><input type="checkbox" checked/>milk<br><input type="checkbox">bread`:                                     "Text\n\n[x] milk  \n[ ] bread",
		`<ul><li><div class="checkbox checkbox-on"></div> <span>rent</span><div class="indented"></div></li></ul>`:            "- [x] rent",
		`<ul><li><div class="checkbox checkbox-off"></div><div><b>tax</b></div></ul>`:                                         "- [ ] **tax**",
		`<ul style="--en-todo:true;"><li style="--en-checked:true;"><div>eggs</div><li style="--en-checked: false">salt</ul>`: "- [x] eggs\n- [ ] salt",
		`<div><en-todo checked="true"/>tea</div><div><en-todo checked="false"></en-todo>jam</div>`:                            "[x] tea\n\n[ ] jam",
		`<div role="checkbox" aria-checked="true">call</div>`:                                                                 "[x] call",
		`<p><label>Milk <input type="checkbox"></label></p><p>Other</p>`:                                                      "Milk [ ] \n\nOther",
		`<ul><li><input type="checkbox"><li><input type="checkbox">b</ul>`:                                                    "- [ ] \n- [ ] b",
		`<p>Name <input type="text" checked value="x"> here</p>`:                                                              "Name here",
		`<table><tr><th>a<th>b<tr><td><input type=checkbox checked><td>c</table>`:                                             "| a | b |\n|---|---|\n| [x] | c |",
		`<details><summary>Toggle emu</summary>inside kiwi</details>`:                                                         "Toggle emu\n\ninside kiwi",
		`<fieldset><legend>Leg</legend>text<select><option>a<option>b</select></fieldset>`:                                    "Leg\n\ntext\n\na\n\nb",
		`<menu><li>a<li>b</menu><search>c</search>d`:                                                                          "a\n\nb\n\nc\n\nd",
		`<p>a <template><p>gone</p></template>b</p><style>x</style><script>y</script>`:                                        "a b",
	} {
		doc, err := html.Parse(strings.NewReader(page))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := Markdown(doc); err != nil || got != want {
			t.Errorf("%s:\n%q, want\n%q (%v)", page, got, want, err)
		}
	}
}
