// Package llmtest provides models for tests: [Script] is an in-process fake with
// scripted answers, [StartOllama] starts a real server with tiny models, [Faults]
// is a misbehaving server, and [Paced] one whose clock tells what a user waits for.
package llmtest

import (
	"context"
	"errors"
	"iter"
	"slices"
	"strings"
	"sync"

	"lifehub/llm"
)

// Answer is one scripted answer.
type Answer struct {
	// Match selects the requests that this answer is for: a text that occurs in
	// one of their messages, including the system prompt. Empty matches any
	// request.
	Match string
	// Always makes the answer available for more than one request.
	Always bool

	Text     string   // streamed word by word
	Pieces   []string // instead of Text; streamed as given
	Thinking string
	Calls    []llm.ToolCall
	Usage    *llm.Usage // nil: counted from the words of Text
	Err      error      // yielded after the text; llm.ErrCut simulates a truncated answer

	// Hold pauses the stream after HoldAfter pieces until the channel is closed
	// or the request is cancelled. If nil, the stream does not pause.
	Hold      <-chan struct{}
	HoldAfter int
}

// Script is a model that gives scripted answers in order, each to the first
// request that matches it, and records the requests. It is safe for concurrent
// use.
type Script struct {
	mu       sync.Mutex
	answers  []Answer
	requests []llm.Request
}

// ErrNoAnswer is yielded for a request for which no scripted answer is left.
var ErrNoAnswer = errors.New("the script has no answer for this request")

// NewScript returns a model that gives these answers.
func NewScript(answers ...Answer) *Script { return &Script{answers: answers} }

// Say appends plain text answers.
func (s *Script) Say(texts ...string) *Script {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, text := range texts {
		s.answers = append(s.answers, Answer{Text: text})
	}
	return s
}

// Requests returns the requests so far, oldest first.
func (s *Script) Requests() []llm.Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// Stream implements [llm.Model].
func (s *Script) Stream(ctx context.Context, req llm.Request) iter.Seq2[llm.Delta, error] {
	return func(yield func(llm.Delta, error) bool) {
		answer, ok := s.next(req)
		if !ok {
			yield(llm.Delta{}, ErrNoAnswer)
			return
		}
		answer.stream(ctx, yield)
	}
}

func (s *Script) next(req llm.Request) (Answer, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, req)
	for i, a := range s.answers {
		if a.Match != "" && !slices.ContainsFunc(req.Messages,
			func(m llm.Message) bool { return strings.Contains(m.Text, a.Match) }) {
			continue
		}
		if !a.Always {
			s.answers = slices.Delete(s.answers, i, i+1)
		}
		return a, true
	}
	return Answer{}, false
}

func (a Answer) stream(ctx context.Context, yield func(llm.Delta, error) bool) {
	var deltas []llm.Delta
	if a.Thinking != "" {
		deltas = append(deltas, llm.Delta{Thinking: a.Thinking})
	}
	pieces := a.Pieces
	if pieces == nil {
		pieces = strings.SplitAfter(a.Text, " ")
	}
	for _, piece := range pieces {
		if piece != "" {
			deltas = append(deltas, llm.Delta{Text: piece})
		}
	}
	if a.Err == nil {
		for i := range a.Calls {
			deltas = append(deltas, llm.Delta{Call: &a.Calls[i]})
		}
	}
	for i := 0; i <= len(deltas); i++ {
		if a.Hold != nil && i == a.HoldAfter {
			select {
			case <-a.Hold:
			case <-ctx.Done():
			}
		}
		if err := ctx.Err(); err != nil {
			yield(llm.Delta{}, err)
			return
		}
		if i < len(deltas) && !yield(deltas[i], nil) {
			return
		}
	}
	if a.Err != nil {
		yield(llm.Delta{}, a.Err)
		return
	}
	usage := a.Usage
	if usage == nil {
		usage = &llm.Usage{Prompt: 1, Answer: len(pieces), Stopped: llm.StopEnd}
	}
	yield(llm.Delta{Usage: usage}, nil)
}
