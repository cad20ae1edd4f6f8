package ollama

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/ollama/ollama/api"
	"github.com/ollama/ollama/envconfig"
)

// longestLine is how long a line of a streamed answer may be, as in Ollama's client.
const longestLine = 8 << 20

// errNotJSON ends a stream with a line that is half of one, or of another kind.
var errNotJSON = errors.New("the server sent a line that is not whole")

// streamChat is Chat of Ollama's client, which takes 8 MB for every answer: that
// lets the heap grow to four times what the whole program needs. Requests that
// are signed, as ollama.com wants them, go by the client.
func (o *Provider) streamChat(ctx context.Context, chat *api.ChatRequest, receive api.ChatResponseFunc) error {
	if envconfig.UseAuth() || o.base.Hostname() == "ollama.com" {
		return o.client.Chat(ctx, chat, receive)
	}
	body, err := json.Marshal(chat)
	if err != nil {
		return fmt.Errorf("write the request: %w", err)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, o.base.JoinPath("/api/chat").String(), bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("make the request: %w", err)
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", "application/x-ndjson")
	response, err := o.transport.Client().Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()

	lines := bufio.NewScanner(response.Body)
	lines.Buffer(nil, longestLine)
	for first := true; lines.Scan(); first = false {
		text := bytes.TrimSpace(lines.Bytes())
		if first {
			text = bytes.TrimPrefix(text, []byte("\uFEFF")) // a byte order mark
		}
		if len(text) == 0 {
			continue
		}
		var line struct {
			api.ChatResponse
			Error     string `json:"error"`
			SigninURL string `json:"signin_url"`
		}
		err := json.Unmarshal(text, &line)
		switch {
		case response.StatusCode == http.StatusUnauthorized && err == nil:
			return api.AuthorizationError{StatusCode: response.StatusCode, Status: response.Status, SigninURL: line.SigninURL}
		case response.StatusCode >= http.StatusBadRequest && err != nil:
			return api.StatusError{StatusCode: response.StatusCode, Status: response.Status, ErrorMessage: string(text)}
		case response.StatusCode >= http.StatusBadRequest:
			return api.StatusError{StatusCode: response.StatusCode, Status: response.Status, ErrorMessage: line.Error}
		case err != nil && (text[0] == '{' || text[0] == '['):
			return errNotJSON
		case err != nil:
			return errors.New(string(text))
		case line.Error != "":
			return errors.New(line.Error)
		}
		if err := receive(line.ChatResponse); err != nil {
			return err
		}
	}
	if response.StatusCode >= http.StatusBadRequest && lines.Err() == nil { // with nothing to read
		return api.StatusError{StatusCode: response.StatusCode, Status: response.Status}
	}
	return lines.Err()
}
