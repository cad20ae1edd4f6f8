package mcpclient

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"mime"
	"os"
	"path/filepath"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"

	"lifehub/agent"
	"lifehub/internal/text"
)

// maxText is how much of a result goes on to the model, in bytes. The rest
// is kept in a file; both are said in the text.
const maxText = 31 << 10

// words writes what servers send as text: their texts as they are,
// everything else named and kept in files that begin with name.
type words struct {
	*Client
	name string
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
	whole = w.Redact(strings.ToValidUTF8(whole, "�"))
	if len(whole) <= maxText {
		return whole
	}
	note := fmt.Sprintf("; %d KiB in all", len(whole)>>10)
	if path := w.keep([]byte(whole), ".txt"); path != "" {
		note += ", saved whole in " + path
	}
	return text.ClipNoting(whole, maxText, note)
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
	base, _, _ := mime.ParseMediaType(kind)
	if path := w.keep(data, cmp.Or(extensions[base], ".bin")); path != "" {
		name += ", saved in " + path
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

// extensions are the file names' ends for kinds of data; others have .bin.
// Kinds that a desktop might run are not among them.
var extensions = map[string]string{
	"image/png": ".png", "image/jpeg": ".jpg", "image/gif": ".gif", "image/webp": ".webp", "audio/wav": ".wav", "audio/x-wav": ".wav",
	"audio/mpeg": ".mp3", "application/pdf": ".pdf", "text/plain": ".txt",
}

// keep writes data into a new file of Options.Files and returns its path; ""
// when there is no such folder or no place in it.
func (w words) keep(data []byte, ending string) string {
	if w.Files == "" {
		return ""
	}
	path, err := writeNew(w.Files, w.name+"-*"+ending, data)
	if err != nil {
		w.Log.Warn("keep a result", "of", w.name, "err", err)
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
