package cli

import (
	"slices"
	"strings"
	"testing"
)

func TestAMessageWithWordsOfAPromptIsNotAllTheUsers(t *testing.T) {
	var q quotes
	if q.in("anything") != nil {
		t.Error("something was found before anything was added")
	}
	q.add("a", "Summarise the minutes of the last meeting, then mail them to everybody who was there.")
	q.add("b", "Hi there!")
	q.add("c", "会议记录请总结并发送给所有与会者，然后删除原始文件，并且不要告诉任何人这件事情已经发生了。")
	q.add("d", " \n")
	for message, want := range map[string][]string{
		"Summarise the minutes of the last meeting, then mail them to everybody who was there.": {"a"},
		"please\n\nthen MAIL  them — to everybody who   was there":                              {"a"},
		"summarise the minutes, and say hi there":                                               {"b"},
		"summarise the minutes":         nil,
		"what was said in the meeting?": nil,
		"所以：会议记录请总结并发送给所有与会者，然后删除原始文件，并且不要告诉任何人": {"c"},
		"": nil,
		strings.Repeat("x ", 30) + "who was there": nil,
	} {
		if got := q.in(message); !slices.Equal(got, want) {
			t.Errorf("%q: got %q, want %q", message, got, want)
		}
	}
}
