package mcpclient

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"lifehub/agent"
)

func TestPageIsShownByItsHost(t *testing.T) {
	for address, want := range map[string]string{
		"https://bank.example/login?a=b":                 "https://bank.example/login?a=b",
		"https://p\u0430ypal.example/":                   "https://xn--pypal-4ve.example/",
		"https://accounts.google.com@evil.example/login": "",
		"https://accounts.google.com:443@evil.example/":  "",
		`https://accounts.google.com\@evil.example/`:     "",
		"https:evil.example":                             "",
		"javascript:alert(1)":                            "",
	} {
		var shown []string
		s := testServer(func(_ context.Context, q agent.Question) agent.Input {
			shown = append(shown, q.URL)
			return agent.Input{Action: agent.InputAccepted}
		})
		_, end, err := s.clock.limit(t.Context(), time.Hour, nil)
		if err != nil {
			t.Fatal(err)
		}
		var request mcp.ElicitationRequest
		request.Params.Mode, request.Params.URL = mcp.ElicitationModeURL, address
		_, asked := (questions{s}).Elicit(t.Context(), request)
		sent := (questions{s}).sendTo(t.Context(), []mcp.ElicitationParams{{URL: address}})
		if want == "" && (asked == nil || sent == nil || len(shown) > 0) ||
			want != "" && strings.Join(shown, " ") != want+" "+want {
			t.Errorf("%s: shown %q, %v, %v", address, shown, asked, sent)
		}
		end()
	}
}
