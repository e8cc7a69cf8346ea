import { expect } from 'chai';
import { readAuditRetention } from '../../../../imports/startup/settings/audit';

const DAY_MS = 86_400_000;
const read = (value?: string): number | undefined => readAuditRetention(() => value);

describe('AUDIT_KEEP_DAYS', () => {
  it('is a number of days, or never', () => {
    expect(read()).to.equal(undefined);
    expect(read('')).to.equal(undefined);
    expect(read('90')).to.equal(90 * DAY_MS);
    expect(read('0.5')).to.equal(DAY_MS / 2);
    for (const value of ['never', 'Never', '0']) expect(read(value), value).to.equal(Infinity);
  });

  it('is refused if it is anything else', () => {
    for (const value of ['-1', 'a year', 'Infinity', '36501'])
      expect(() => read(value), value)
        .to.throw('AUDIT_KEEP_DAYS must be a number of days')
        .with.property('path', 'AUDIT_KEEP_DAYS');
  });
});
