package app

import (
	"context"
	"errors"
	"os"
	"sync"

	"lifehub/agent"
	"lifehub/store"
)

// provenance is that of the conversations. In a run that saves none, what is
// written to the notes is remembered all the same: the notes are read again.
type provenance struct {
	*store.Store
	file  string                       // the saved conversations; "": those of Store
	saved func() (*store.Store, error) // opens them

	mu   sync.Mutex
	disk *store.Store // nil: not opened
}

// onDisk opens what is saved; nil: nothing is, and it is not to be made.
func (p *provenance) onDisk(make bool) (*store.Store, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.disk != nil || p.file == "" {
		return p.disk, nil
	}
	if _, err := os.Stat(p.file); err != nil && !make {
		return nil, nil
	}
	var err error
	p.disk, err = p.saved()
	return p.disk, err
}

func (p *provenance) Remember(ctx context.Context, u agent.Untrusted) error {
	if u.Kind == agent.WasWritten {
		disk, err := p.onDisk(true)
		if err != nil {
			return err
		}
		if disk != nil {
			u.Conversation = ""
			return disk.Remember(ctx, u)
		}
	}
	return p.Store.Remember(ctx, u)
}

func (p *provenance) Sources(ctx context.Context, prints []int64) ([]string, error) {
	found, err := p.Store.Sources(ctx, prints)
	disk, opening := p.onDisk(false)
	if disk == nil || err != nil || opening != nil {
		return found, errors.Join(err, opening)
	}
	more, err := disk.Sources(ctx, prints)
	return append(found, more...), err
}

func (p *provenance) close() {
	if p.disk != nil {
		p.disk.Close()
	}
}
