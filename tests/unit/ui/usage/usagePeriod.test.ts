import { expect } from 'chai';
import { customPeriod, lastHours, today, toIsoDate } from '../../../../imports/ui/usage/usagePeriod';
import { inTimeZone } from '../../../support/inTimeZone';

const HOUR = 3_600_000;
/** On all three, it is the 22nd. */
const NOW = Date.UTC(2026, 10, 22, 10, 30);
const ZONES = [
  ['UTC', 0],
  ['America/New_York', -300],
  ['Asia/Kolkata', 330],
] as const;

describe('the period of a usage report', () => {
  for (const [zone, minutes] of ZONES)
    describe(`in ${zone}`, () => {
      const local = (month: number, day: number, hour = 0): number =>
        Date.UTC(2026, month - 1, day, hour) - minutes * 60_000;

      it('is the last hours, the current one included', () => {
        const to = Date.UTC(2026, 10, 22, 11);
        inTimeZone(zone, () =>
          expect(lastHours(24, NOW)).to.deep.equal({ from: to - 24 * HOUR, to, interval: 'hour', utcOffset: minutes }),
        );
      });

      it('is the last days from midnight, today included', () => {
        const to = Date.UTC(2026, 10, 22, 11);
        inTimeZone(zone, () =>
          expect(lastHours(7 * 24, NOW)).to.deep.equal({
            from: local(11, 16),
            to,
            interval: 'day',
            utcOffset: minutes,
          }),
        );
      });

      it('is today from midnight on', () => {
        inTimeZone(zone, () => expect(today(NOW).from).to.equal(local(11, 22)));
      });

      it('is what two dates say, both included', () => {
        inTimeZone(zone, () => {
          const days = { from: local(11, 10), to: local(11, 21), interval: 'day', utcOffset: minutes };
          expect(customPeriod('2026-11-10', '2026-11-20')).to.deep.equal(days);
          expect(customPeriod('2026-11-20', '2026-11-20')).to.include({
            from: local(11, 20),
            to: local(11, 21),
            interval: 'hour',
          });
          for (const [from, last] of [
            ['2026-11-20', '2026-11-19'],
            ['2026-11-2', '2026-11-20'],
            ['2026-13-01', '2026-13-02'],
          ] as const)
            expect(customPeriod(from, last), `${from} to ${last}`).to.equal(undefined);
        });
      });

      it('is shown by the dates that it was entered as', () => {
        inTimeZone(zone, () => {
          const period = customPeriod('2026-11-10', '2026-11-20');
          expect([toIsoDate(period?.from ?? 0), toIsoDate((period?.to ?? 0) - 1)]).to.deep.equal([
            '2026-11-10',
            '2026-11-20',
          ]);
        });
      });
    });
});
