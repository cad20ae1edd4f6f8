package file

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"strings"

	"lifehub/internal/filelock"
)

// openMark is the mark next to a database that says how it was left. While
// somebody has the database open the mark says so; the last one to close it
// writes down its size and sum. Who opens it as the first therefore knows
// whether it was closed, and whether it is the file that was closed. The file
// is never deleted: its lock belongs to it.
type openMark struct {
	path string // of the database
	file *os.File

	unclean bool   // it was not closed, or nobody has checked it since
	other   bool   // it is not the file that was closed
	had     int64  // its size when it was closed; 0: unknown
	alone   bool   // nobody else had it open
	lostLog string // why the write-ahead log holds less than was committed; "": it does not
}

const markOpen = "open"

// newOpenMark reads the mark. It is held until end.
func newOpenMark(path string) (*openMark, error) {
	file, err := os.OpenFile(path+".state", os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	s := &openMark{path: path, file: file}
	if lock(file) {
		s.alone = true
		err = s.readMark()
	}
	if err == nil {
		err = filelock.Share(file) // waits while another is the first, or the last
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return s, nil
}

// readMark finds out how the database was left.
func (s *openMark) readMark() error {
	text, err := io.ReadAll(io.LimitReader(s.file, 100))
	if err != nil {
		return err
	}
	mark := strings.TrimSpace(string(text))
	var sum uint32
	switch n, _ := fmt.Sscanf(mark, "closed %d %x", &s.had, &sum); {
	case n == 2:
		size, is, err := fingerprint(s.path)
		if err != nil {
			return err
		}
		s.other = size != s.had || is != sum
	default: // it was not closed, or nothing is known
		info, err := os.Stat(s.path)
		if err != nil {
			return err
		}
		s.unclean = info.Size() > 0 || mark == markOpen
		if s.lostLog, err = lostCommits(s.path+"-wal", s.path+"-shm"); err != nil {
			return err
		}
	}
	return nil
}

// opened sets the mark, once the database was found usable.
func (s *openMark) opened() error {
	if !s.alone {
		return nil
	}
	return s.write(markOpen)
}

func (s *openMark) write(mark string) error {
	if err := s.file.Truncate(0); err != nil {
		return err
	}
	if _, err := s.file.WriteAt([]byte(mark+"\n"), 0); err != nil {
		return err
	}
	return s.file.Sync()
}

// end is called when the database is closed here. The last one to leave it
// whole says so; an unclean one that nobody checked stays marked.
func (s *openMark) end() error {
	var err error
	if !s.unclean && lock(s.file) {
		var size int64
		var sum uint32
		if size, sum, err = fingerprint(s.path); err == nil {
			err = s.write(fmt.Sprintf("closed %d %08x", size, sum))
		}
	}
	return errors.Join(err, s.file.Close())
}

// fingerprint is the size and CRC-32C of a file: against decay, not malice.
func fingerprint(path string) (int64, uint32, error) {
	file, err := os.Open(path)
	if err != nil {
		return 0, 0, err
	}
	defer file.Close()
	hash := crc32.New(crc32.MakeTable(crc32.Castagnoli))
	size, err := io.CopyBuffer(hash, struct{ io.Reader }{file}, make([]byte, 1<<20))
	return size, hash.Sum32(), err
}

// The format of a write-ahead log (sqlite.org/fileformat2.html, "The
// Write-Ahead Log"): a header, then frames of a header and a page.
const (
	logHeader   = 32
	frameHeader = 24
)

// lostCommits looks for commits that SQLite would pass over in silence: those in
// a write-ahead log that stand behind something damaged, and those that the
// index of the log knows and the log no longer holds. A process that was killed
// leaves none: what it wrote last may be cut, but no commit is behind it.
func lostCommits(log, index string) (string, error) {
	data, err := os.ReadFile(log)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return "", err
	}
	known, err := uncheckpointed(index)
	if err != nil {
		return "", err
	}
	if len(data) <= logHeader && known == 0 {
		return "", nil
	}
	const damaged = "the write-ahead log is damaged, and the last changes in it are lost"
	if len(data) < logHeader {
		return damaged, nil
	}
	head := data[:logHeader]
	var order binary.ByteOrder = binary.LittleEndian
	if binary.BigEndian.Uint32(head)&1 == 1 {
		order = binary.BigEndian
	}
	a, b := logSum(order, 0, 0, head[:24])
	page := int(binary.BigEndian.Uint32(head[8:]))
	if binary.BigEndian.Uint32(head)&^1 != 0x377f0682 || binary.BigEndian.Uint32(head[24:]) != a || binary.BigEndian.Uint32(head[28:]) != b || page < 512 || page > 65536 {
		return damaged, nil
	}
	sound, broken := 0, false
	for at := logHeader; at+frameHeader+page <= len(data); at += frameHeader + page {
		frame := data[at : at+frameHeader]
		if string(frame[8:16]) != string(head[16:24]) { // of an earlier use of the file
			continue
		}
		if !broken {
			a, b = logSum(order, a, b, frame[:8])
			a, b = logSum(order, a, b, data[at+frameHeader:at+frameHeader+page])
			broken = binary.BigEndian.Uint32(frame[16:]) != a || binary.BigEndian.Uint32(frame[20:]) != b
		}
		if !broken {
			sound++
		}
		if commit := binary.BigEndian.Uint32(frame[4:]) != 0; broken && commit {
			return damaged, nil
		}
	}
	if sound < known {
		return damaged, nil
	}
	return "", nil
}

// uncheckpointed is how many frames of the log the index says are committed and, the
// last of them, not in the database yet; 0 where it does not tell. It is written
// after the log was synced, in the byte order of the machine.
func uncheckpointed(index string) (int, error) {
	data, err := os.ReadFile(index)
	if errors.Is(err, os.ErrNotExist) || err == nil && len(data) < 100 {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	const header = 48 // twice, so that a half-written one is seen
	order := binary.NativeEndian
	if string(data[:header]) != string(data[header:2*header]) || order.Uint32(data) != 3007000 || data[12] == 0 {
		return 0, nil
	}
	frames, folded := order.Uint32(data[16:]), order.Uint32(data[96:])
	if folded >= frames {
		return 0, nil
	}
	return int(frames), nil
}

// logSum resumes the checksum of the log over some bytes.
func logSum(order binary.ByteOrder, a, b uint32, data []byte) (uint32, uint32) {
	for i := 0; i+8 <= len(data); i += 8 {
		a += order.Uint32(data[i:]) + b
		b += order.Uint32(data[i+4:]) + a
	}
	return a, b
}
