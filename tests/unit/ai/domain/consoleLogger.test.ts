import { expect } from 'chai';
import { createConsoleLogger } from '../../../../imports/business/ai/domain/consoleLogger';

describe('the console logger', () => {
  it('writes each message on one line, whatever a vendor put into it', () => {
    const lines: unknown[][] = [];
    const { warn, error } = console;
    console.warn = console.error = (...parts: unknown[]) => void lines.push(parts);
    try {
      const logger = createConsoleLogger(() => ({ LOG_LEVEL: 'debug' }));
      for (const level of ['debug', 'info', 'warn', 'error'] as const)
        logger[level]('Vendor: no\r\nbolide:info An API token was\u2028created.', 'a\nb', { c: 'd' });
    } finally {
      Object.assign(console, { warn, error });
    }
    expect(lines).to.have.length(4);
    for (const [message, text, object] of lines) {
      expect(message).to.match(/^(?:bolide:\w+ )?Vendor: no bolide:info An API token was created\.$/);
      expect(text).to.equal('a b');
      expect(object).to.deep.equal({ c: 'd' });
    }
  });
});
