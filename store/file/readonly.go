package file

import (
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"

	sqlite3 "modernc.org/sqlite/lib"
)

// CannotWrite reports whether a file could not be opened because its location is
// not writable: the disk is full, or permission is denied.
func CannotWrite(err error) bool {
	switch code(err) {
	case sqlite3.SQLITE_IOERR_SHMSIZE, sqlite3.SQLITE_IOERR_SHMOPEN, sqlite3.SQLITE_IOERR_WRITE, sqlite3.SQLITE_IOERR_TRUNCATE:
		return true
	}
	switch primary(err) {
	case sqlite3.SQLITE_FULL, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN:
		return true
	}
	return errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) || errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}

// Snapshot reads a file and its write-ahead log into memory, without writing to
// the disk. Changes to the snapshot are lost.
func Snapshot(path string, steps []string) (*File, error) {
	image, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	log, err := os.ReadFile(path + "-wal")
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	image = folded(image, log)
	if len(image) < 100 {
		return InMemory(steps) // nothing was ever written
	}
	image[18], image[19] = 1, 1 // databases in memory cannot have a write-ahead log
	d, err := sql.Open("sqlite", "file::memory:?_pragma=foreign_keys(1)&_txlock=immediate")
	if err != nil {
		return nil, err
	}
	d.SetMaxOpenConns(1)
	d.SetMaxIdleConns(1)
	d.SetConnMaxLifetime(0)
	if err = load(d, image); err == nil {
		err = Migrate(d, "", steps)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("read into memory: %w", err), d.Close())
	}
	return &File{Write: d, Read: d, Warning: "nothing can be written to " + path + "; it is only read"}, nil
}

// The write-ahead log format (sqlite.org/fileformat2.html, "The Write-Ahead
// Log"): a header, then frames, each with a header and a page.
const (
	logHeader   = 32
	frameHeader = 24
)

func load(db *sql.DB, image []byte) error {
	conn, err := db.Conn(context.Background())
	if err != nil {
		return err
	}
	return errors.Join(conn.Raw(func(driver any) error {
		c, ok := driver.(interface{ Deserialize(buf []byte) error })
		if !ok {
			return errors.New("not supported by this SQLite")
		}
		return c.Deserialize(image)
	}), conn.Close())
}

// folded returns a database image with the committed pages of its write-ahead log
// applied.
func folded(image, log []byte) []byte {
	if len(log) < logHeader || binary.BigEndian.Uint32(log)&^1 != 0x377f0682 {
		return image
	}
	var order binary.ByteOrder = binary.LittleEndian
	if binary.BigEndian.Uint32(log)&1 == 1 {
		order = binary.BigEndian
	}
	page := int(binary.BigEndian.Uint32(log[8:]))
	a, b := logSum(order, 0, 0, log[:24])
	if binary.BigEndian.Uint32(log[24:]) != a || binary.BigEndian.Uint32(log[28:]) != b || page < 512 || page > 65536 {
		return image
	}
	pages := map[int][]byte{} // pages since the last commit, by number
	for at := logHeader; at+frameHeader+page <= len(log); at += frameHeader + page {
		frame, content := log[at:at+frameHeader], log[at+frameHeader:at+frameHeader+page]
		a, b = logSum(order, a, b, frame[:8])
		a, b = logSum(order, a, b, content)
		if string(frame[8:16]) != string(log[16:24]) || binary.BigEndian.Uint32(frame[16:]) != a || binary.BigEndian.Uint32(frame[20:]) != b {
			break
		}
		pages[int(binary.BigEndian.Uint32(frame))] = content
		size := int(binary.BigEndian.Uint32(frame[4:])) // size of the database in pages; nonzero in the last frame of a commit
		if size == 0 {
			continue
		}
		whole := image
		if len(image) != size*page {
			whole = make([]byte, size*page)
			copy(whole, image)
		}
		for number, content := range pages {
			if number >= 1 && number <= size {
				copy(whole[(number-1)*page:], content)
			}
		}
		image, pages = whole, map[int][]byte{}
	}
	return image
}

// logSum extends the checksum of a log with data.
func logSum(order binary.ByteOrder, a, b uint32, data []byte) (uint32, uint32) {
	for i := 0; i+8 <= len(data); i += 8 {
		a += order.Uint32(data[i:]) + b
		b += order.Uint32(data[i+4:]) + a
	}
	return a, b
}
