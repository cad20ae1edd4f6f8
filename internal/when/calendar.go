package when

import "time"

// steps returns the unit that is n units after the one that contains day.
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

// away returns the day that is n units from a day. Counts of weeks or months are
// approximate, so the span includes the days around it.
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

// nearDay returns the nth such weekday after a day, or before it if n is
// negative.
func nearDay(day time.Time, weekday, n int) time.Time {
	ahead := (weekday - int(day.Weekday()) + 7) % 7
	if n > 0 && ahead > 0 {
		n--
	}
	return day.AddDate(0, 0, ahead+7*n)
}

func yearOf(day time.Time, year int) Span { return monthsFrom(day, year, 1, 12) }

// dateOf returns a date as a span, and reports whether the date exists.
func dateOf(today time.Time, year, month, day int) (Span, bool) {
	date := time.Date(year, time.Month(month), day, 0, 0, 0, 0, today.Location())
	return daysFrom(date, 1), date.Day() == day && int(date.Month()) == month
}

// daysFrom returns a span of n days.
func daysFrom(from time.Time, n int) Span { return Span{from, from.AddDate(0, 0, n)} }

// monthsFrom returns a span of n months that starts with the given month; month 0
// is December of the previous year.
func monthsFrom(day time.Time, year, month, n int) Span {
	from := time.Date(year, time.Month(month), 1, 0, 0, 0, 0, day.Location())
	return Span{from, from.AddDate(0, n, 0)}
}

func mondayOf(day time.Time) time.Time { return day.AddDate(0, 0, -(int(day.Weekday())+6)%7) }
