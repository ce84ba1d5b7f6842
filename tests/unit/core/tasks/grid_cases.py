"""When cron expressions are due where clocks are never changed: `case_table.py` says how to read it."""

GRID = r"""
cronsim: every minute
    UTC | * * * * * | 2026-01-01T00:00
    2026-01-01T00:01  2026-01-01T00:02
cronsim: the minute that has begun is over
    UTC | * * * * * | 2026-01-01T00:00:30
    2026-01-01T00:01
cronsim: a start on a match does not count
    UTC | 30 9 * * * | 2026-01-01T09:30
    2026-01-02T09:30
cronsim: a start a moment before a match counts
    UTC | 30 9 * * * | 2026-01-01T09:29:59.999999
    2026-01-01T09:30
cronsim: every five minutes
    UTC | */5 * * * * | 2026-01-01T00:52
    2026-01-01T00:55  2026-01-01T01:00  2026-01-01T01:05
cronsim: a step that does not divide the hour starts again with it
    UTC | */25 * * * * | 2026-01-01T00:30
    2026-01-01T00:50  2026-01-01T01:00  2026-01-01T01:25
cronsim: a step from a number on
    UTC | 5/20 * * * * | 2026-01-01T00:30
    2026-01-01T00:45  2026-01-01T01:05  2026-01-01T01:25
cronsim: a step from the last number on
    UTC | 59/15 * * * * | 2026-01-01T00:00
    2026-01-01T00:59  2026-01-01T01:59
cronsim: a step in a range
    UTC | 10-30/10 * * * * | 2026-01-01T00:25
    2026-01-01T00:30  2026-01-01T01:10  2026-01-01T01:20
cronsim: a step as long as the field
    UTC | */60 * * * * | 2026-01-01T00:25
    2026-01-01T01:00  2026-01-01T02:00
cronsim: a range of one
    UTC | 0 5-5 * * * | 2026-01-01T06:00
    2026-01-02T05:00  2026-01-03T05:00
cronsim: a list of minutes
    UTC | 31,1 * * * * | 2026-01-01T00:10
    2026-01-01T00:31  2026-01-01T01:01  2026-01-01T01:31
cronsim: a list of hours
    UTC | 0 18,9,12 * * * | 2026-01-01T10:00
    2026-01-01T12:00  2026-01-01T18:00  2026-01-02T09:00
cronsim: office hours
    UTC | 0 9-17 * * * | 2026-01-01T16:30
    2026-01-01T17:00  2026-01-02T09:00  2026-01-02T10:00
cronsim: every second hour
    UTC | 0 */2 * * * | 2026-01-01T21:00
    2026-01-01T22:00  2026-01-02T00:00  2026-01-02T02:00
cronsim: every 10 minutes of two hours
    UTC | */10 8-9 * * * | 2026-01-01T09:40
    2026-01-01T09:50  2026-01-02T08:00  2026-01-02T08:10
cronsim: leading zeros
    UTC | 05 07 01 02 * | 2026-01-01T00:00
    2026-02-01T07:05  2027-02-01T07:05
cronsim: several spaces
    UTC | 0   9 *  * * | 2026-01-01T00:00
    2026-01-01T09:00
cronsim: a Monday is 1
    UTC | 0 9 * * 1 | 2026-01-01T00:00
    2026-01-05T09:00  2026-01-12T09:00
cronsim: a Sunday is 0
    UTC | 0 9 * * 0 | 2026-01-01T00:00
    2026-01-04T09:00  2026-01-11T09:00
cronsim: a Sunday is 7 too
    UTC | 0 9 * * 7 | 2026-01-01T00:00
    2026-01-04T09:00  2026-01-11T09:00
cronsim: Friday to Sunday as 5-7
    UTC | 0 9 * * 5-7 | 2026-01-01T12:00
    2026-01-02T09:00  2026-01-03T09:00  2026-01-04T09:00  2026-01-09T09:00
cronsim: weekdays by name
    UTC | 0 9 * * MON-FRI | 2026-01-02T10:00
    2026-01-05T09:00  2026-01-06T09:00
cronsim: weekdays by number
    UTC | 0 9 * * 1-5 | 2026-01-01T10:00
    2026-01-02T09:00  2026-01-05T09:00  2026-01-06T09:00
cronsim: names in lower case
    UTC | 0 9 * jun mon,thu | 2026-06-25T10:00
    2026-06-29T09:00  2027-06-03T09:00  2027-06-07T09:00
cronsim: the weekend
    UTC | 0 10 * * SAT,SUN | 2026-01-01T00:00
    2026-01-03T10:00  2026-01-04T10:00  2026-01-10T10:00
cronsim: every second weekday
    UTC | 0 10 * * MON-FRI/2 | 2026-01-01T00:00
    2026-01-02T10:00  2026-01-05T10:00  2026-01-07T10:00  2026-01-09T10:00
cronsim: the first of the month
    UTC | 0 8 1 * * | 2026-01-15T00:00
    2026-02-01T08:00  2026-03-01T08:00
cronsim: the 31st, only where there is one
    UTC | 0 0 31 * * | 2026-01-31T00:00
    2026-03-31T00:00  2026-05-31T00:00  2026-07-31T00:00  2026-08-31T00:00
cronsim: the 30th, not in February
    UTC | 0 0 30 * * | 2026-01-30T00:00
    2026-03-30T00:00  2026-04-30T00:00
cronsim: the last three days there can be
    UTC | 0 0 29-31 * * | 2026-02-01T00:00
    2026-03-29T00:00  2026-03-30T00:00  2026-03-31T00:00
cronsim: 29 February of leap years
    UTC | 0 12 29 2 * | 2024-02-29T12:00
    2028-02-29T12:00  2032-02-29T12:00
cronsim: 29 February passes over 2100
    UTC | 0 12 29 2 * | 2096-02-29T12:00
    2104-02-29T12:00
cronsim: 29 February of 2000
    UTC | 0 12 29 2 * | 1999-01-01T00:00
    2000-02-29T12:00
cronsim: the 29th in a February without one
    UTC | 0 0 29 * * | 2026-01-29T00:00
    2026-03-29T00:00  2026-04-29T00:00
cronsim: the last day of the month
    UTC | 0 18 L * * | 2026-01-31T18:00
    2026-02-28T18:00  2026-03-31T18:00  2026-04-30T18:00  2026-05-31T18:00
cronsim: the last day of a leap February
    UTC | 0 18 L 2 * | 2026-02-28T18:00
    2027-02-28T18:00  2028-02-29T18:00
cronsim: the last day of the century's February
    UTC | 0 18 L 2 * | 2100-01-01T00:00
    2100-02-28T18:00
cronsim: the middle and the last day
    UTC | 0 9 15,L * * | 2026-02-10T00:00
    2026-02-15T09:00  2026-02-28T09:00  2026-03-15T09:00  2026-03-31T09:00
cronsim: the 31st or the last day are one
    UTC | 0 9 31,L * * | 2026-01-30T00:00
    2026-01-31T09:00  2026-02-28T09:00  2026-03-31T09:00
hand: all days but the first, and the last, are not all days
    UTC | 0 9 2-31,L * * | 2026-01-31T10:00
    2026-02-02T09:00  2026-02-03T09:00
cronsim: the second Friday
    UTC | 0 9 * * FRI#2 | 2026-01-01T00:00
    2026-01-09T09:00  2026-02-13T09:00  2026-03-13T09:00
cronsim: the second Friday by number
    UTC | 0 9 * * 5#2 | 2026-02-13T09:00
    2026-03-13T09:00  2026-04-10T09:00
cronsim: the first Monday
    UTC | 0 9 * * MON#1 | 2026-01-01T00:00
    2026-01-05T09:00  2026-02-02T09:00  2026-03-02T09:00
cronsim: the fifth Friday, only where there is one
    UTC | 0 9 * * 5#5 | 2026-01-30T09:00
    2026-05-29T09:00  2026-07-31T09:00  2026-10-30T09:00
cronsim: the fifth Monday of February is rare
    UTC | 0 9 * 2 1#5 | 2016-02-29T09:00
    2044-02-29T09:00  2072-02-29T09:00
cronsim: the first and the third Sunday
    UTC | 0 9 * * 0#1,7#3 | 2026-01-01T00:00
    2026-01-04T09:00  2026-01-18T09:00  2026-02-01T09:00  2026-02-15T09:00
cronsim: a weekday and an nth weekday together
    UTC | 0 9 * * 1,5#2 | 2026-02-05T00:00
    2026-02-09T09:00  2026-02-13T09:00  2026-02-16T09:00  2026-02-23T09:00
cronsim: the fourth Thursday of November
    UTC | 0 6 * 11 THU#4 | 2026-01-01T00:00
    2026-11-26T06:00  2027-11-25T06:00
cronsim: months by number
    UTC | 0 0 1 1,4,7,10 * | 2026-02-01T00:00
    2026-04-01T00:00  2026-07-01T00:00  2026-10-01T00:00  2027-01-01T00:00
cronsim: months by name
    UTC | 0 0 1 JAN,JUL * | 2026-02-01T00:00
    2026-07-01T00:00  2027-01-01T00:00
cronsim: every third month
    UTC | 0 0 1 */3 * | 2026-10-01T00:00
    2027-01-01T00:00  2027-04-01T00:00
cronsim: summer
    UTC | 0 7 1 JUN-AUG * | 2026-07-01T07:00
    2026-08-01T07:00  2027-06-01T07:00
cronsim: weekdays of December
    UTC | 0 8 * 12 MON-FRI | 2026-12-31T08:00
    2027-12-01T08:00  2027-12-02T08:00
cronsim: new year
    UTC | 0 0 1 1 * | 2026-01-01T00:00
    2027-01-01T00:00  2028-01-01T00:00
cronsim: the last minute of the year
    UTC | 59 23 31 12 * | 2026-01-01T00:00
    2026-12-31T23:59  2027-12-31T23:59
cronsim: a day of month or a day of week
    UTC | 0 9 13 * FRI | 2026-02-05T00:00
    2026-02-06T09:00  2026-02-13T09:00  2026-02-20T09:00  2026-02-27T09:00
cronsim: the first or a Monday
    UTC | 0 9 1 * 1 | 2026-01-26T09:00
    2026-02-01T09:00  2026-02-02T09:00  2026-02-09T09:00
cronsim: two days of month or a Sunday
    UTC | 0 9 1,15 * SUN | 2026-02-10T00:00
    2026-02-15T09:00  2026-02-22T09:00  2026-03-01T09:00  2026-03-08T09:00
cronsim: the 31st or a Wednesday
    UTC | 0 9 31 3,4 WED | 2026-03-26T00:00
    2026-03-31T09:00  2026-04-01T09:00  2026-04-08T09:00  2026-04-15T09:00
cronsim: the 13th or the second Friday
    UTC | 0 9 13 * 5#2 | 2026-01-01T00:00
    2026-01-09T09:00  2026-01-13T09:00  2026-02-13T09:00  2026-03-13T09:00
cronsim: the last day or a Monday
    UTC | 0 9 L * MON | 2026-01-27T00:00
    2026-01-31T09:00  2026-02-02T09:00  2026-02-09T09:00
cronsim: the 29th of February or a Sunday of it
    UTC | 0 9 29 2 SUN | 2028-02-20T00:00
    2028-02-20T09:00  2028-02-27T09:00  2028-02-29T09:00  2029-02-04T09:00
hand: @hourly is on the hour
    UTC | @hourly | 2026-01-01T10:10
    2026-01-01T11:00  2026-01-01T12:00
hand: @daily is at midnight
    UTC | @daily | 2026-01-01T10:10
    2026-01-02T00:00  2026-01-03T00:00
hand: @weekly is a Sunday at midnight
    UTC | @weekly | 2026-01-01T10:10
    2026-01-04T00:00  2026-01-11T00:00
hand: @monthly is the first at midnight
    UTC | @monthly | 2026-01-01T10:10
    2026-02-01T00:00  2026-03-01T00:00
hand: @yearly is new year at midnight
    UTC | @Yearly | 2026-01-01T10:10
    2027-01-01T00:00  2028-01-01T00:00
hand: the last Friday as L5
    UTC | 0 9 * * L5 | 2026-01-01T00:00
    2026-01-30T09:00  2026-02-27T09:00  2026-03-27T09:00
hand: the last Friday as 5L
    UTC | 0 9 * * 5L | 2026-01-30T09:00
    2026-02-27T09:00  2026-03-27T09:00  2026-04-24T09:00
hand: the last Friday by name
    UTC | 0 9 * * LFRI | 2026-01-01T00:00
    2026-01-30T09:00  2026-02-27T09:00
hand: the last Sunday as L7
    UTC | 0 9 * * L7 | 2026-01-01T00:00
    2026-01-25T09:00  2026-02-22T09:00  2026-03-29T09:00
hand: the first Monday and the last Friday
    UTC | 0 9 * * MON#1,FRIL | 2026-01-01T00:00
    2026-01-05T09:00  2026-01-30T09:00  2026-02-02T09:00
hand: hours past midnight
    UTC | 0 22-1 * * * | 2026-01-01T20:30
    2026-01-01T22:00  2026-01-01T23:00  2026-01-02T00:00  2026-01-02T01:00
hand: a step past midnight
    UTC | 0 22-4/3 * * * | 2026-01-01T20:30
    2026-01-01T22:00  2026-01-02T01:00  2026-01-02T04:00  2026-01-02T22:00
hand: weekdays past the weekend
    UTC | 0 9 * * FRI-MON | 2026-01-03T10:00
    2026-01-04T09:00  2026-01-05T09:00  2026-01-09T09:00
hand: months past the new year
    UTC | 0 0 1 NOV-FEB * | 2026-02-01T00:00
    2026-11-01T00:00  2026-12-01T00:00  2027-01-01T00:00  2027-02-01T00:00
hand: days past the end of the month
    UTC | 0 9 28-2 * * | 2026-02-27T12:00
    2026-02-28T09:00  2026-03-01T09:00  2026-03-02T09:00  2026-03-28T09:00
hand: minutes past the hour
    UTC | 50-10/10 * * * * | 2026-01-01T00:15
    2026-01-01T00:50  2026-01-01T01:00  2026-01-01T01:10  2026-01-01T01:50
hand: a stepped day of month or a Monday
    UTC | 0 9 */2 * MON | 2026-01-09T09:00
    2026-01-11T09:00  2026-01-12T09:00  2026-01-13T09:00  2026-01-15T09:00
hand: a step of one is a star
    UTC | 0 9 */1 * MON | 2026-01-01T00:00
    2026-01-05T09:00  2026-01-12T09:00
hand: a star in a list is a star
    UTC | 0 9 13 * *,5#2 | 2026-01-01T00:00
    2026-01-13T09:00  2026-02-13T09:00
hand: every day of month or a Monday
    UTC | 0 9 1-31 * MON | 2026-01-05T09:00
    2026-01-06T09:00  2026-01-07T09:00
hand: the 13th or the last Friday
    UTC | 0 9 13 * L5 | 2026-01-01T00:00
    2026-01-13T09:00  2026-01-30T09:00  2026-02-13T09:00  2026-02-27T09:00
hand: the 15th, a Monday or the second Friday
    UTC | 0 9 15 * MON,FRI#2 | 2026-01-06T00:00
    2026-01-09T09:00  2026-01-12T09:00  2026-01-15T09:00  2026-01-19T09:00
"""
