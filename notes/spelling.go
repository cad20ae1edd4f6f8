package notes

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"lifehub/internal/text"
)

// Spelled returns the path in which each folder and the note are spelled as they
// are in the folder, if there is one with the same key; parts that are new stay.
// taken reports whether the note is there, or a placeholder of it. If several
// have the key and none is spelled so, the error, [ErrAmbiguous], names them.
func (f *Folder) Spelled(name string) (own string, taken bool, err error) {
	if !fs.ValidPath(name) {
		return name, false, nil // opening it reports it
	}
	parts := strings.Split(name, "/")
	for i, part := range parts {
		at, isNote := path.Join(own, part), i == len(parts)-1
		if _, err := f.root().Lstat(at); err == nil {
			own, taken = at, isNote
			continue
		}
		alike, err := f.alike(own, part, isNote)
		switch {
		case errors.Is(err, fs.ErrNotExist) || err == nil && len(alike) == 0:
			return path.Join(append([]string{own}, parts[i:]...)...), false, nil
		case err != nil:
			return name, false, err
		case len(alike) > 1:
			return name, false, fmt.Errorf("%w %s: %s", ErrAmbiguous, at, strings.Join(alike, ", "))
		}
		own, taken = path.Join(own, alike[0]), isNote
	}
	return own, taken, nil
}

// ErrAmbiguous reports that several files or folders differ from a name only in
// case or in how their letters are encoded.
var ErrAmbiguous = errors.New("several names are spelled nearly like")

// alike returns the entries of a folder with the key of a name.
func (f *Folder) alike(dir, name string, isNote bool) (alike []string, err error) {
	key := text.Key
	if isNote {
		key = Key
	}
	children, err := promptly(f, dir, func(beat func()) ([]child,
		error,
	) {
		return readFolder(f.root(), path.Join(".", dir), beat)
	})
	for _, c := range children {
		own := c.name
		if note := placeholderOf(own); note != "" {
			own = note
		}
		if key(own) == key(name) && c.mode.IsDir() != isNote && !slices.Contains(alike, own) {
			alike = append(alike, own)
		}
	}
	return alike, err
}

// placeholder matches what sync programs leave of a file that is in the cloud only:
// .NAME.icloud of iCloud Drive, and NAME with the ending of Nextcloud, ownCloud,
// kDrive and odrive.
var placeholder = regexp.MustCompile(`^(?:\.(.+)\.icloud|(.+)\.(?:nextcloud|owncloud|kdrive|cloudf?))$`)

// placeholderOf returns the name of the note that a file stands for, or "".
func placeholderOf(name string) string {
	if found := placeholder.FindStringSubmatch(name); found != nil && kindOf(found[1]+found[2]) != noNote {
		return found[1] + found[2]
	}
	return ""
}

// inCloud is the reason of a note of which only a placeholder is here.
const inCloud = "in the cloud only"

// longestPart is the maximum length in bytes of a part of a new path. Systems allow
// 255, of which sync programs and backups need some for their own endings.
const longestPart = 200

// hyphen and dash stand for replaced signs, of which those at the ends of a name go.
const hyphen, dash = "\ufdd0", "\ufdd1"

var (
	// slashInTitle matches a slash of a title, such as "Q1 / Q2", which separates no
	// folders.
	slashInTitle = regexp.MustCompile(`\p{Zs}+/\p{Zs}*|/\p{Zs}+`)
	// refused matches signs that Windows or Android refuse in names, or that end
	// links in Obsidian.
	refused = regexp.MustCompile(`\p{Zs}*[<>:"|?*\\#^\[\]][<>:"|?*\\#^\[\]\p{Zs}]*`)
	device  = regexp.MustCompile(`(?i)^(?:con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(?:\s*\.|\s*$)`)
)

// Portable returns a name for a new note that every system accepts and every link
// can name. It is the same name if that is already so.
func Portable(name string) string {
	ext := path.Ext(name)
	if kindOf(ext) != markdown {
		ext = ""
	}
	parts := strings.Split(slashInTitle.ReplaceAllString(strings.TrimSuffix(name, ext), " : "), "/")
	for i, part := range parts {
		if part == ".." || part == "." {
			continue
		}
		part = refused.ReplaceAllStringFunc(part, func(signs string) string {
			if strings.ContainsFunc(signs, unicode.IsSpace) {
				return dash
			}
			return hyphen
		})
		part = strings.TrimFunc(part, func(r rune) bool {
			return unicode.IsSpace(r) ||
				strings.ContainsRune(hyphen+dash, r)
		})
		part = strings.NewReplacer(hyphen, "-", dash, " - ").Replace(strings.TrimRightFunc(part, func(r rune) bool {
			return r == '.' || unicode.IsSpace(r) || strings.ContainsRune(hyphen+dash, r)
		}))
		for len(part) > longestPart-len(ext) {
			_, size := utf8.DecodeLastRuneInString(part)
			part = part[:len(part)-size]
		}
		if part = strings.TrimRight(part, ". "); device.MatchString(part) {
			part = "_" + part
		}
		parts[i] = part
	}
	return norm.NFC.String(strings.Join(parts, "/")) + ext
}
