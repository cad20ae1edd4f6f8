package cli

import (
	"testing"

	"lifehub/agent"
	"lifehub/internal/testenv"
)

func TestRefusalNamesAllowFlags(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	got := unaskedError([]agent.PermissionAsked{
		{Name: "crawl", Allow: "crawl url=host:HOST"},
		{Name: "add_task", Allow: "add_task text=VALUE", Untrusted: true},
		{Name: "crawl", Allow: "crawl url=host:HOST"},
		{Name: "send_email", Reason: "send_email asks each time\x1b[2J"},
		{Name: "today", Allow: "today"},
	}).Error()
	want := "add_task, crawl, send_email, today needed permission, and there was nobody to ask; allow it with " +
		"--allow 'crawl url=host:HOST' --allow today" +
		" --allow-untrusted 'add_task text=VALUE'; no flag can allow send_email: send_email asks each time"
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
