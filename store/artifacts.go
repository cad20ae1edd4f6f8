package store

import (
	"context"
	"database/sql"
	"errors"

	"lifehub/agent"
	"lifehub/internal/files"
)

const artifactColumns = `conversation, name, version, text, author, why, turn, created, origin`

// SaveArtifact saves a version of an artifact; versions count from 1. It returns
// [agent.ErrArtifactExists] if that version already exists.
func (s *Store) SaveArtifact(ctx context.Context, a agent.Artifact) (err error) {
	defer files.Wrap(&err, "save artifact %s", a.Name)
	result, err := s.file.Write.ExecContext(ctx, `INSERT INTO artifacts (`+artifactColumns+`, call)
		SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10
		WHERE (SELECT coalesce(max(version), 0) + 1 FROM artifacts WHERE conversation = ?1 AND name = ?2) = ?3`,
		a.Conversation, a.Name, a.Version, a.Text, a.By, a.Why, a.Turn, s.now().UnixMilli(), origin{a.Origin}, a.Call)
	if err != nil {
		return err
	}
	if n, err := result.RowsAffected(); err != nil || n == 0 {
		return errors.Join(err, agent.ErrArtifactExists)
	}
	return nil
}

// Artifact returns a version of an artifact; version 0 means the newest. It
// returns [agent.ErrNoArtifact] if there is none.
func (s *Store) Artifact(ctx context.Context, conversation, name string, version int) (_ agent.Artifact, err error) {
	defer files.Wrap(&err, "read artifact %s", name)
	list, err := s.artifacts(ctx, `WHERE conversation = ?1 AND name = ?2 AND (version = ?3 OR ?3 = 0)
		ORDER BY version DESC LIMIT 1`, conversation, name, version)
	if err == nil && len(list) == 0 {
		err = agent.ErrNoArtifact
	}
	if err != nil {
		return agent.Artifact{}, err
	}
	return list[0], nil
}

// MadeBy returns the version created by a tool call, if any.
func (s *Store) MadeBy(ctx context.Context, call string) (agent.Artifact, bool, error) {
	if call == "" {
		return agent.Artifact{}, false, nil
	}
	list, err := s.artifacts(ctx, `WHERE call = ?1 LIMIT 1`, call)
	if err != nil || len(list) == 0 {
		return agent.Artifact{}, false, err
	}
	return list[0], true, nil
}

// ArtifactVersions returns all versions of an artifact, oldest first.
func (s *Store) ArtifactVersions(ctx context.Context, conversation, name string) ([]agent.Artifact, error) {
	return s.artifacts(ctx, `WHERE conversation = ?1 AND name = ?2 ORDER BY version`, conversation, name)
}

// Artifacts returns the newest version of each artifact of a conversation, or of
// all conversations if conversation is empty, most recently changed first.
func (s *Store) Artifacts(ctx context.Context, conversation string) ([]agent.Artifact, error) {
	return s.artifacts(ctx, `AS a WHERE (conversation = ?1 OR ?1 = '') AND version =
		(SELECT max(version) FROM artifacts WHERE conversation = a.conversation AND name = a.name)
		ORDER BY created DESC, name`, conversation)
}

func (s *Store) artifacts(ctx context.Context, which string, args ...any) (_ []agent.Artifact, err error) {
	defer files.Wrap(&err, "read artifacts")
	return files.AllRows(ctx, s.file.Read, func(scan files.Scan) (a agent.Artifact, err error) {
		var from origin
		err = scan(&a.Conversation, &a.Name, &a.Version, &a.Text, &a.By, &a.Why, &a.Turn,
			files.Milliseconds(&a.Time), &from)
		a.Origin = from.Origin
		return a, err
	}, `SELECT `+artifactColumns+` FROM artifacts `+which, args...)
}

// copyArtifacts copies the versions created by a turn to a copy of that turn.
// Call IDs include the turn, so the copies get call IDs of the new turn.
func copyArtifacts(ctx context.Context, tx *sql.Tx, turn, conversation, to string) error {
	_, err := tx.ExecContext(ctx, `INSERT INTO artifacts (`+artifactColumns+`, call)
		SELECT ?2, name, version, text, author, why, ?3, created, origin, iif(call LIKE ?1 || '/%', ?3 || substr(call,
		length(?1) + 1), '')
		FROM artifacts WHERE turn = ?1`, turn, conversation, to)
	return err
}

// copyHistories copies the earlier versions of each document that a fork has. The
// newest version may derive from versions created on another branch.
func copyHistories(ctx context.Context, tx *sql.Tx, from, fork string) error {
	_, err := tx.ExecContext(ctx, `INSERT OR IGNORE INTO artifacts (`+artifactColumns+`, call)
		SELECT ?2, name, version, text, author, why, turn, created, origin, '' FROM artifacts AS a
		WHERE conversation = ?1 AND version < (SELECT max(version) FROM artifacts WHERE conversation = ?2
		AND name = a.name)`, from, fork)
	return err
}
