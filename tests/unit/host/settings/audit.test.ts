import { expect } from 'chai';
import { auditSettings } from '../../../../imports/business/audit/auditSettings';
import { readSettings } from '../../../../imports/host/settings/defineSettings';

const DAY_MS = 86_400_000;
const limitsOf = (variable: string, value?: string) =>
  readSettings(auditSettings, (name) => (name === variable ? value : undefined)).auditLimits;
const read = (value?: string): number | undefined => limitsOf('AUDIT_KEEP_DAYS', value).retentionMs;
const readEntries = (value?: string): number | undefined => limitsOf('AUDIT_MAX_ENTRIES', value).maxEntries;

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

describe('AUDIT_MAX_ENTRIES', () => {
  it('is a number of entries, or unlimited', () => {
    for (const value of [undefined, '']) expect(readEntries(value)).to.equal(undefined);
    expect(readEntries('5000')).to.equal(5_000);
    expect(readEntries('Unlimited')).to.equal(Infinity);
  });

  it('is refused if it is anything else', () => {
    for (const value of ['0', '-1', '1.5', 'many'])
      expect(() => readEntries(value), value)
        .to.throw('AUDIT_MAX_ENTRIES must be a whole number of at least 1, or unlimited')
        .with.property('path', 'AUDIT_MAX_ENTRIES');
  });
});
