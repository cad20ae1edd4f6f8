package tools

import (
	"context"
	"fmt"
	"strings"
	"time"
	_ "time/tzdata" // for machines without a zone database

	"lifehub/agent"
)

type todayArgs struct {
	Zone string `json:"zone,omitempty" description:"such as Asia/Tokyo"`
}

func newToday(now func() time.Time) agent.Tool {
	return agent.NewTool(spec[todayArgs]("today"), agent.Auto,
		func(_ context.Context, args todayArgs) (agent.Result, error) {
			t := now()
			if name := strings.TrimSpace(args.Zone); name != "" {
				zone, err := time.LoadLocation(strings.ReplaceAll(name, " ", "_"))
				if err != nil || name == "Local" {
					return agent.Result{}, fmt.Errorf("unknown time zone %q; name it as Asia/Tokyo or Europe/Berlin",
						name)
				}
				t = t.In(zone)
			}
			year, week := t.ISOWeek()
			text := fmt.Sprintf("%s, %d-W%02d (ISO week), day %d of the year, %s %s",
				t.Format("Monday, 2 January 2006 (2006-01-02)"), year, week, t.YearDay(),
				t.Format("15:04"), zoneName(t))
			return agent.Result{Text: text}, nil
		}, agent.Computes)
}

// zoneName returns the name of a zone and its offset from UTC.
func zoneName(t time.Time) string {
	name, offset := t.Format("MST"), t.Format("UTC-07:00")
	if location := t.Location().String(); location != "Local" && location != name {
		return fmt.Sprintf("%s (%s, %s)", name, location, offset)
	}
	return fmt.Sprintf("%s (%s)", name, offset)
}
