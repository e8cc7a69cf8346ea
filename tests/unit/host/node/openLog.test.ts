/** The lines of a server's log. */
import { expect } from 'chai';
import { createConsoleLogger } from '../../../../imports/log/consoleLogger';
import { LLMOverloadedError } from '../../../../imports/business/ai/domain/errors/LLMErrors';
import { withLogIds } from '../../../../imports/business/ai/application/services/shared/logIds';
import { ToolRegistry } from '../../../../imports/business/ai/infrastructure/tools/ToolRegistry';
import { openLog } from '../../../../imports/host/node/openLog';
import { CANARY } from '../../../support/canaries';
import { failure } from '../../../support/failure';
import { SpanRecorder } from '../../../support/telemetry/SpanRecorder';
import { tracedLoop } from '../../../support/telemetry/tracedLoop';
import { answer, calling } from '../../../../imports/testing/responses';

const SECRET = `sk-${CANARY}-0123456789`;

describe('the server’s log', () => {
  const lines: string[] = [];
  let restore = (): void => undefined;
  afterEach(() => {
    restore();
    lines.length = 0;
  });

  async function open(env: Readonly<Record<string, string>>, isTerminal = false): Promise<void> {
    restore = await openLog({ env, isTerminal, destination: { write: (line) => void lines.push(line) } });
  }

  const logger = createConsoleLogger(() => ({ LOG_LEVEL: 'info' }));
  const records = (): readonly Record<string, unknown>[] =>
    lines.map((line) => JSON.parse(line) as Record<string, unknown>);

  it('writes a line of JSON for each line from the level on, with the ids of what is done', async () => {
    await open({});
    logger.debug('Not this.');
    await withLogIds({ request: 'req_1' }, async () => {
      await Promise.resolve();
      withLogIds({ run: 'run-1' }, () => logger.warn('Odd.', { count: 2 }));
    });
    const [{ time, pid, ...line } = {}] = records();
    expect(lines).to.have.lengthOf(1);
    expect(time).to.match(/^\d{4}-\d\d-\d\dT/);
    expect(pid).to.equal(process.pid);
    expect(line).to.deep.equal({ level: 'warn', msg: 'Odd.', request: 'req_1', run: 'run-1', details: [{ count: 2 }] });
  });

  it('has the ids of run, call and trace within a tool', async () => {
    await open({});
    const recorder = new SpanRecorder();
    recorder.install();
    try {
      const tools = new ToolRegistry().register({ name: 'look', execute: () => logger.info('Looking.') });
      const { loop } = tracedLoop({ tools, steps: [calling({ name: 'look', call_id: 'c1' }), answer('ok')] });
      await loop.execute('ann', { model: 'openai/m', input: 'go', tools: ['look'], executionId: 'run-1' });
      const { traceId, spanId } = recorder.only('execute_tool look').spanContext();
      expect(records()[0]).to.include({ run: 'run-1', call: 'c1', trace_id: traceId, span_id: spanId });
    } finally {
      recorder.uninstall();
    }
  });

  it('has the ids of request, run and trace in what a run does on its own', async () => {
    await open({});
    const recorder = new SpanRecorder();
    recorder.install();
    try {
      const tools = new ToolRegistry().register({ name: 'look', execute: () => 'seen' });
      const { loop } = tracedLoop({
        tools,
        logger,
        steps: [calling({ name: 'look', call_id: 'c1' }), new LLMOverloadedError('Too busy.')],
        fallbackSteps: [answer('ok')],
      });
      await withLogIds({ request: 'req_1' }, () =>
        loop.execute('ann', { model: 'openai/m', input: 'go', tools: ['look'], executionId: 'run-1' }),
      );
      // The second model call is long after whoever started the run has returned.
      const { traceId, spanId } = recorder.named('chat m')[1]?.spanContext() ?? {};
      const line = records().find(({ msg }) => String(msg).includes('openai'));
      expect(line).to.include({ request: 'req_1', run: 'run-1', trace_id: traceId, span_id: spanId });
      expect(line).not.to.have.property('call');
    } finally {
      recorder.uninstall();
    }
  });

  it('contains no secrets: in messages, errors, causes and fields', async () => {
    await open({});
    const cause = new Error(`cause ${SECRET}`);
    logger.error(
      `message ${SECRET}`,
      new Error(`error ${SECRET}`, { cause }),
      { apiKey: SECRET, at: [SECRET] },
      SECRET,
    );
    expect(lines.join('')).not.to.contain(CANARY);
    expect(records()[0]).to.have.nested.property('err.cause.message', 'cause [redacted]');
  });

  it('masks credentials that look like words: by the names of their fields, and all values of headers', async () => {
    await open({});
    const server = { url: 'https://mcp.example.com', headers: { 'x-team': 'correct horse' } };
    logger.warn('Odd.', {
      user: 'ann',
      password: 'correct horse',
      nested: [{ client_secret: 'correct horse' }],
      server,
    });
    logger.error('Odd.', new Error('Refused.', { cause: { authorization: 'correct horse' } }));
    expect(lines.join('')).not.to.contain('correct horse');
    expect(records()[0]).to.have.nested.property('details[0].user', 'ann');
    expect(records()[0]).to.have.nested.property('details[0].server.url', 'https://mcp.example.com');
    expect(records()[1]).to.have.nested.property('err.cause.authorization', '[redacted]');
  });

  it('survives circular fields', async () => {
    await open({});
    const circular: Record<string, unknown> = {};
    circular['self'] = circular;
    logger.info('Round.', circular);
    expect(records()).to.have.lengthOf(1);
  });

  it('leaves plain lines to the console in a terminal, and where they are asked for', async () => {
    for (const [env, isTerminal] of [
      [{}, true],
      [{ LOG_FORMAT: 'pretty' }, false],
    ] as const) {
      await open(env, isTerminal);
      logger.debug('Nothing is written anyway.');
    }
    await open({ LOG_FORMAT: 'json' }, true);
    logger.info('In JSON.');
    expect(records().map(({ msg }) => msg)).to.deep.equal(['In JSON.']);
  });

  it('refuses other formats', async () => {
    expect(await failure(open({ LOG_FORMAT: 'xml' }))).to.have.property(
      'message',
      'LOG_FORMAT must be json or pretty, but is "xml".',
    );
  });
});
