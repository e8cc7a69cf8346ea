/** The log that operators read contains no secret in any field. */
import { expect } from 'chai';
import {
  createConsoleLog,
  redactingLog,
} from '../../../../../imports/business/providers/infrastructure/system/redactingLog';
import type { LogEntry } from '../../../../../imports/business/providers/infrastructure/system/redactingLog';

function logged(fields: Readonly<Record<string, string | number | boolean | null>>): LogEntry {
  const entries: LogEntry[] = [];
  redactingLog((entry) => entries.push(entry)).warn('an-event', fields);
  return entries[0]!;
}

describe('the log of the Provider system', () => {
  for (const secret of [
    'sk-proj-abcdefghijklmnopqrstuvwx0123',
    'ya29.a0AfB_byC-0123456789-abcdef',
    'eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl',
    'RRxob_vW8hN7bRTNWNigKQGu3xYjak4H9YWEoYMNvGE',
    'QvTz9-ab_cdEFGhijKLMnopQRS',
  ]) {
    it(`redacts ${secret.slice(0, 8)}… anywhere in a text`, () => {
      for (const text of [secret, `the token ${secret} was refused`, `code=${secret}&state=1`, `"${secret}"`]) {
        expect(JSON.stringify(logged({ detail: text }))).not.to.include(secret);
      }
    });
  }

  it('leaves names, ids and reasons unchanged', () => {
    const fields = {
      providerId: 'my-provider_1',
      userId: '9Xu2mQ4cR7tYzKp3A',
      reason: 'state-used-again',
      resealed: 3,
      isGood: true,
      none: null,
    };
    expect(logged(fields)).to.deep.equal({ level: 'warn', event: 'an-event', fields });
  });

  it('limits a field to one line and a maximum length', () => {
    const { fields } = logged({ detail: `first\nsecond\r\n${'x'.repeat(5_000)}` });
    expect(String(fields['detail']))
      .to.have.length.lessThan(310)
      .and.not.match(/[\r\n]/);
  });

  it('writes lines of JSON to standard error, from the level of LOG_LEVEL on', () => {
    const { error } = console;
    const written = (LOG_LEVEL: string): readonly string[] => {
      const lines: string[] = [];
      console.error = (line: string) => void lines.push(line);
      try {
        const log = createConsoleLog(() => ({ LOG_LEVEL }));
        log.info('an-event', { userId: 'ann' });
        log.warn('another');
      } finally {
        console.error = error;
      }
      return lines;
    };
    expect(written('')).to.deep.equal([
      '{"level":"info","event":"an-event","userId":"ann"}',
      '{"level":"warn","event":"another"}',
    ]);
    expect(written('warn')).to.deep.equal(['{"level":"warn","event":"another"}']);
    expect(written('silent')).to.deep.equal([]);
  });
});
