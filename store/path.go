package store

import (
	"context"

	"lifehub/internal/rows"
)

// pathTurn is a turn of a conversation's current path.
type pathTurn struct {
	id       string
	state    string
	answered bool // its answer has a text
	archived bool
}

// turnPath is the current path of a conversation, the newest turn first.
type turnPath []pathTurn

// beyond are the turns that are not wholly within the last window
// messages. A turn under way counts for none.
func (p turnPath) beyond(window int) turnPath {
	messages := 0
	for i, turn := range p {
		if turn.state == "open" && i == 0 {
			continue
		}
		if messages++; turn.answered {
			messages++
		}
		if messages > window {
			return p[i:]
		}
	}
	return nil
}

func (p turnPath) ids() map[string]bool {
	set := make(map[string]bool, len(p))
	for _, turn := range p {
		set[turn.id] = true
	}
	return set
}

// pathOf reads the ids of all turns of the conversation and walks from its
// head to its beginning, as exchanges does.
func pathOf(ctx context.Context, db rows.Querier, conversation string) (turnPath, error) {
	type node struct {
		pathTurn
		before int64
	}
	nodes := map[int64]node{} // by the answer's id
	var head int64
	for scan := range rows.Of(ctx, db, `SELECT t.id, t.state, a.text <> '', m.id IS NOT NULL, a.id, coalesce(q.parent, 0), c.head
		FROM conversations c JOIN turns t ON t.conversation = c.id
		JOIN messages q ON q.turn = t.id AND q.role = 'user'
		JOIN messages a ON a.turn = t.id AND a.role = 'assistant'
		LEFT JOIN memories m ON m.turn = t.id WHERE c.id = ?`, conversation) {
		var n node
		var answer int64
		if err := scan(&n.id, &n.state, &n.answered, &n.archived, &answer, &n.before, &head); err != nil {
			return nil, err
		}
		nodes[answer] = n
	}
	var path turnPath
	for n, ok := nodes[head]; ok; n, ok = nodes[n.before] {
		path = append(path, n.pathTurn)
	}
	return path, nil
}

// texts reads a column of texts.
func texts(ctx context.Context, db rows.Querier, query string, args ...any) ([]string, error) {
	var list []string
	for scan := range rows.Of(ctx, db, query, args...) {
		var text string
		if err := scan(&text); err != nil {
			return nil, err
		}
		list = append(list, text)
	}
	return list, nil
}
