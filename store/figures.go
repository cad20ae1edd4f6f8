package store

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"lifehub/agent"
	"lifehub/internal/files"
)

// saveFigures saves the figures of a finished turn for aggregation.
func saveFigures(ctx context.Context, tx *sql.Tx, turn string, m agent.Metrics) error {
	_, err := tx.ExecContext(ctx, `INSERT OR REPLACE INTO figures VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		turn, m.Model, m.Latency, m.FirstToken, m.Generating, m.PromptTokens, m.AnswerTokens,
		m.ModelCalls, m.Searches, m.RAGHits, m.Cited, m.ToolCalls, m.ToolsFailed, m.ToolsDenied, m.Asked)
	return err
}

// keys are the SQL expressions by which turns can be grouped. Days are in the
// user's time zone.
var keys = map[string]string{
	"day":   `strftime('%Y-%m-%d', t.started / 1000, 'unixepoch', 'localtime')`,
	"model": `coalesce(f.model, '')`,
	"turn":  `t.id`,
}

// Figures aggregates the turns since a time by "day", "model" or "turn", latest
// first; limit 0 lists all. A killed turn is counted, but has no figures.
func (s *Store) Figures(ctx context.Context, by string, since time.Time, limit int) (_ []agent.Figures, err error) {
	defer files.Wrap(&err, "summarise turns")
	key, ok := keys[by]
	if !ok {
		return nil, fmt.Errorf("%q is not day, model or turn", by)
	}
	turns := 0 // number of turns to examine: all
	if by == "turn" {
		turns = limit
	}
	return files.AllRows(ctx, s.file.Read, func(scan files.Scan) (f agent.Figures, err error) {
		err = scan(&f.Of, &f.Title, &f.Turns, &f.Cut, &f.Latency50, &f.Latency95, &f.FirstToken50, &f.FirstToken95,
			&f.PromptTokens, &f.AnswerTokens, &f.PerSecond, &f.ModelCalls, &f.Searches, &f.Passages, &f.Cited,
			&f.ToolsOK, &f.ToolsFailed, &f.ToolsDenied, &f.Asked)
		if by != "turn" {
			f.Title = ""
		}
		return f, err
	}, fmt.Sprintf(sums, key), since.UnixMilli(), turns, limit)
}

// sums ranks the turns of each key by duration, to select the median and the 95th
// percentile (nearest rank). Answers of unknown duration do not count towards the
// speed.
const sums = `WITH each AS (
	SELECT %s AS key, t.rowid AS at, t.state, q.text AS question, f.*
	FROM turns t JOIN messages q ON q.turn = t.id AND q.role = 'user' LEFT JOIN figures f ON f.turn = t.id
	WHERE t.started >= ? ORDER BY t.rowid DESC LIMIT ifnull(nullif(?, 0), -1)
), ranked AS (
	SELECT *,
		row_number() OVER (PARTITION BY key, latency > 0 ORDER BY latency) AS latency_rank,
		count(*) OVER (PARTITION BY key, latency > 0) AS latencies,
		row_number() OVER (PARTITION BY key, first_token > 0 ORDER BY first_token) AS first_rank,
		count(*) OVER (PARTITION BY key, first_token > 0) AS firsts
	FROM each
)
SELECT key, max(question), count(*), sum(state <> 'done'),
	coalesce(max(latency) FILTER (WHERE latency > 0 AND latency_rank = (latencies * 50 + 99) / 100), 0),
	coalesce(max(latency) FILTER (WHERE latency > 0 AND latency_rank = (latencies * 95 + 99) / 100), 0),
	coalesce(max(first_token) FILTER (WHERE first_token > 0 AND first_rank = (firsts * 50 + 99) / 100), 0),
	coalesce(max(first_token) FILTER (WHERE first_token > 0 AND first_rank = (firsts * 95 + 99) / 100), 0),
	coalesce(sum(prompt_tokens), 0), coalesce(sum(answer_tokens), 0),
	coalesce(1000.0 * sum(answer_tokens) FILTER (WHERE generating > 0) / nullif(sum(generating), 0), 0),
	coalesce(sum(model_calls), 0), coalesce(sum(searches), 0), coalesce(sum(passages), 0), coalesce(sum(cited), 0),
	coalesce(sum(tool_calls - tools_failed), 0), coalesce(sum(tools_failed), 0), coalesce(sum(tools_denied), 0),
	coalesce(sum(asked), 0)
FROM ranked GROUP BY key ORDER BY max(at) DESC LIMIT ifnull(nullif(?, 0), -1)`
