import { format } from 'node:util';
import { expect } from 'chai';
import { createConsoleLogger } from '../../../imports/log/consoleLogger';
import { LLMServerError } from '../../../imports/business/ai/domain/errors/LLMErrors';

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

  it('writes the messages of errors on one line, of their causes and of those within details', () => {
    let written = '';
    const { error: original } = console;
    console.error = (...parts: unknown[]) => {
      written += `${format(...parts)}\n`;
    };
    const forged = (where: string): string =>
      `${where}\r\nFORGED ${where}\n    at FORGED (${where})\u2028FORGED ${where}`;
    const cause = new AggregateError([new TypeError(forged('of many'))], forged('cause'), {
      cause: new Error(forged('deep')),
    });
    const given = new LLMServerError(forged('vendor'), { status: 500, vendorBody: { a: 'body\nFORGED body' }, cause });
    Object.assign(given, { inner: new Error(forged('field')) });
    try {
      const logger = createConsoleLogger(() => ({}));
      logger.error('It failed.', given);
      logger.error('It failed.', { error: new Error(forged('detail')), list: [new Error(forged('listed'))] });
    } finally {
      console.error = original;
    }
    for (const where of ['vendor', 'cause', 'of many', 'deep', 'field', 'detail', 'listed'])
      expect(written, where).to.include(`${where} FORGED ${where}     at FORGED (${where}) FORGED ${where}`);
    for (const line of written.split(/[\r\n\u2028]/)) expect(line).not.to.match(/^\s*(?:at )?FORGED/);
    expect(written, 'the stack stays').to.include('consoleLogger.test.ts');
    expect(given.message, 'the error is not changed').to.equal(forged('vendor'));
    expect(given.cause).to.equal(cause);
  });

  it('does not follow details without end', () => {
    const lines: unknown[][] = [];
    const { warn } = console;
    console.warn = (...parts: unknown[]) => void lines.push(parts);
    const loop: { self?: unknown; error: Error } = { error: new Error('x') };
    loop.self = loop;
    loop.error.cause = loop.error;
    try {
      createConsoleLogger(() => ({})).warn('x', loop, loop.error);
    } finally {
      console.warn = warn;
    }
    expect(lines).to.have.length(1);
  });
});
