package words

import (
	"context"
	"database/sql"
	"fmt"
	"strings"

	"lifehub/internal/files"
)

// mostNamed limits the folders and tags that About names.
const mostNamed = 5

// languagesOf selects the languages of at least one note in twenty, or of all notes if
// there are fewer than forty, with their number of notes. Languages without spaces
// between words are recognised by titles.
const languagesOf = `SELECT spoken || ' (' || COUNT(*) || ')' FROM (SELECT CASE WHEN language <> '' THEN language
	WHEN title GLOB '*[ぁ-ヿ]*' THEN 'ja' WHEN title GLOB '*[一-鿿]*' THEN 'zh' WHEN title GLOB '*[가-힣]*' THEN 'ko'
	ELSE 'en' END AS spoken
	FROM notes WHERE outside = 0) GROUP BY spoken HAVING COUNT(*) * 20 >= (SELECT COUNT(*) FROM notes WHERE outside = 0)
	OR (SELECT COUNT(*) FROM notes WHERE outside = 0) < 40 ORDER BY COUNT(*) DESC, spoken`

// About describes the notes in a line: how many there are, in which languages, the most
// frequent folders and tags, and how daily notes are named. Untrusted notes contribute
// no names. It returns "" if there are no notes.
func About(ctx context.Context, db *sql.DB) (string, error) {
	var notes int
	if err := db.QueryRowContext(ctx, `SELECT COUNT(*) FROM notes`).Scan(&notes); err != nil || notes == 0 {
		return "", err
	}
	parts := []string{fmt.Sprint(notes, " notes")}
	for _, of := range []struct{ head, query string }{
		{"languages", languagesOf},
		{"folders", `SELECT substr(path, 1, instr(path, '/')) AS folder FROM notes WHERE outside = 0 AND folder <> ''
			GROUP BY folder ORDER BY COUNT(*) DESC, folder`},
		{"tags", `SELECT '#' || tag FROM tags JOIN notes ON notes.id = note WHERE outside = 0 GROUP BY tag
			HAVING COUNT(*) > 1 ORDER BY COUNT(*) DESC, tag`},
		{"a note of a day", `SELECT MAX(path) FROM notes WHERE outside = 0
			AND path GLOB '*[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9].md' HAVING COUNT(*) > 1`},
	} {
		var names []string
		for scan := range files.Rows(ctx, db, of.query+fmt.Sprint(" LIMIT ", mostNamed)) {
			var name string
			if err := scan(&name); err != nil {
				return "", err
			}
			names = append(names, name)
		}
		if len(names) > 0 {
			parts = append(parts, of.head+" "+strings.Join(names, ", "))
		}
	}
	return strings.Join(parts, "; "), nil
}
