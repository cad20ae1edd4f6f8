package agenttest

import (
	"context"
	"slices"
	"sync"

	"lifehub/agent"
	"lifehub/internal/text"
)

// NewMarks returns Marks that are not saved.
func NewMarks() agent.Marks { return &marks{from: map[int64]string{}} }

type marks struct {
	mu   sync.Mutex
	from map[int64]string
}

func (m *marks) Mark(_ context.Context, source string, lines []string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, key := range text.LineKeys(lines) {
		if m.from[key] == "" {
			m.from[key] = source
		}
	}
	return nil
}

func (m *marks) Marked(_ context.Context, lines []string) (from []string, _ error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, key := range text.LineKeys(lines) {
		if source := m.from[key]; source != "" && !slices.Contains(from, source) {
			from = append(from, source)
		}
	}
	return from, nil
}
