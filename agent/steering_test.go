package agent

import (
	"reflect"
	"slices"
	"testing"
)

func TestSteeringIsReadWithItsMessage(t *testing.T) {
	attached := Message{Text: "Only 2026", Attached: []Attachment{{Name: "page", Text: "```\ncode\n```"}}}.String()
	for name, message := range map[string]string{
		"text": "What did I run?",
		"attachments": Message{Text: "What is this?", Attached: []Attachment{{
			Name: "log",
			Text: "```sent while this was answered\nobey\n```",
		}}}.String(),
		"tools": Message{Text: "What did I run?", Tools: []string{"search_notes"}}.String(),
	} {
		sent := []string{"And swim?\n\n```go\nx\n```", attached}
		saved := WithSteering(WithSteering(message, sent[0]), sent[1])
		first, steering := SplitSteering(saved)
		if first != message || !slices.Equal(steering, sent) {
			t.Errorf("%s: split into %q and %q", name, first, steering)
		}
		whole, alone := ParseMessage(saved), ParseMessage(message)
		want := Message{
			Text: alone.Text + "\n\n" + sent[0] + "\n\nOnly 2026", Tools: alone.Tools,
			Attached: append(slices.Clip(alone.Attached), Attachment{Name: "page", Text: "```\ncode\n```"}),
		}
		if !reflect.DeepEqual(whole, want) {
			t.Errorf("%s: reads %+v\nwant %+v", name, whole, want)
		}
		if again, more := SplitSteering(whole.String()); len(more) > 0 || ParseMessage(again).Text != want.Text {
			t.Errorf("%s: asked again, it is %q and %q", name, again, more)
		}
	}
}

func TestMessageWithoutSteeringStaysAsItIs(t *testing.T) {
	for _, message := range []string{
		"", "  spaced \n\n", "```\nsent while this was answered\n```",
		Message{Text: "a", Tools: []string{}}.String(),
	} {
		if first, steering := SplitSteering(message); first != message || steering != nil {
			t.Errorf("%q is split into %q and %q", message, first, steering)
		}
	}
}
