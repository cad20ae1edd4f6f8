package house

func open(r *Room) { r.light() }

func (r *Room) door() { width() }
