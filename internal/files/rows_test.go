package files

import (
	"context"
	"database/sql"
	"slices"
	"strings"
	"testing"
	"time"

	_ "modernc.org/sqlite"
)

func TestScanReturnsErrorsOfTheQuery(t *testing.T) {
	db, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	for name, c := range map[string]struct {
		ctx   context.Context
		query string
		want  string // the rows, then the error
	}{
		"rows":             {t.Context(), "SELECT value FROM json_each('[1,2]')", "1 2 "},
		"none":             {t.Context(), "SELECT 1 WHERE false", ""},
		"an invalid query": {t.Context(), "SELECT missing", "no such column"},
		"a failing row": {
			t.Context(), "SELECT 1 UNION ALL SELECT abs(-9223372036854775808)",
			"1 integer overflow",
		},
		"a cancelled context": {gone, "SELECT 1", "canceled"},
	} {
		got := ""
		for scan := range Rows(c.ctx, db, c.query) {
			var value string
			if err := scan(&value); err != nil {
				got += err.Error()
				break
			}
			got += value + " "
		}
		if c.want == "" && got != "" || !strings.Contains(got, strings.TrimPrefix(c.want, "1 ")) ||
			strings.HasPrefix(c.want, "1 ") && !strings.HasPrefix(got, "1 ") {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	for scan := range Rows(t.Context(), db, "SELECT value FROM json_each('[1,2]')") {
		var value int
		if err := scan(&value); err != nil || value != 1 {
			t.Errorf("%d, %v", value, err)
		}
		break // returns the connection to the pool
	}
	db.SetMaxOpenConns(1)
	if err := db.PingContext(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestAllReturnsAllRowsOrNone(t *testing.T) {
	db, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if got, err := Column[int](t.Context(), db, "SELECT value FROM json_each('[1,2]')"); err != nil ||
		!slices.Equal(got, []int{1, 2}) {
		t.Errorf("%v, %v", got, err)
	}
	read := func(scan Scan) (at time.Time, err error) { return at, scan(Milliseconds(&at)) }
	if got, err := AllRows(t.Context(), db, read, "SELECT 86400001"); err != nil || len(got) != 1 ||
		!got[0].Equal(time.UnixMilli(86400001)) {
		t.Errorf("%v, %v", got, err)
	}
	if got, err := AllRows(t.Context(), db, read, "SELECT 1 UNION ALL SELECT 'noon'"); err == nil || got != nil {
		t.Errorf("a time that is none: %v, %v", got, err)
	}
}
