package mcpclient

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"log/slog"
	"mime"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/mark3labs/mcp-go/mcp"

	"lifehub/agent"
)

// maxText is how much of a result goes on to the model, in bytes. The rest
// is kept in a file; both are said in the text.
const maxText = 31 << 10

// words writes what servers send as text: their texts as they are,
// everything else named and kept in files that begin with name.
type words struct {
	name   string
	files  string // folder; "": nothing is kept
	redact func(string) string
	log    *slog.Logger
}

// result is the result of a tool in words.
func (w words) result(result *mcp.CallToolResult) string {
	var parts []string
	said := false
	for _, c := range result.Content {
		if text, ok := c.(mcp.TextContent); ok {
			said = said || strings.TrimSpace(text.Text) != ""
		}
		if part := w.part(c); part != "" {
			parts = append(parts, part)
		}
	}
	// The protocol asks servers to say structured content in words as well.
	if structured := structuredText(result); structured != "" && !said {
		parts = append(parts, structured)
	}
	return w.shortened(strings.Join(parts, "\n\n"))
}

const (
	maxPictures = 4        // of a result that a model is shown
	maxPicture  = 10 << 20 // bytes of one
)

// pictures are the images of a result that a model can be shown.
func pictures(result *mcp.CallToolResult) (list [][]byte) {
	for _, c := range result.Content {
		content, ok := c.(mcp.ImageContent)
		if !ok || len(list) == maxPictures || len(content.Data) > maxPicture*4/3 {
			continue
		}
		if data, err := decoded(content.Data); err == nil && agent.CheckPicture(data) == nil {
			list = append(list, data)
		}
	}
	return list
}

// shortened is a text that fits a prompt; a longer one keeps its ends.
func (w words) shortened(whole string) string {
	whole = w.redact(strings.ToValidUTF8(whole, "�"))
	if len(whole) <= maxText {
		return whole
	}
	note := fmt.Sprintf("%d KiB in all", len(whole)>>10)
	if path := w.keep([]byte(whole), ".txt"); path != "" {
		note += ", kept whole in " + path
	}
	return cutMiddle(whole, maxText, note)
}

func structuredText(result *mcp.CallToolResult) string {
	raw := result.RawStructuredContent
	if raw == nil && result.StructuredContent != nil {
		raw, _ = json.Marshal(result.StructuredContent) // it came from JSON
	}
	if string(raw) == "null" {
		return ""
	}
	return string(raw)
}

// part is one piece of content in words.
func (w words) part(content mcp.Content) string {
	switch c := content.(type) {
	case mcp.TextContent:
		return c.Text
	case mcp.ImageContent:
		return w.binary("image", c.MIMEType, c.Data)
	case mcp.AudioContent:
		return w.binary("sound", c.MIMEType, c.Data)
	case mcp.ResourceLink:
		return strings.TrimSpace(fmt.Sprintf("[resource %s: %s] %s", c.URI, c.Name, c.Description))
	case mcp.EmbeddedResource:
		return w.resource(c.Resource)
	}
	return fmt.Sprintf("[content that LifeHub does not know: %T]", content)
}

// resource is what a resource holds, in words.
func (w words) resource(contents mcp.ResourceContents) string {
	switch r := contents.(type) {
	case mcp.TextResourceContents:
		return fmt.Sprintf("[resource %s]\n%s", r.URI, r.Text)
	case mcp.BlobResourceContents:
		return w.binary("resource "+r.URI, r.MIMEType, r.Blob)
	}
	return ""
}

// binary keeps data in a file and names it.
func (w words) binary(what, kind, encoded string) string {
	data, err := decoded(encoded)
	if err != nil {
		return fmt.Sprintf("[%s, %s, damaged]", what, kind)
	}
	name := fmt.Sprintf("%s, %s, %d bytes", what, kind, len(data))
	if path := w.keep(data, extension(kind)); path != "" {
		name += ", kept in " + path
	}
	return "[" + name + "]"
}

// inURLs has the letters of base64 as addresses use them in place of the usual.
var inURLs = strings.NewReplacer("-", "+", "_", "/")

// decoded reads base64 of either alphabet, with or without its end.
func decoded(text string) ([]byte, error) {
	text = strings.TrimRight(strings.TrimSpace(text), "=")
	return base64.RawStdEncoding.DecodeString(inURLs.Replace(text))
}

// extension is the file name's end for a kind of data. Kinds that a desktop
// might run are not among them.
func extension(kind string) string {
	base, _, _ := mime.ParseMediaType(kind)
	switch base {
	case "image/png":
		return ".png"
	case "image/jpeg":
		return ".jpg"
	case "image/gif":
		return ".gif"
	case "image/webp":
		return ".webp"
	case "audio/wav", "audio/x-wav":
		return ".wav"
	case "audio/mpeg":
		return ".mp3"
	case "application/pdf":
		return ".pdf"
	case "text/plain":
		return ".txt"
	}
	return ".bin"
}

// keep writes data into a new file of Options.Files and returns its path; ""
// when there is no such folder or no place in it.
func (w words) keep(data []byte, ending string) string {
	if w.files == "" {
		return ""
	}
	path, err := writeNew(w.files, w.name+"-*"+ending, data)
	if err != nil {
		w.log.Warn("keep a result", "of", w.name, "err", err)
		return ""
	}
	return path
}

func writeNew(dir, pattern string, data []byte) (string, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	f, err := os.CreateTemp(dir, pattern) // with mode 0600
	if err != nil {
		return "", err
	}
	if _, err := f.Write(data); err != nil {
		_ = f.Close()
		_ = os.Remove(f.Name())
		return "", err
	}
	return filepath.Clean(f.Name()), f.Close()
}

// cutMiddle keeps head and tail of a text that is longer than limit bytes,
// with a note between them.
func cutMiddle(text string, limit int, note string) string {
	head, end := limit*2/3, len(text)-limit/3
	for head > 0 && !utf8.RuneStart(text[head]) {
		head--
	}
	for end < len(text) && !utf8.RuneStart(text[end]) {
		end++
	}
	return fmt.Sprintf("%s\n[… %d bytes left out; %s …]\n%s", text[:head], end-head, note, text[end:])
}

// cutText keeps the beginning of a text that is longer than limit bytes.
func cutText(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	for limit > 0 && !utf8.RuneStart(text[limit]) {
		limit--
	}
	return text[:limit] + "…"
}
