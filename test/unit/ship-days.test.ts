/** Ship days, arrivals and requested days: tables over changes of summer time, and a second algorithm that walks hour by hour. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { type Weekday, weekdays } from '../../src/delivery/schemas.ts';
import {
  addDays,
  computeArrival,
  computeShipDay,
  type Day,
  type DeliverySchedule,
  firstShipDay,
  localTime,
  requestedDayError,
  startOf,
  toNoon,
} from '../../src/delivery/ship-days.ts';

/** More with CURD_TEST_CASES=100000. */
const numRuns = Number(process.env.CURD_TEST_CASES ?? 500);

const zurich = 'Europe/Zurich';
const zones = [
  zurich,
  'America/New_York',
  'Pacific/Auckland',
  'Australia/Adelaide',
  'Australia/Lord_Howe',
  'Asia/Kolkata',
  'Pacific/Kiritimati',
  'UTC',
];

const every: DeliverySchedule = {
  shipDays: null,
  cutOff: null,
  transitDays: null,
  deliveryDays: null,
  timeZone: zurich,
};
const early: DeliverySchedule = { ...every, shipDays: ['mon', 'tue', 'wed'], cutOff: '12:00' };

const days = fc.subarray([...weekdays], { minLength: 1 });
const schedules: fc.Arbitrary<DeliverySchedule> = fc.record({
  shipDays: fc.option(days),
  cutOff: fc.option(fc.constantFrom('00:00', '00:30', '02:30', '11:59', '12:00', '23:59')),
  transitDays: fc.option(fc.nat(14)),
  deliveryDays: fc.option(days),
  timeZone: fc.constantFrom(...zones),
});
/** Most of them near a change of summer time. */
const moments = fc
  .tuple(
    fc.constantFrom('2026-03-08', '2026-03-29', '2026-04-05', '2026-09-27', '2026-10-25', '2026-11-01'),
    fc.integer({ min: -3 * 24 * 60, max: 3 * 24 * 60 }),
  )
  .map(([day, minutes]) => Date.parse(day) + minutes * 60_000);

/** What a clock on the wall of a zone shows, read by another formatter: `2026-03-29 12:00:00`. */
const clockIn = (at: number, timeZone: string) => new Date(at).toLocaleString('sv-SE', { timeZone });
const weekdayOf = (day: Day) =>
  new Date(`${day}T12:00:00Z`).toLocaleDateString('en', { weekday: 'short', timeZone: 'UTC' }).toLowerCase();

/** The first day on which goods can leave, by looking at each hour. */
function firstByWalking(now: number, { shipDays, cutOff, timeZone }: DeliverySchedule): Day {
  const [today = '', time = ''] = clockIn(now, timeZone).split(' ');
  for (let at = now; ; at += 3_600_000) {
    const [day = ''] = clockIn(at, timeZone).split(' ');
    const isMissed = day === today && cutOff !== null && time >= `${cutOff}:00`;
    if (!isMissed && (shipDays ?? weekdays).includes(weekdayOf(day) as Weekday)) {
      return day;
    }
  }
}

suite('The first ship day', () => {
  test('The first ship day is that of a second algorithm, for all schedules near changes of summer time', () => {
    fc.assert(
      fc.property(moments, fc.nat(59_999), schedules, (minute, rest, schedule) => {
        assert.equal(firstShipDay(minute + rest, schedule), firstByWalking(minute + rest, schedule));
      }),
      { numRuns },
    );
  });

  const table: readonly [now: string, schedule: DeliverySchedule, day: Day, title: string][] = [
    ['2026-06-01T09:59:59.999Z', early, '2026-06-01', 'the last moment before the cut-off'],
    ['2026-06-01T10:00:00.000Z', early, '2026-06-02', 'exactly the cut-off'],
    ['2026-06-03T10:00:00.000Z', early, '2026-06-08', 'the cut-off of the last ship day of a week'],
    ['2026-06-04T06:00:00.000Z', early, '2026-06-08', 'a day that is no ship day'],
    ['2026-06-01T10:00:00.000Z', { ...early, shipDays: ['mon'] }, '2026-06-08', 'a week until the next'],
    ['2026-06-01T21:59:59.999Z', { ...early, cutOff: null }, '2026-06-01', 'the end of the day'],
    ['2026-06-01T22:00:00.000Z', { ...early, cutOff: null }, '2026-06-02', 'midnight in the shop'],
    ['2026-06-06T10:00:00.000Z', { ...every, cutOff: '12:00' }, '2026-06-07', 'a cut-off of every day'],
    // Clocks go from 02:00 to 03:00 on 29 March, and from 03:00 to 02:00 on 25 October.
    ['2026-03-28T22:59:59.999Z', every, '2026-03-28', 'before midnight, in winter time'],
    ['2026-03-29T21:59:59.999Z', every, '2026-03-29', 'before midnight, in summer time'],
    ['2026-03-29T22:00:00.000Z', every, '2026-03-30', 'midnight, in summer time'],
    ['2026-03-29T00:59:59.999Z', { ...every, cutOff: '02:30' }, '2026-03-29', 'before a hole in the day'],
    ['2026-03-29T01:00:00.000Z', { ...every, cutOff: '02:30' }, '2026-03-30', 'a cut-off in a hole'],
    ['2026-10-25T00:29:59.999Z', { ...every, cutOff: '02:30' }, '2026-10-25', 'before the first 02:30'],
    ['2026-10-25T00:30:00.000Z', { ...every, cutOff: '02:30' }, '2026-10-26', 'the first of two 02:30'],
  ];
  for (const [now, schedule, day, title] of table) {
    test(`The first ship day at ${now} is ${day}: ${title}`, () => {
      assert.equal(firstShipDay(Date.parse(now), schedule), day);
    });
  }
});

suite('Noon', () => {
  test('Noon of a day is 12:00 on a clock of the shop, in all zones and on all days', () => {
    fc.assert(
      fc.property(fc.constantFrom(...zones), fc.nat(3 * 366), (timeZone, offset) => {
        const day = addDays('2025-01-01', offset);
        assert.equal(clockIn(toNoon(day, timeZone), timeZone), `${day} 12:00:00`);
      }),
      { numRuns },
    );
  });

  test('A day begins with its first millisecond, also where clocks change at midnight', () => {
    const timeZones = [...zones, 'Asia/Beirut', 'America/Santiago', 'Africa/Cairo'];
    fc.assert(
      fc.property(fc.constantFrom(...timeZones), fc.nat(3 * 366), (timeZone, offset) => {
        const day = addDays('2025-01-01', offset);
        const start = startOf(day, timeZone);
        assert.equal(clockIn(start, timeZone).slice(0, 10), day);
        assert.equal(clockIn(start - 1, timeZone).slice(0, 10), addDays(day, -1));
      }),
      { numRuns: 4 * numRuns },
    );
  });

  const table: readonly [day: Day, timeZone: string, noon: string][] = [
    ['2026-03-28', zurich, '2026-03-28T11:00:00.000Z'],
    ['2026-03-29', zurich, '2026-03-29T10:00:00.000Z'],
    ['2026-10-24', zurich, '2026-10-24T10:00:00.000Z'],
    ['2026-10-25', zurich, '2026-10-25T11:00:00.000Z'],
    ['2026-03-07', 'America/New_York', '2026-03-07T17:00:00.000Z'],
    ['2026-03-08', 'America/New_York', '2026-03-08T16:00:00.000Z'],
    ['2026-11-01', 'America/New_York', '2026-11-01T17:00:00.000Z'],
    ['2026-04-04', 'Pacific/Auckland', '2026-04-03T23:00:00.000Z'],
    ['2026-04-05', 'Pacific/Auckland', '2026-04-05T00:00:00.000Z'],
    ['2026-09-27', 'Pacific/Auckland', '2026-09-26T23:00:00.000Z'],
    ['2026-04-05', 'Australia/Adelaide', '2026-04-05T02:30:00.000Z'],
    ['2026-10-04', 'Australia/Adelaide', '2026-10-04T01:30:00.000Z'],
    ['2026-06-01', 'Asia/Kolkata', '2026-06-01T06:30:00.000Z'],
  ];
  for (const [day, timeZone, noon] of table) {
    test(`Noon of ${day} in ${timeZone} is ${noon}`, () => {
      assert.equal(new Date(toNoon(day, timeZone)).toISOString(), noon);
    });
  }
});

suite('The arrival', () => {
  /** Names the days one after another. */
  function arrivalByCounting(shipDay: Day, transitDays: number, delivers: readonly string[]): Day {
    let day = shipDay;
    let left = transitDays;
    for (;;) {
      const isDelivering = delivers.includes(weekdayOf(day));
      if (left === 0 && isDelivering) {
        return day;
      }
      day = addDays(day, 1);
      left -= left > 0 && delivers.includes(weekdayOf(day)) ? 1 : 0;
    }
  }

  test('The arrival is that of a second algorithm', () => {
    fc.assert(
      fc.property(fc.nat(400), schedules, (offset, schedule) => {
        const day = addDays('2026-01-01', offset);
        const { transitDays, deliveryDays } = schedule;
        assert.equal(
          computeArrival(day, schedule),
          transitDays === null
            ? null
            : arrivalByCounting(day, transitDays, deliveryDays ?? ['mon', 'tue', 'wed', 'thu', 'fri']),
        );
      }),
      { numRuns },
    );
  });

  const table: readonly [
    shipDay: Day,
    schedule: Partial<DeliverySchedule>,
    day: Day | null,
    title: string,
  ][] = [
    ['2026-06-01', { transitDays: null }, null, 'an unknown time of carriage'],
    ['2026-06-01', { transitDays: 0 }, '2026-06-01', 'a courier on a Monday'],
    ['2026-06-06', { transitDays: 0 }, '2026-06-08', 'a courier on a Saturday'],
    ['2026-06-01', { transitDays: 1 }, '2026-06-02', 'the next day'],
    ['2026-06-05', { transitDays: 1 }, '2026-06-08', 'over a weekend'],
    ['2026-06-05', { transitDays: 2 }, '2026-06-09', 'two days over a weekend'],
    ['2026-06-05', { transitDays: 1, deliveryDays: ['sat'] }, '2026-06-06', 'a carrier of Saturdays'],
    ['2026-06-06', { transitDays: 1, deliveryDays: ['sat'] }, '2026-06-13', 'a week later'],
    ['2026-06-01', { transitDays: 14 }, '2026-06-19', 'the longest carriage'],
  ];
  for (const [shipDay, schedule, day, title] of table) {
    test(`The arrival of goods that leave on ${shipDay} is ${day}: ${title}`, () => {
      assert.equal(computeArrival(shipDay, { ...every, ...schedule }), day);
    });
  }
});

suite('A requested day', () => {
  const now = Date.parse('2026-06-03T08:00:00Z');
  const table: readonly [requested: Day, message: string | null, title: string][] = [
    ['2026-06-02', 'must be a day from 2026-06-03 to 2026-07-29', 'yesterday'],
    ['2026-06-03', null, 'today before the cut-off'],
    [
      '2026-06-04',
      'goods leave the shop on mon, tue, wed only: the next such day is 2026-06-08',
      'a Thursday',
    ],
    ['2026-07-29', null, 'the last ship day within 60 days'],
    ['2026-07-30', 'must be a day from 2026-06-03 to 2026-07-29', 'no ship day follows within 60 days'],
    ['2026-08-03', 'must be a day from 2026-06-03 to 2026-07-29', 'a ship day after 61 days'],
  ];
  for (const [requested, message, title] of table) {
    test(`A requested day, ${requested}, is ${message === null ? 'accepted' : 'refused'}: ${title}`, () => {
      assert.equal(requestedDayError(requested, now, early), message);
    });
  }

  test('A requested day is possible from the first ship day to 60 days ahead, both included', () => {
    fc.assert(
      fc.property(moments, schedules, fc.integer({ min: -3, max: 64 }), (at, schedule, ahead) => {
        const today = localTime(at, schedule.timeZone).day;
        const requested = addDays(today, ahead);
        const isPossible =
          requested >= firstByWalking(at, schedule) &&
          ahead <= 60 &&
          (schedule.shipDays ?? weekdays).includes(weekdayOf(requested) as Weekday);
        const message = requestedDayError(requested, at, schedule);
        assert.equal(message === null, isPossible);
        // A day that a message proposes is accepted.
        for (const proposed of message?.match(/\d{4}-\d\d-\d\d/g) ?? []) {
          assert.equal(requestedDayError(proposed, at, schedule), null);
        }
        // An approval at the same moment keeps the day, unless it has passed.
        const shipDay = computeShipDay(at, { ...schedule, requestedDate: requested });
        assert.equal(shipDay, isPossible ? requested : shipDay);
        assert.ok(shipDay >= firstShipDay(at, schedule));
      }),
      { numRuns },
    );
  });

  test('A requested day that has passed at the approval becomes the first ship day', () => {
    const passed = { ...early, requestedDate: '2026-06-03' };
    assert.equal(computeShipDay(now, passed), '2026-06-03');
    assert.equal(computeShipDay(Date.parse('2026-06-03T10:00:00Z'), passed), '2026-06-08');
  });
});
