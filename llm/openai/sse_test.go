package openai

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"lifehub/llm"
)

func events(r io.Reader) (got []string, err error) {
	err = readEvents(r, func(_ string, data []byte) error {
		got = append(got, string(data))
		return nil
	})
	return got, err
}

func TestServerSentEventsOfRealServersAreParsed(t *testing.T) {
	for name, c := range map[string]struct {
		stream string
		want   []string
	}{
		"the usual way":             {"data: {\"a\":1}\n\ndata: [DONE]\n\n", []string{`{"a":1}`, "[DONE]"}},
		"without a space":           {"data:{\"a\":1}\n\n", []string{`{"a":1}`}},
		"carriage returns":          {"data: {\"a\":1}\r\n\r\ndata: [DONE]\r\n\r\n", []string{`{"a":1}`, "[DONE]"}},
		"comments and other fields": {": ping\n\nevent: x\nid: 7\ndata: {\"a\":1}\nretry: 10\n\n", []string{`{"a":1}`}},
		"without empty lines": {
			"data: {\"a\":1}\ndata: {\"a\":2}\ndata: [DONE]\n",
			[]string{`{"a":1}`, `{"a":2}`, "[DONE]"},
		},
		"a last one without end": {"data: {\"a\":1}", []string{`{"a":1}`}},
		"data without a value":   {"data\n\ndata:\n\ndata: {\"a\":1}\ndata\n\n", []string{`{"a":1}`}},
		"an event with a name":   {"event: error\ndata: no\n\ndata: {\"a\":1}\n\n", []string{"no", `{"a":1}`}},
		"a name without data":    {"event: error\n\ndata: {\"a\":1}\n\n", []string{`{"a":1}`}},
		"only carriage returns":  {"data: {\"a\":1}\r\rdata: [DONE]\r\r", []string{`{"a":1}`, "[DONE]"}},
		"in several lines": {
			"data: {\ndata:   \"a\":\ndata: 1}\n\ndata: {\"a\":2}\n\n",
			[]string{"{\n\"a\":\n1}", `{"a":2}`},
		},
		"in several lines, CR LF, with a comment between": {
			"data: {\"a\":\r\n: ping\r\ndata: [1,\r\ndata: {}]}\r\n\r\n", []string{"{\"a\":\n[1,\n{}]}"},
		},
		"in several lines, at the end": {"data: {\"a\":\ndata: 1}", []string{"{\"a\":\n1}"}},
		"text before JSON, without empty lines": {
			"data: : OPENROUTER PROCESSING\ndata: {\"a\":1}", []string{": OPENROUTER PROCESSING", `{"a":1}`},
		},
		"half of one": {"data: {\"a\":1}\n\ndata: {\"a\":", []string{`{"a":1}`, `{"a":`}},
		"nothing":     {"", nil},
	} {
		t.Run(name, func(t *testing.T) {
			for _, r := range []io.Reader{
				strings.NewReader(c.stream),
				iotest.OneByteReader(strings.NewReader(c.stream)),
			} {
				if got, err := events(r); err != nil || !slices.Equal(got, c.want) {
					t.Errorf("got %q, %v", got, err)
				}
			}
		})
	}
}

func TestOverlongLineEndsTheStream(t *testing.T) {
	if _, err := events(strings.NewReader("data: " + strings.Repeat("x", maxLine+1) + "\n\n")); !errors.Is(err,
		errLongLine) {
		t.Errorf("got %v", err)
	}
}

// FuzzEvents checks that reading any response terminates, and that an answer has
// at most one end, with no tool call before it.
func FuzzEvents(f *testing.F) {
	f.Add([]byte("data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\ndata: [DONE]\n\n"))
	f.Add([]byte("data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"1\",\"function\":{\"name\":\"x\",\"arguments\":\"{\"}}]}}]}\n\ndata: [DONE]"))
	f.Add([]byte("data: {\"error\":\"no\"}\n\n: x\ndata:\n\n"))
	f.Fuzz(func(t *testing.T, stream []byte) {
		ends := 0
		a := &chatAnswer{emit: func(d llm.Delta) error {
			if ends > 0 {
				t.Fatalf("%+v after the end", d)
			}
			if d.Usage != nil {
				ends++
				return llm.ErrStopped
			}
			return nil
		}}
		_ = readEvents(bytes.NewReader(stream), a.event)
	})
}

func BenchmarkStreamedAnswer(b *testing.B) {
	const tokens = 1000
	answer := strings.Repeat("data: {\"choices\":[{\"delta\":{\"content\":\"word \"}}]}\n\n", tokens) +
		"data: [DONE]\n\n"
	for b.Loop() {
		a := &chatAnswer{emit: func(llm.Delta) error { return nil }}
		if err := readEvents(strings.NewReader(answer), a.event); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/tokens, "µs/token")
}

func TestOnlyTextOfContentIsRead(t *testing.T) {
	for raw, want := range map[string]string{
		`"a"`: "a", `null`: "", `7`: "",
		`[{"type":"text","text":"a"},{"type":"output_text","text":"b"},{"text":"c"}]`: "abc",
		`[{"type":"reasoning","text":"a thought"},{"type":"text","text":"a"}]`:        "a",
	} {
		var text chatText
		if err := json.Unmarshal([]byte(raw), &text); err != nil || string(text) != want {
			t.Errorf("%s is read as %q, %v", raw, text, err)
		}
	}
}
