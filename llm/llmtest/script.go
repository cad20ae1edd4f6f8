// Package llmtest holds models for tests: [Script] says in the same process
// what a test wants, [StartOllama] starts a real server with tiny models, and
// [Faults] is a server that misbehaves.
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
	// Match picks the requests it is for: a text that stands in one of their
	// messages, the system prompt included. "" is for any.
	Match string
	// Always keeps it for more than one request.
	Always bool

	Text     string   // streamed a word at a time
	Pieces   []string // instead of Text, streamed as they are
	Thinking string
	Calls    []llm.ToolCall
	Usage    *llm.Usage // nil: counted from the words
	Err      error      // comes after the text; llm.ErrCut makes a cut answer

	// Hold stops the stream after that many pieces until the channel is closed
	// or the request is cancelled; nil: no stop.
	Hold      <-chan struct{}
	HoldAfter int
}

// Script is a model that gives the answers of a test in their order, each to
// the first request that it matches, and keeps what it was asked. It is safe
// for concurrent use.
type Script struct {
	mu       sync.Mutex
	answers  []Answer
	requests []llm.Request
}

// ErrNoAnswer is yielded for a request that no answer is left for.
var ErrNoAnswer = errors.New("the script has no answer for this request")

// NewScript makes a model that gives these answers.
func NewScript(answers ...Answer) *Script { return &Script{answers: answers} }

// Say adds plain answers, in order.
func (s *Script) Say(texts ...string) *Script {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, text := range texts {
		s.answers = append(s.answers, Answer{Text: text})
	}
	return s
}

// Requests are the requests so far, oldest first.
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
		if a.Match != "" && !slices.ContainsFunc(req.Messages, func(m llm.Message) bool { return strings.Contains(m.Text, a.Match) }) {
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
