package house

type Room struct {
	windows int
	name    string
}

func (r *Room) wide() { open(r) }
