package text

// Nearest returns the known name with the smallest distance, if that is less than
// most; otherwise "".
func Nearest(name string, known []string, most int) (near string) {
	for _, k := range known {
		if d := Distance(k, name); d < most {
			near, most = k, d
		}
	}
	return near
}

// Distance returns the Damerau–Levenshtein distance of two words: the number of
// characters to change, insert, delete or swap with a neighbour.
func Distance(a, b string) int {
	from, to := []rune(a), []rune(b)
	before, last, row := make([]int, len(to)+1), make([]int, len(to)+1), make([]int, len(to)+1)
	for j := range last {
		last[j] = j
	}
	for i := range from {
		row[0] = i + 1
		for j := range to {
			cost := 1
			if from[i] == to[j] {
				cost = 0
			}
			row[j+1] = min(last[j]+cost, last[j+1]+1, row[j]+1)
			if i > 0 && j > 0 && from[i] == to[j-1] && from[i-1] == to[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(to)]
}
