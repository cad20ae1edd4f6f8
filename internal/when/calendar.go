package when

import "time"

// steps is the unit n after the one that a day is in.
func steps(day time.Time, unit, n int) Span {
	switch year, month := day.Year(), int(day.Month()); unit {
	case aDay:
		return daysFrom(day.AddDate(0, 0, n), 1)
	case aWeek:
		return daysFrom(mondayOf(day).AddDate(0, 0, 7*n), 7)
	case aWeekend:
		return daysFrom(mondayOf(day).AddDate(0, 0, 7*n+5), 2)
	case aMonth:
		return monthsFrom(day, year, month+n, 1)
	case aQuarter:
		return monthsFrom(day, year, (month-1)/3*3+1+3*n, 3)
	}
	return yearOf(day, day.Year()+n)
}

// away is the day so many units from a day. A count of weeks or months is not
// exact, so the days around it belong to it.
func away(day time.Time, n, unit int) Span {
	around := 0
	switch unit {
	case aWeek, aWeekend:
		day, around = day.AddDate(0, 0, 7*n), 3
	case aMonth, aQuarter:
		day, around = day.AddDate(0, n*map[int]int{aMonth: 1, aQuarter: 3}[unit], 0), 15
	case aYear:
		return Span{day.AddDate(n, -3, 0), day.AddDate(n, 3, 1)}
	case halfYear:
		return steps(day, aMonth, 6*n)
	default:
		day = day.AddDate(0, 0, n)
	}
	return Span{day.AddDate(0, 0, -around), day.AddDate(0, 0, around+1)}
}

// nearDay is the nth such day of the week after a day; before it, where n is
// negative.
func nearDay(day time.Time, weekday, n int) time.Time {
	ahead := (weekday - int(day.Weekday()) + 7) % 7
	if n > 0 && ahead > 0 {
		n--
	}
	return day.AddDate(0, 0, ahead+7*n)
}

func yearOf(day time.Time, year int) Span { return monthsFrom(day, year, 1, 12) }

// dateOf is a day of the calendar. It reports whether there is such a day.
func dateOf(today time.Time, year, month, day int) (Span, bool) {
	date := time.Date(year, time.Month(month), day, 0, 0, 0, 0, today.Location())
	return daysFrom(date, 1), date.Day() == day && int(date.Month()) == month
}

// daysFrom is a stretch of so many days.
func daysFrom(from time.Time, n int) Span { return Span{from, from.AddDate(0, 0, n)} }

// monthsFrom is a stretch of n months from one on, where 0 is the December
// before.
func monthsFrom(day time.Time, year, month, n int) Span {
	from := time.Date(year, time.Month(month), 1, 0, 0, 0, 0, day.Location())
	return Span{from, from.AddDate(0, n, 0)}
}

func mondayOf(day time.Time) time.Time { return day.AddDate(0, 0, -(int(day.Weekday())+6)%7) }
