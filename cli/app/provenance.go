package app

import (
	"context"
	"errors"
	"os"
	"sync"

	"lifehub/agent"
	"lifehub/store"
)

// provenance is the provenance store of the conversations. A run that saves no conversation still
// saves the provenance of what it writes to the notes, because later runs read the notes again.
type provenance struct {
	*store.Store
	file  string                       // the saved conversations; "" if Store is what is saved
	saved func() (*store.Store, error) // opens file

	mu   sync.Mutex
	disk *store.Store // nil until opened
}

// onDisk opens the saved conversations. It returns nil if there are none and they are not to be
// created.
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
