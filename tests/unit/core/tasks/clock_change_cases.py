"""When cron expressions are due where clocks are changed: `case_table.py` says how to read it.

The changes, from the tz database. New York: 2026-03-08 02:00 to 03:00, 2026-11-01 02:00 to 01:00. London:
2026-03-29 01:00 to 02:00, 2026-10-25 02:00 to 01:00. Lord Howe: 2026-04-05 02:00 to 01:30, 2026-10-04
02:00 to 02:30. Auckland: 2026-04-05 03:00 to 02:00, 2026-09-27 02:00 to 03:00. Santiago: 2025-04-06 00:00
to 2025-04-05 23:00, 2025-09-07 00:00 to 01:00. Troll: 2026-03-29 01:00 to 03:00. Apia: the end of
2011-12-29 to the start of 2011-12-31. Sao Paulo: 2018-11-04 00:00 to 01:00. Moscow: 2014-10-26 02:00 to
01:00. Caracas: 2016-05-01 02:30 to 03:00. Casablanca: 2025-02-23 03:00 to 02:00, 2025-04-06 02:00 to 03:00.
"""

CLOCK_CHANGES = r"""
cronsim: each day at nine in Auckland, across the end of summer
    Pacific/Auckland | 0 9 * * * | 2026-04-04T00:00
    2026-04-04T09:00+13:00  2026-04-05T09:00+12:00  2026-04-06T09:00+12:00
cronsim: each day at nine in Auckland, across its start
    Pacific/Auckland | 0 9 * * * | 2026-09-26T00:00
    2026-09-26T09:00+12:00  2026-09-27T09:00+13:00  2026-09-28T09:00+13:00
cronsim: each day at nine in Kolkata
    Asia/Kolkata | 0 9 * * * | 2026-03-29T00:00
    2026-03-29T09:00+05:30  2026-03-30T09:00+05:30
cronsim: each hour in Kolkata
    Asia/Kolkata | 0 * * * * | 2026-03-29T00:10
    2026-03-29T01:00+05:30  2026-03-29T02:00+05:30
cronsim: each Monday at eight in New York, across the change
    America/New_York | 0 8 * * MON | 2026-03-03T00:00
    2026-03-09T08:00-04:00  2026-03-16T08:00-04:00
cronsim: each day at eight in London, across the change
    Europe/London | 0 8 * * * | 2026-03-28T00:00
    2026-03-28T08:00+00:00  2026-03-29T08:00+01:00  2026-03-30T08:00+01:00
cronsim: New York: 02:30 in the gap
    America/New_York | 30 2 * * * | 2026-03-07T12:00
    2026-03-08T03:00-04:00  2026-03-09T02:30-04:00
cronsim: New York: 02:00, the first of the gap
    America/New_York | 0 2 * * * | 2026-03-07T12:00
    2026-03-08T03:00-04:00  2026-03-09T02:00-04:00
cronsim: New York: 01:59 before the gap
    America/New_York | 59 1 * * * | 2026-03-07T12:00
    2026-03-08T01:59-05:00  2026-03-09T01:59-04:00
cronsim: New York: each hour over the gap
    America/New_York | 0 * * * * | 2026-03-08T00:30
    2026-03-08T01:00-05:00  2026-03-08T03:00-04:00  2026-03-08T04:00-04:00
cronsim: New York: each half hour over the gap
    America/New_York | */30 * * * * | 2026-03-08T01:15
    2026-03-08T01:30-05:00  2026-03-08T03:00-04:00  2026-03-08T03:30-04:00
cronsim: New York: each quarter of a starred hour over the gap
    America/New_York | 7,37 * * * * | 2026-03-08T01:15
    2026-03-08T01:37-05:00  2026-03-08T03:07-04:00  2026-03-08T03:37-04:00
cronsim: New York: 01:30 twice
    America/New_York | 30 1 * * * | 2026-10-31T12:00
    2026-11-01T01:30-04:00  2026-11-02T01:30-05:00
cronsim: New York: 02:00 after the overlap
    America/New_York | 0 2 * * * | 2026-10-31T12:00
    2026-11-01T02:00-05:00  2026-11-02T02:00-05:00
cronsim: New York: each hour over the overlap
    America/New_York | 0 * * * * | 2026-11-01T00:30
    2026-11-01T01:00-04:00  2026-11-01T01:00-05:00  2026-11-01T02:00-05:00  2026-11-01T03:00-05:00
cronsim: New York: each half hour over the overlap
    America/New_York | */30 * * * * | 2026-11-01T00:45
    2026-11-01T01:00-04:00  2026-11-01T01:30-04:00  2026-11-01T01:00-05:00  2026-11-01T01:30-05:00
cronsim: New York: each day at midnight over the overlap
    America/New_York | 0 0 * * * | 2026-10-31T12:00
    2026-11-01T00:00-04:00  2026-11-02T00:00-05:00
cronsim: London: 01:30 in the gap
    Europe/London | 30 1 * * * | 2026-03-28T12:00
    2026-03-29T02:00+01:00  2026-03-30T01:30+01:00
cronsim: London: 01:30 twice
    Europe/London | 30 1 * * * | 2026-10-24T12:00
    2026-10-25T01:30+01:00  2026-10-26T01:30+00:00
cronsim: London: each hour over the gap
    Europe/London | 0 * * * * | 2026-03-28T23:30
    2026-03-29T00:00+00:00  2026-03-29T02:00+01:00  2026-03-29T03:00+01:00
cronsim: London: each hour over the overlap
    Europe/London | 0 * * * * | 2026-10-25T00:30
    2026-10-25T01:00+01:00  2026-10-25T01:00+00:00  2026-10-25T02:00+00:00  2026-10-25T03:00+00:00
cronsim: Lord Howe: 02:15 in the gap of half an hour
    Australia/Lord_Howe | 15 2 * * * | 2026-10-03T12:00
    2026-10-04T02:30+11:00  2026-10-05T02:15+11:00
cronsim: Lord Howe: 02:30, the end of the gap
    Australia/Lord_Howe | 30 2 * * * | 2026-10-03T12:00
    2026-10-04T02:30+11:00  2026-10-05T02:30+11:00
cronsim: Lord Howe: 01:45 twice
    Australia/Lord_Howe | 45 1 * * * | 2026-04-04T12:00
    2026-04-05T01:45+11:00  2026-04-06T01:45+10:30
cronsim: Lord Howe: each quarter over the gap
    Australia/Lord_Howe | */15 * * * * | 2026-10-04T01:30
    2026-10-04T01:45+10:30  2026-10-04T02:30+11:00  2026-10-04T02:45+11:00
cronsim: Lord Howe: each quarter over the overlap
    Australia/Lord_Howe | */15 * * * * | 2026-04-05T01:20
    2026-04-05T01:30+11:00  2026-04-05T01:45+11:00  2026-04-05T01:30+10:30  2026-04-05T01:45+10:30
cronsim: Auckland: 02:30 in the gap
    Pacific/Auckland | 30 2 * * * | 2026-09-26T12:00
    2026-09-27T03:00+13:00  2026-09-28T02:30+13:00
cronsim: Auckland: 02:30 twice
    Pacific/Auckland | 30 2 * * * | 2026-04-04T12:00
    2026-04-05T02:30+13:00  2026-04-06T02:30+12:00
cronsim: Santiago: midnight in the gap
    America/Santiago | 0 0 * * * | 2025-09-06T12:00
    2025-09-07T01:00-03:00  2025-09-08T00:00-03:00
cronsim: Santiago: 23:30 twice
    America/Santiago | 30 23 * * * | 2025-04-05T12:00
    2025-04-05T23:30-03:00  2025-04-06T23:30-04:00
cronsim: Santiago: each hour over the overlap
    America/Santiago | 0 * * * * | 2025-04-05T22:30
    2025-04-05T23:00-03:00  2025-04-05T23:00-04:00  2025-04-06T00:00-04:00  2025-04-06T01:00-04:00
cronsim: Troll: 01:30 in a gap of two hours
    Antarctica/Troll | 30 1 * * * | 2026-03-28T12:00
    2026-03-29T03:00+02:00  2026-03-30T01:30+02:00
cronsim: Apia: nine o'clock of the day that was not
    Pacific/Apia | 0 9 * * * | 2011-12-29T12:00
    2011-12-31T00:00+14:00  2011-12-31T09:00+14:00
zoneinfo: nine o'clock is local in Auckland
    Pacific/Auckland | 0 9 * * * | 2026-07-01T00:00
    2026-07-01T09:00  2026-07-02T09:00
zoneinfo: Kathmandu, a quarter off
    Asia/Kathmandu | 30 5 * * * | 2026-01-01T00:00
    2026-01-01T05:30  2026-01-02T05:30
zoneinfo: Kathmandu, each hour
    Asia/Kathmandu | 0 * * * * | 2026-01-01T00:20
    2026-01-01T01:00  2026-01-01T02:00
zoneinfo: Chatham, across the end of summer
    Pacific/Chatham | 45 12 * * SUN | 2026-04-01T00:00
    2026-04-05T12:45  2026-04-12T12:45
zoneinfo: St Johns, across the start of summer
    America/St_Johns | 0 9 * * * | 2026-03-07T12:00
    2026-03-08T09:00  2026-03-09T09:00
zoneinfo: Berlin on weekdays, across the start of summer
    Europe/Berlin | 0 7 * * 1-5 | 2026-03-27T08:00
    2026-03-30T07:00  2026-03-31T07:00
zoneinfo: Sydney on the first Sunday, the day of its change
    Australia/Sydney | 0 9 * * SUN#1 | 2026-10-01T00:00
    2026-10-04T09:00  2026-11-01T09:00
zoneinfo: London on the last day, across the start of summer
    Europe/London | 30 23 L * * | 2026-02-28T23:30
    2026-03-31T23:30  2026-04-30T23:30
zoneinfo: Kiritimati, first into the year
    Pacific/Kiritimati | @yearly | 2026-06-01T00:00
    2027-01-01T00:00  2028-01-01T00:00
zoneinfo: Tokyo on the first of the month
    Asia/Tokyo | @monthly | 2026-02-01T00:00
    2026-03-01T00:00  2026-04-01T00:00
zoneinfo: Kolkata on 29 February
    Asia/Kolkata | 15 6 29 2 * | 2026-01-01T00:00
    2028-02-29T06:15  2032-02-29T06:15
zoneinfo: New York each weekday of the week of the change
    America/New_York | 0 18 * * MON,WED | 2026-10-28T18:00
    2026-11-02T18:00  2026-11-04T18:00
hand: New York: two fixed hours, one in the gap
    America/New_York | 30 2,3 * * * | 2026-03-08T00:00
    2026-03-08T03:00-04:00  2026-03-08T03:30-04:00  2026-03-09T02:30-04:00
hand: New York: the end of the gap and its own hour are one run
    America/New_York | 0 2,3 * * * | 2026-03-08T00:00
    2026-03-08T03:00-04:00  2026-03-09T02:00-04:00
hand: New York: two fixed minutes in the gap are one run
    America/New_York | 0,30 2 * * * | 2026-03-08T00:00
    2026-03-08T03:00-04:00  2026-03-09T02:00-04:00
hand: New York: a range of hours leaves out what is skipped
    America/New_York | 0 1-4 * * * | 2026-03-08T00:30
    2026-03-08T01:00-05:00  2026-03-08T03:00-04:00  2026-03-08T04:00-04:00  2026-03-09T01:00-04:00
hand: New York: a range of one hour that is skipped
    America/New_York | 30 2-2 * * * | 2026-03-07T12:00
    2026-03-09T02:30-04:00
hand: New York: a step of minutes in an hour that is skipped
    America/New_York | */20 2 * * * | 2026-03-07T12:00
    2026-03-09T02:00-04:00  2026-03-09T02:20-04:00
hand: New York: a step of hours leaves out what is skipped
    America/New_York | 0 */2 * * * | 2026-03-08T00:30
    2026-03-08T04:00-04:00  2026-03-08T06:00-04:00
hand: New York: the run at the end of the gap is not made twice
    America/New_York | 30 2 * * * | 2026-03-08T03:00-04:00
    2026-03-09T02:30-04:00
hand: New York: a moment before the gap
    America/New_York | 30 2 * * * | 2026-03-08T01:59:59-05:00
    2026-03-08T03:00-04:00
hand: New York: a day that is in the gap once
    America/New_York | 30 2 8 3 * | 2026-01-01T00:00
    2026-03-08T03:00-04:00  2027-03-08T02:30-05:00
hand: New York: 01:30 is not run again in the overlap
    America/New_York | 30 1 * * * | 2026-11-01T01:30-04:00
    2026-11-02T01:30-05:00
hand: New York: from within the second hour of the overlap
    America/New_York | 30 1 * * * | 2026-11-01T01:10-05:00
    2026-11-02T01:30-05:00
hand: New York: two fixed minutes in the overlap
    America/New_York | 0,30 1 * * * | 2026-10-31T12:00
    2026-11-01T01:00-04:00  2026-11-01T01:30-04:00  2026-11-02T01:00-05:00
hand: New York: a step of minutes in the overlap
    America/New_York | */30 1 * * * | 2026-10-31T12:00
    2026-11-01T01:00-04:00  2026-11-01T01:30-04:00  2026-11-01T01:00-05:00  2026-11-01T01:30-05:00
hand: New York: a range of hours over the overlap
    America/New_York | 0 1-2 * * * | 2026-10-31T12:00
    2026-11-01T01:00-04:00  2026-11-01T01:00-05:00  2026-11-01T02:00-05:00  2026-11-02T01:00-05:00
hand: New York: a range of one hour over the overlap, from before the last change
    America/New_York | 30 1-1 1 11 * | 2026-01-01T00:00
    2026-11-01T01:30-04:00  2026-11-01T01:30-05:00  2027-11-01T01:30-04:00
hand: New York: two fixed hours over the overlap
    America/New_York | 0 1,2 * * * | 2026-10-31T12:00
    2026-11-01T01:00-04:00  2026-11-01T02:00-05:00  2026-11-02T01:00-05:00
hand: New York: a step of one hour is a star
    America/New_York | 0 */1 * * * | 2026-11-01T00:30
    2026-11-01T01:00-04:00  2026-11-01T01:00-05:00  2026-11-01T02:00-05:00
hand: New York: half hours from within the second hour of the overlap
    America/New_York | */30 * * * * | 2026-11-01T01:10-05:00
    2026-11-01T01:30-05:00  2026-11-01T02:00-05:00
hand: London: a range of hours over the overlap
    Europe/London | 0 1-2 * * * | 2026-10-24T12:00
    2026-10-25T01:00+01:00  2026-10-25T01:00+00:00  2026-10-25T02:00+00:00
hand: Dublin: its summer is the standard
    Europe/Dublin | 30 1 * * * | 2026-10-24T12:00
    2026-10-25T01:30+01:00  2026-10-26T01:30+00:00
hand: Lord Howe: each full hour over the overlap of half an hour
    Australia/Lord_Howe | 0 * * * * | 2026-04-05T00:30+11:00
    2026-04-05T01:00+11:00  2026-04-05T02:00+10:30  2026-04-05T03:00+10:30
hand: Lord Howe: each half past over the overlap of half an hour
    Australia/Lord_Howe | 30 * * * * | 2026-04-05T01:00+11:00
    2026-04-05T01:30+11:00  2026-04-05T01:30+10:30  2026-04-05T02:30+10:30
hand: Lord Howe: two fixed minutes in the gap are one run
    Australia/Lord_Howe | 0,15 2 * * * | 2026-10-03T12:00
    2026-10-04T02:30+11:00  2026-10-05T02:00+11:00
hand: Lord Howe: two fixed hours around the overlap
    Australia/Lord_Howe | 45 1,2 * * * | 2026-04-04T12:00
    2026-04-05T01:45+11:00  2026-04-05T02:45+10:30
hand: Lord Howe: each full hour over the gap
    Australia/Lord_Howe | 0 * * * * | 2026-10-04T00:30+10:30
    2026-10-04T01:00+10:30  2026-10-04T03:00+11:00
hand: Lord Howe: a range of hours over the gap
    Australia/Lord_Howe | 0 2-3 * * * | 2026-10-03T12:00
    2026-10-04T03:00+11:00  2026-10-05T02:00+11:00
hand: Auckland: a range of hours over the overlap
    Pacific/Auckland | 0 2-3 * * * | 2026-04-04T12:00
    2026-04-05T02:00+13:00  2026-04-05T02:00+12:00  2026-04-05T03:00+12:00
hand: Auckland: a range of hours over the gap
    Pacific/Auckland | 0 1-3 * * * | 2026-09-26T12:00
    2026-09-27T01:00+12:00  2026-09-27T03:00+13:00  2026-09-28T01:00+13:00
hand: Santiago: 00:30 in the gap
    America/Santiago | 30 0 * * * | 2025-09-06T12:00
    2025-09-07T01:00-03:00  2025-09-08T00:30-03:00
hand: Santiago: @daily in the gap
    America/Santiago | @daily | 2025-09-06T12:00
    2025-09-07T01:00-03:00  2025-09-08T00:00-03:00
hand: Santiago: the Sunday whose midnight is skipped
    America/Santiago | @weekly | 2025-09-06T12:00
    2025-09-07T01:00-03:00  2025-09-14T00:00-03:00
hand: Santiago: @hourly over the gap
    America/Santiago | @hourly | 2025-09-06T22:30
    2025-09-06T23:00-04:00  2025-09-07T01:00-03:00  2025-09-07T02:00-03:00
hand: Santiago: midnight after the overlap
    America/Santiago | 0 0 * * * | 2025-04-05T12:00
    2025-04-06T00:00-04:00  2025-04-07T00:00-04:00
hand: Santiago: a range of hours over the overlap
    America/Santiago | 30 22-23 * * * | 2025-04-05T12:00
    2025-04-05T22:30-03:00  2025-04-05T23:30-03:00  2025-04-05T23:30-04:00
hand: Apia: midnights around the day that was not
    Pacific/Apia | 0 0 * * * | 2011-12-29T12:00
    2011-12-31T00:00+14:00  2012-01-01T00:00+14:00
hand: Apia: each hour around the day that was not
    Pacific/Apia | 0 * * * * | 2011-12-29T22:30
    2011-12-29T23:00-10:00  2011-12-31T00:00+14:00  2011-12-31T01:00+14:00
hand: Apia: the Friday that was not
    Pacific/Apia | 0 9 * * FRI | 2011-12-29T12:00
    2011-12-31T00:00+14:00  2012-01-06T09:00+14:00
hand: Apia: the 30th that was not
    Pacific/Apia | 0 9 30 12 * | 2011-01-01T00:00
    2011-12-31T00:00+14:00  2012-12-30T09:00+14:00
hand: Apia: each hour of the 30th that was not
    Pacific/Apia | 0 */6 30 12 * | 2011-01-01T00:00
    2012-12-30T00:00+14:00  2012-12-30T06:00+14:00
hand: Apia: two hours of the day that was not are one run
    Pacific/Apia | 0 9,21 * * * | 2011-12-29T12:00
    2011-12-29T21:00-10:00  2011-12-31T00:00+14:00  2011-12-31T09:00+14:00
hand: Sao Paulo: midnight in the gap of 2018
    America/Sao_Paulo | 0 0 * * * | 2018-11-03T12:00
    2018-11-04T01:00-02:00  2018-11-05T00:00-02:00
hand: Moscow: an overlap that was no summer's end
    Europe/Moscow | 30 1 * * * | 2014-10-25T12:00
    2014-10-26T01:30+04:00  2014-10-27T01:30+03:00
hand: Caracas: a gap that was no summer's start
    America/Caracas | 45 2 * * * | 2016-04-30T12:00
    2016-05-01T03:00-04:00  2016-05-02T02:45-04:00
hand: Casablanca: the start of Ramadan
    Africa/Casablanca | 30 2 * * * | 2025-02-22T12:00
    2025-02-23T02:30+01:00  2025-02-24T02:30+00:00
hand: Casablanca: the end of Ramadan
    Africa/Casablanca | 30 2 * * * | 2025-04-05T12:00
    2025-04-06T03:00+01:00  2025-04-07T02:30+01:00
"""
