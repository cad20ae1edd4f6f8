package files

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
	"unicode/utf8"
)

// MaxSize bounds a file that a user edits, in bytes.
const MaxSize = 1 << 20

// folder opens files by name. *os.Root implements it.
type folder interface {
	Lstat(name string) (fs.FileInfo, error)
	Stat(name string) (fs.FileInfo, error)
	OpenFile(name string, flag int, perm fs.FileMode) (*os.File, error)
}

// anywhere is a folder for the whole file system.
type anywhere struct{}

func (anywhere) Lstat(name string) (fs.FileInfo, error) { return os.Lstat(name) }
func (anywhere) Stat(name string) (fs.FileInfo, error)  { return os.Stat(name) }
func (anywhere) OpenFile(name string, flag int, perm fs.FileMode) (*os.File, error) {
	return os.OpenFile(name, flag, perm)
}

// Read returns the text of a regular file of at most MaxSize bytes, without its
// byte order mark. The error is fs.ErrNotExist only if there is nothing at the
// path: a dangling link is a different error, because its target may reappear.
func Read(file string) ([]byte, error) { return read(anywhere{}, file) }

// ReadIn is Read for a file in root, which links cannot leave.
func ReadIn(root *os.Root, name string) ([]byte, error) { return read(root, name) }

func read(in folder, name string) ([]byte, error) {
	info, err := in.Stat(name)
	if errors.Is(err, fs.ErrNotExist) {
		if _, missing := in.Lstat(name); missing == nil {
			return nil, fmt.Errorf("%s is a link to a file that does not exist; restore the file or delete the link",
				name)
		}
	}
	if err != nil {
		return nil, err
	}
	if err := readable(name, info); err != nil { // opening a device may have side effects
		return nil, err
	}
	file, err := in.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0) // the file may have been replaced by a FIFO
	if err != nil {
		return nil, err
	}
	defer file.Close()
	if info, err = file.Stat(); err != nil {
		return nil, err
	}
	if err := readable(name, info); err != nil {
		return nil, err
	}
	text, err := io.ReadAll(io.LimitReader(file, MaxSize+1))
	if err != nil {
		return nil, err
	}
	if len(text) > MaxSize {
		return nil, tooLong(name)
	}
	return decoded(name, text)
}

func readable(name string, info fs.FileInfo) error {
	switch {
	case info.IsDir():
		return fmt.Errorf("%s is a folder, not a file", name)
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s is not a regular file", name)
	case info.Size() > MaxSize:
		return tooLong(name)
	}
	return nil
}

func tooLong(name string) error {
	return fmt.Errorf("%s is longer than %d MiB", name, MaxSize>>20)
}

// decoded removes the byte order mark of a text. Invalid UTF-8 is kept, since it
// may be a path.
func decoded(name string, text []byte) ([]byte, error) {
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	for _, mark := range []string{"\xff\xfe", "\xfe\xff"} {
		if bytes.HasPrefix(text, []byte(mark)) {
			return nil, fmt.Errorf("%s:1: the text is UTF-16; save it as UTF-8", name)
		}
	}
	if at := bytes.IndexByte(text, 0); at >= 0 {
		return nil, fmt.Errorf("%s:%d: the text contains a NUL byte; save it as UTF-8", name,
			1+bytes.Count(text[:at], []byte("\n")))
	}
	return text, nil
}

// escaped is the rune that represents the invalid byte 0. It is in a private use
// plane, which parsers and encoders leave unchanged.
const escaped = 0x10FE00

// Escape replaces each byte of invalid UTF-8 by a rune that Unescape converts
// back.
func Escape[T ~string | ~[]byte](text T) T {
	if utf8.ValidString(string(text)) {
		return text
	}
	var out []byte
	for rest := []byte(text); len(rest) > 0; {
		r, size := utf8.DecodeRune(rest)
		if r == utf8.RuneError && size == 1 {
			r = escaped + rune(rest[0])
		}
		out, rest = utf8.AppendRune(out, r), rest[size:]
	}
	return T(out)
}

// Unescape restores the bytes that Escape replaced.
func Unescape(text string) string {
	var out []byte
	for i, r := range text {
		if r < escaped+0x80 || r > escaped+0xff {
			if out != nil {
				out = utf8.AppendRune(out, r)
			}
			continue
		}
		if out == nil {
			out = append(make([]byte, 0, len(text)), text[:i]...)
		}
		out = append(out, byte(r-escaped))
	}
	if out == nil {
		return text
	}
	return string(out)
}
