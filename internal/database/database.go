// Package database opens SQLite files so that other programs cannot crash the
// process by modifying the files next to a database. Start at [Open].
//
// SQLite maps the index of its write-ahead log, NAME-shm, into memory. If another
// program truncates that file, accessing the mapping raises a fault, which
// interrupts SQLite at an arbitrary point. After such a fault, and whenever
// NAME-shm or NAME-wal is no longer the file that was opened, all connections of
// this process to the database are closed and their transactions rolled back. The
// next connections rebuild the index from the log.
package database

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"modernc.org/sqlite"
)

// Open returns the database at path, or one in memory if path is empty. Settings
// are those of the driver: mode, immutable, _txlock, and _pragma, which is run on
// each connection.
func Open(path string, settings url.Values) (*sql.DB, error) {
	c, err := newConnector(path, settings)
	if err != nil {
		return nil, err
	}
	return sql.OpenDB(c), nil
}

func newConnector(path string, settings url.Values) (*connector, error) {
	registered, err := sql.Open("sqlite", "") // includes functions registered with the driver
	if err != nil {
		return nil, err
	}
	if err := registered.Close(); err != nil {
		return nil, err
	}
	c := &connector{driver: registered.Driver(), begin: "begin " + settings.Get("_txlock"), pragmas: settings["_pragma"], file: &file{}}
	c.logs = slices.Contains(c.pragmas, "journal_mode(wal)")
	settings = url.Values{"mode": settings["mode"], "immutable": settings["immutable"]}
	if path == "" {
		c.address = "file::memory:?" + settings.Encode()
		return c, nil
	}
	if path, err = filepath.Abs(path); err != nil {
		return nil, err
	}
	name := filepath.ToSlash(path)
	if !strings.HasPrefix(name, "/") { // C:/…
		name = "/" + name
	}
	c.address = (&url.URL{Scheme: "file", Path: name, RawQuery: settings.Encode()}).String()
	c.file = fileAt(path)
	return c, nil
}

type connector struct {
	driver  driver.Driver
	address string
	begin   string
	pragmas []string
	logs    bool // uses a write-ahead log
	file    *file
}

// Driver implements [driver.Connector].
func (c *connector) Driver() driver.Driver { return c.driver }

// BusyTimeout is how long a statement waits for another process's write. Our own
// writes take milliseconds, so a longer wait means that the disk is stuck.
const BusyTimeout = 10 * time.Second

// Connect opens a connection. It runs the pragmas itself: a fault while the
// driver runs one would leave a connection that cannot be closed. The same
// applies to a pragma that is the first statement to read the schema.
func (c *connector) Connect(ctx context.Context) (driver.Conn, error) {
	c.file.check(nil)
	made, err := c.file.connect(c)
	if err != nil {
		return nil, err
	}
	const read = "SELECT 1 FROM sqlite_schema LIMIT 1"
	statements := []string{fmt.Sprintf("PRAGMA busy_timeout(%d)", BusyTimeout.Milliseconds()), read}
	for _, pragma := range c.pragmas {
		statements = append(statements, "PRAGMA "+pragma)
	}
	if c.logs {
		statements = append(statements, read) // opens the log, which a new database has only now
	}
	for _, statement := range statements {
		if _, err = made.ExecContext(ctx, statement, nil); err != nil {
			_ = made.Close() // the first error is returned
			return nil, made.again(err, true)
		}
	}
	c.file.join(made, c.logs)
	c.file.check(nil) // it may have opened another log than the other connections
	return made, made.again(made.do(func() error { return nil }), true)
}

// conn is a connection whose calls return an error where SQLite would fault.
type conn struct {
	file   *file
	begin  string
	raw    rawConn
	lost   *lostError // why it was closed while in use; nil if it was not
	inTx   bool
	joined bool           // its files are open
	rows   map[*rows]bool // open rows
	stmts  map[*stmt]bool
}

type rawConn interface {
	driver.Conn
	driver.ConnPrepareContext
	driver.SessionResetter
	driver.Validator
	sqlite.HookRegisterer
}

// ResetSession implements [driver.SessionResetter].
func (c *conn) ResetSession(ctx context.Context) error {
	c.file.check(c)
	return c.again(c.do(func() error { return c.raw.ResetSession(ctx) }), true)
}

// IsValid implements [driver.Validator].
func (c *conn) IsValid() bool {
	return c.do(func() error {
		if !c.raw.IsValid() {
			return driver.ErrBadConn
		}
		return nil
	}) == nil
}

func (c *conn) Close() error {
	c.file.check(nil)
	return c.end(c.close)
}

// end closes something, which is already closed if the connection was lost.
func (c *conn) end(close func() error) error {
	return unlessLost(c.do(close))
}

func unlessLost(err error) error {
	var lost *lostError
	if errors.As(err, &lost) {
		return nil
	}
	return err
}

// ExecContext runs a statement. It prepares the statement itself, so that it can
// be closed after a fault.
func (c *conn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (result driver.Result, err error) {
	s, err := c.prepare(ctx, query)
	if err != nil {
		return nil, err
	}
	result, err = s.ExecContext(ctx, args)
	if closed := s.Close(); err == nil {
		err = closed
	}
	return result, c.again(err, reads(query))
}

func (c *conn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	s, err := c.prepare(ctx, query)
	if err != nil {
		return nil, err
	}
	r, err := s.query(ctx, args)
	if err != nil {
		_ = s.Close() // the first error is returned
		return nil, c.again(err, reads(query))
	}
	r.once = s
	return r, nil
}

// reads reports whether a statement certainly changes nothing.
func reads(query string) bool {
	query = strings.TrimSpace(query)
	return len(query) >= len("SELECT") && strings.EqualFold(query[:len("SELECT")], "SELECT")
}

// again returns the error that makes package sql retry on another connection if
// this one was lost before the call had any effect.
func (c *conn) again(err error, harmless bool) error {
	var lost *lostError
	if errors.As(err, &lost) && !c.inTx && (harmless || !lost.ran) {
		return driver.ErrBadConn
	}
	return err
}

func (c *conn) Prepare(query string) (driver.Stmt, error) {
	return c.PrepareContext(context.Background(), query)
}

func (c *conn) PrepareContext(ctx context.Context, query string) (driver.Stmt, error) {
	return c.prepare(ctx, query)
}

func (c *conn) prepare(ctx context.Context, query string) (*stmt, error) {
	s := &stmt{conn: c}
	err := c.do(func() (err error) {
		if s.raw, err = c.raw.PrepareContext(ctx, query); err == nil {
			c.stmts[s] = true
		}
		return err
	})
	if err != nil {
		return nil, c.again(err, true)
	}
	return s, nil
}

func (c *conn) Begin() (driver.Tx, error) { return c.BeginTx(context.Background(), driver.TxOptions{}) }

func (c *conn) BeginTx(ctx context.Context, options driver.TxOptions) (driver.Tx, error) {
	begin := c.begin
	if options.ReadOnly {
		begin = "begin"
	}
	if _, err := c.ExecContext(ctx, begin, nil); err != nil {
		// An interrupted begin may still have started a transaction.
		_, _ = c.ExecContext(context.Background(), "rollback", nil)
		return nil, c.again(err, true)
	}
	c.inTx = true
	return tx{c}, nil
}

type tx struct{ conn *conn }

func (t tx) Commit() error {
	_, err := t.conn.ExecContext(context.Background(), "commit", nil)
	if err != nil {
		_ = t.Rollback() // the connection must be left without a transaction; err is the cause
	}
	t.conn.inTx = false
	return err
}

func (t tx) Rollback() error {
	_, err := t.conn.ExecContext(context.Background(), "rollback", nil)
	t.conn.inTx = false
	return unlessLost(err)
}

type stmt struct {
	conn *conn
	raw  driver.Stmt
}

func (s *stmt) NumInput() int { return -1 }

func (s *stmt) Close() error {
	return s.conn.end(func() error {
		delete(s.conn.stmts, s)
		return s.raw.Close()
	})
}

func (s *stmt) Exec([]driver.Value) (driver.Result, error) { return nil, driver.ErrSkip }
func (s *stmt) Query([]driver.Value) (driver.Rows, error)  { return nil, driver.ErrSkip }

func (s *stmt) ExecContext(ctx context.Context, args []driver.NamedValue) (result driver.Result, err error) {
	err = s.conn.do(func() (err error) {
		result, err = s.raw.(driver.StmtExecContext).ExecContext(ctx, args)
		return err
	})
	return result, err
}

func (s *stmt) QueryContext(ctx context.Context, args []driver.NamedValue) (driver.Rows, error) {
	r, err := s.query(ctx, args)
	if err != nil {
		return nil, err
	}
	return r, nil
}

func (s *stmt) query(ctx context.Context, args []driver.NamedValue) (*rows, error) {
	r := &rows{conn: s.conn}
	return r, s.conn.do(func() (err error) {
		if r.raw, err = s.raw.(driver.StmtQueryContext).QueryContext(ctx, args); err == nil {
			s.conn.rows[r] = true
		}
		return err
	})
}

type rows struct {
	conn *conn
	raw  driver.Rows
	once *stmt // closed with the rows; may be nil
}

func (r *rows) Columns() []string { return r.raw.Columns() }

func (r *rows) Next(into []driver.Value) error {
	return r.conn.do(func() error { return r.raw.Next(into) })
}

func (r *rows) Close() error {
	err := r.conn.end(func() error {
		delete(r.conn.rows, r)
		return r.raw.Close()
	})
	if r.once != nil {
		if closed := r.once.Close(); err == nil {
			err = closed
		}
	}
	return err
}

// lostError explains why a call ended.
type lostError struct {
	why string
	ran bool // the call had started
}

func (e *lostError) Error() string { return e.why + "; try again" }
