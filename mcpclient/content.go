package mcpclient

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"mime"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/mark3labs/mcp-go/mcp"

	"lifehub/agent"
	"lifehub/internal/text"
)

// maxText is the number of bytes of a result that are passed to the model. A
// longer result is saved to a file, and the text says so.
const maxText = 31 << 10

// words converts results to text. Content that is not text is described and saved
// to files whose names begin with name.
type words struct {
	*Client
	name string
}

// result converts the result of a tool call to text.
func (w words) result(result *mcp.CallToolResult) string {
	var parts []string
	for _, c := range result.Content {
		if part := w.part(c); part != "" {
			parts = append(parts, part)
		}
	}
	// The protocol asks servers to repeat structured content as text; some only sum it up.
	if structured := structuredText(result); structured != "" && !tells(parts, structured) {
		parts = append(parts, structured)
	}
	return w.shortened(strings.Join(parts, "\n\n"))
}

// tells reports whether one of the texts is a document, or all of them together have each of its values.
func tells(texts []string, document string) bool {
	whole, _ := canonical([]byte(document)) // valid, as it was decoded from JSON
	if slices.ContainsFunc(texts, func(text string) bool {
		same, err := canonical([]byte(text))
		return err == nil && same == whole
	}) {
		return true
	}
	var value any
	decoder := json.NewDecoder(strings.NewReader(document))
	decoder.UseNumber()
	all := strings.Join(texts, "\n")
	return len(all) <= maxText && len(document) <= maxText && decoder.Decode(&value) == nil && has(spaced(all), value)
}

// has reports whether a text has each value of a document.
func has(text string, value any) bool {
	switch v := value.(type) {
	case map[string]any:
		return has(text, slices.Collect(maps.Values(v)))
	case []any:
		return !slices.ContainsFunc(v, func(one any) bool { return !has(text, one) })
	case nil:
		return true
	}
	words := fmt.Sprint(value)
	return words == "" || strings.Contains(text, spaced(words))
}

// spaced returns the words of a text, with spaces around each.
func spaced(text string) string {
	return " " + strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return r
		}
		return ' '
	}, text) + " "
}

const (
	maxPictures = 4        // images of a result that are passed to the model
	maxPicture  = 10 << 20 // bytes of one
)

// pictures returns the images of a result that can be passed to a model.
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

// shortened truncates a text for a prompt, keeping its beginning and end.
func (w words) shortened(full string) string {
	full = w.Secrets.Known(strings.ToValidUTF8(full, "�"))
	if len(full) <= maxText {
		return full
	}
	note := fmt.Sprintf("; %d KiB in all", len(full)>>10)
	if path := w.keep([]byte(full), ".txt"); path != "" {
		note += ", saved whole in " + path
	}
	return text.ClipNoting(full, maxText, note)
}

func structuredText(result *mcp.CallToolResult) string {
	raw := result.RawStructuredContent
	if raw == nil && result.StructuredContent != nil {
		raw, _ = json.Marshal(result.StructuredContent) // always encodable, as it was decoded from JSON
	}
	if string(raw) == "null" {
		return ""
	}
	return string(raw)
}

// part converts one piece of content to text.
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
	return fmt.Sprintf("[unknown content: %T]", content)
}

// resource converts the contents of a resource to text.
func (w words) resource(contents mcp.ResourceContents) string {
	switch r := contents.(type) {
	case mcp.TextResourceContents:
		return fmt.Sprintf("[resource %s]\n%s", r.URI, r.Text)
	case mcp.BlobResourceContents:
		return w.binary("resource "+r.URI, r.MIMEType, r.Blob)
	}
	return ""
}

// binary saves data to a file and returns a description.
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

// inURLs converts URL-safe base64 to the standard alphabet.
var inURLs = strings.NewReplacer("-", "+", "_", "/")

// decoded decodes base64 of either alphabet, with or without padding, also in a data: address.
func decoded(text string) ([]byte, error) {
	if _, data, is := strings.Cut(text, ";base64,"); is {
		text = data
	}
	text = strings.TrimRight(strings.TrimSpace(text), "=")
	return base64.RawStdEncoding.DecodeString(inURLs.Replace(text))
}

// extensions are file name extensions by media type; other types get .bin. Types
// that a desktop might execute are excluded.
var extensions = map[string]string{
	"image/png": ".png", "image/jpeg": ".jpg", "image/gif": ".gif", "image/webp": ".webp",
	"audio/wav": ".wav", "audio/x-wav": ".wav",
	"audio/mpeg": ".mp3", "application/pdf": ".pdf", "text/plain": ".txt",
}

// keep saves data to a new file in Options.Files and returns its path. It returns
// "" if there is no such folder or the file cannot be written.
func (w words) keep(data []byte, ending string) string {
	if w.Files == "" {
		return ""
	}
	path, err := writeNew(w.Files, w.name+"-*"+ending, data)
	if err != nil {
		w.Log.Warn("save a result", "of", w.name, "err", err)
		return ""
	}
	return path
}

func writeNew(dir, pattern string, data []byte) (string, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	f, err := os.CreateTemp(dir, pattern) // created with mode 0600
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
