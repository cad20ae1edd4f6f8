package mcpclient

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"time"
)

// newWeb returns an HTTP client for one server, which rejects requests to other
// hosts and messages longer than maxFrame.
func newWeb(address string) (*http.Client, error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, err
	}
	return &http.Client{
		Transport: &bounded{wires: http.DefaultTransport.(*http.Transport).Clone(), host: u.Host},
		CheckRedirect: func(request *http.Request, via []*http.Request) error {
			if len(via) > 5 {
				return errors.New("redirected more than 5 times")
			}
			if via[0].URL.Scheme == "https" && request.URL.Scheme != "https" {
				return errors.New("redirected from https to http")
			}
			return nil
		},
	}, nil
}

// goodbye is how long a server may take to accept a message that needs no answer.
const goodbye = 5 * time.Second

// bounded restricts requests to one host and limits responses.
type bounded struct {
	wires *http.Transport
	host  string
}

func (b *bounded) RoundTrip(request *http.Request) (*http.Response, error) {
	if request.URL.Host != b.host {
		return nil, fmt.Errorf("redirected to another host, %s", request.URL.Host)
	}
	// The library sends the answer to a server's question with a limit of 30 s that
	// began with the question.
	if errors.Is(request.Context().Err(), context.DeadlineExceeded) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(request.Context()), goodbye)
		defer cancel()
		request = request.WithContext(ctx)
	}
	response, err := b.wires.RoundTrip(request)
	if err != nil {
		return nil, err
	}
	messages := &limited{in: response.Body}
	kind, _, _ := mime.ParseMediaType(response.Header.Get("Content-Type"))
	if kind == "text/event-stream" {
		messages.ends = 2 // events end with a blank line
	}
	response.Body = readCloser{messages, response.Body}
	if response.StatusCode == http.StatusBadRequest && request.Header.Get(sessionHeader) != "" {
		return unknownSession(response)
	}
	if kind == "application/json" {
		return ownError(response), nil
	}
	return response, nil
}

func (b *bounded) CloseIdleConnections() { b.wires.CloseIdleConnections() }

// sessionHeader identifies the session of a request.
const sessionHeader = "Mcp-Session-Id"

// unknownSession converts a 400 to a 404 if it means that the session is unknown.
// Many servers send 400 after a restart, where the protocol requires 404.
func unknownSession(response *http.Response) (*http.Response, error) {
	body, err := io.ReadAll(io.LimitReader(response.Body, maxWords))
	if err != nil {
		return nil, err
	}
	if bytes.Contains(bytes.ToLower(body), []byte("session")) {
		response.StatusCode, response.Status = http.StatusNotFound, "404 Not Found"
	}
	response.Body = readCloser{io.MultiReader(bytes.NewReader(body), response.Body), response.Body}
	return response, nil
}

// ownError makes an error the reply to its request, which over HTTP it is without an id, too; the library would
// not read it.
func ownError(response *http.Response) *http.Response {
	body, _ := io.ReadAll(io.LimitReader(response.Body, 64<<10)) // what fails fails again below
	var r reply
	if json.Unmarshal(body, &r) == nil && r.Protocol != "" && r.Error != nil {
		if missing(r.ID) {
			r.ID = json.RawMessage("0")
		}
		body = r.or(body)
	}
	response.Body = readCloser{io.MultiReader(bytes.NewReader(body), response.Body), response.Body}
	return response
}

// readCloser reads from one source and closes another.
type readCloser struct {
	io.Reader
	io.Closer
}
