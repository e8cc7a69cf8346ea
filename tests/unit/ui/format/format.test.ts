import { expect } from 'chai';
import {
  formatCount,
  formatDuration,
  formatMoney,
  formatRelativeTime,
  prettyJson,
} from '../../../../imports/ui/format/format';

describe('format', () => {
  const cases = [
    [formatDuration(0), '0 ms'],
    [formatDuration(999.4), '999 ms'],
    [formatDuration(1_000), '1.0 s'],
    [formatDuration(59_949), '59.9 s'],
    [formatDuration(59_951), '1 m 00 s'],
    [formatDuration(3_599_400), '59 m 59 s'],
    [formatDuration(3_599_600), '1 h 00 m'],
    [formatDuration(-5), '0 ms'],
    [formatCount(9_999), '9,999'],
    [formatCount(10_000), '10.0k'],
    [formatCount(999_949), '999.9k'],
    [formatCount(999_950), '1.0M'],
    [formatMoney(0), '$0'],
    [formatMoney(0.00001), '< $0.0001'],
    [formatMoney(0.0123), '$0.0123'],
    [formatMoney(12.345), '$12.35'],
    [formatRelativeTime(0, 4_000), 'just now'],
    [formatRelativeTime(0, 59_000), '59 s ago'],
    [formatRelativeTime(0, 60_000), '1 min ago'],
    [formatRelativeTime(0, 7_200_000), '2 h ago'],
    [formatRelativeTime(10_000, 0), 'just now'],
    [prettyJson('{"a":1}'), '{\n  "a": 1\n}'],
    [prettyJson('"text"'), '"text"'],
    [prettyJson('{"cut": "of'), '{"cut": "of'],
  ] as const;
  for (const [actual, expected] of cases)
    it(`formats ${JSON.stringify(expected)}`, () => expect(actual).to.equal(expected));
});
