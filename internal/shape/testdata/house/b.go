package house

func (r *Room) light() {
	if r.windows > 0 {
		width()
	}
}
