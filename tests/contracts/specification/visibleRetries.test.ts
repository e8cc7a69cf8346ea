import { expect } from 'chai';
import { AgenticLoop } from '../../../imports/business/ai/application/services/AgenticLoop';
import { LLMManager } from '../../../imports/business/ai/application/services/LLMManager';
import type { LLMManagerOptions } from '../../../imports/business/ai/application/services/LLMManager';
import { StatefulProvider } from '../../../imports/business/ai/application/services/routing/StatefulProvider';
import { MemoryResponseStore } from '../../../imports/business/ai/application/services/chains/MemoryResponseStore';
import { createConsoleLogger } from '../../../imports/log/consoleLogger';
import type { Logger } from '../../../imports/business/ai/domain/interfaces/Logger';
import type { AgentEventOf } from '../../../imports/business/ai/domain/types/AgentEvents';
import type { LLMResponse } from '../../../imports/business/ai/domain/types/ResponsesAPITypes';
import { createProvider } from '../../../imports/business/ai/infrastructure/factories/createProvider';
import { MemoryRunStore } from '../../../imports/business/ai/infrastructure/persistence/runs/MemoryRunStore';
import { ToolRegistry } from '../../../imports/business/ai/infrastructure/tools/ToolRegistry';
import type { Simulator } from '../../../imports/simulator/Simulator';
import { startSimulator } from '../../../imports/simulator/startSimulator';
import { RecordingLogger } from '../../support/RecordingLogger';

const KEY = 'sk-canary0123456789abcdef';

describe('retries and fallbacks', () => {
  let simulator: Simulator;
  let logger: RecordingLogger;
  beforeEach(async () => {
    simulator = await startSimulator();
    logger = new RecordingLogger();
  });
  afterEach(() => simulator.close());

  const provider = (vendor: 'openai' | 'anthropic') =>
    createProvider({ vendor, apiKey: KEY, baseURL: simulator.baseURL(vendor), allowPrivateHosts: true });
  const manager = (options: Partial<LLMManagerOptions> = {}): LLMManager =>
    new LLMManager({
      providers: { openai: provider('openai'), anthropic: provider('anthropic') },
      retry: { baseDelay: 0 },
      logger,
      ...options,
    });
  const request = { model: 'openai/gpt-5-mini', input: 'Hi' };
  const rateLimited = { status: 429, body: { error: { message: `Too fast, ${KEY}.`, type: 'requests' } } };
  const unauthorized = { status: 401, body: { error: { message: `Bad key: ${KEY}.`, code: 'invalid_api_key' } } };

  it('are in response.vendor.attempts with reason and delay', async () => {
    simulator.enqueue(rateLimited, { text: 'Hello.' });
    const { vendor } = await manager().generate('ann', request);
    expect(vendor.attempts).to.have.lengthOf(1);
    const [{ delay, ...attempt } = { delay: -1 }] = vendor.attempts ?? [];
    expect(attempt).to.deep.equal({ providerId: 'openai', reason: 'rate-limited', status: 429 });
    expect(delay).to.be.a('number').and.at.least(0);
  });

  it('are absent from a response to the first attempt', async () => {
    simulator.enqueue({ text: 'Hello.' });
    const { vendor } = await manager().generate('ann', request);
    expect(vendor).not.to.have.property('attempts');
  });

  it('are in streamed and in stored responses', async () => {
    simulator.enqueue(rateLimited, { text: 'Hello.' });
    const store = new MemoryResponseStore();
    let response: LLMResponse | undefined;
    for await (const event of new StatefulProvider({ provider: manager(), store }).stream('ann', {
      ...request,
      store: true,
    }))
      if (event.type === 'response.completed') ({ response } = event);
    expect(response?.vendor.attempts?.map(({ reason }) => reason)).to.deep.equal(['rate-limited']);
    const stored = await store.find('ann', response?.id ?? '');
    expect(stored?.response.vendor.attempts).to.deep.equal(response?.vendor.attempts);
  });

  it('name the provider that served the request instead', async () => {
    simulator.enqueue(unauthorized, { text: 'Hello.' });
    const { vendor } = await manager({ fallback: ['anthropic'] }).generate('ann', request);
    expect(vendor.name).to.equal('anthropic');
    expect(vendor.attempts).to.deep.equal([
      { providerId: 'openai', reason: 'auth-failed', status: 401, delay: 0, fallback: 'anthropic' },
    ]);
  });

  it('are logged: a retry at the level debug, a fallback at the level warn', async () => {
    simulator.enqueue(rateLimited, unauthorized, { text: 'Hello.' });
    await manager({ fallback: ['anthropic'] }).generate('ann', request);
    expect(logger.debugs.join('\n'))
      .to.match(/"openai" failed \(rate-limited/)
      .and.to.match(/Retrying in \d+ ms/);
    expect(logger.warnings.join('\n')).to.match(/"openai" failed \(auth-failed.*"anthropic"/);
    expect(JSON.stringify([logger.debugs, logger.warnings, logger.details])).not.to.contain(KEY);
  });

  it('are reported to the caller as they happen', async () => {
    simulator.enqueue(rateLimited, { text: 'Hello.' });
    const reasons: string[] = [];
    await manager().generate('ann', { ...request, onRetry: ({ reason }) => reasons.push(reason) });
    expect(reasons).to.deep.equal(['rate-limited']);
  });

  for (const stream of [false, true]) {
    it(`are events of a ${stream ? 'streamed' : 'stored'} run`, async () => {
      simulator.enqueue(rateLimited, { text: 'Hello.' });
      const runStore = new MemoryRunStore();
      const loop = new AgenticLoop({ provider: manager(), toolExecutor: new ToolRegistry(), runStore });
      const retries: AgentEventOf<'llm:retry'>[] = [];
      loop.on('llm:retry', (event) => retries.push(event));
      const { executionId, response } = await loop.execute('ann', { ...request, tools: [], stream });
      expect(retries).to.have.lengthOf(1);
      expect(retries[0]).to.deep.include({
        executionId,
        iteration: 1,
        providerId: 'openai',
        reason: 'rate-limited',
        status: 429,
      });
      expect(response.vendor.attempts).to.have.lengthOf(1);
      expect((await runStore.load(executionId))?.run.response?.vendor.attempts).to.deep.equal(response.vendor.attempts);
      await loop.close();
    });
  }

  it('never carry a key', async () => {
    simulator.enqueue(rateLimited, { text: 'Hello.' });
    const response = await manager().generate('ann', request);
    expect(JSON.stringify(response)).not.to.contain(KEY);
  });
});

describe('the default logger', () => {
  const levelsOf = (environment: Readonly<Record<string, string>>): readonly string[] => {
    const lines: string[] = [];
    const { warn, error } = console;
    console.warn = console.error = (line: string) => lines.push(line);
    try {
      const logger: Logger = createConsoleLogger(() => environment);
      logger.debug('a debug line');
      logger.info('an info line');
      logger.warn('a warning');
      logger.error('an error');
    } finally {
      Object.assign(console, { warn, error });
    }
    return lines.map((line) => /debug line|info line|warning|error/.exec(line)?.[0] ?? line);
  };
  const ALL = ['debug line', 'info line', 'warning', 'error'];
  const CASES: readonly (readonly [Readonly<Record<string, string>>, readonly string[]])[] = [
    [{}, ALL.slice(1)],
    [{ LOG_LEVEL: 'debug' }, ALL],
    [{ LOG_LEVEL: 'TRACE' }, ALL],
    [{ LOG_LEVEL: 'warn' }, ALL.slice(2)],
    [{ LOG_LEVEL: 'error' }, ALL.slice(3)],
    [{ LOG_LEVEL: 'silent' }, []],
    [{ LOG_LEVEL: 'http' }, ALL.slice(1)],
    [{ DEBUG: 'bolide:*' }, ALL],
    [{ DEBUG: '*', LOG_LEVEL: 'error' }, ALL],
    [{ DEBUG: 'bolide:llm,express' }, ALL],
    [{ DEBUG: 'express:*,bolidexyz' }, ALL.slice(1)],
    [{ DEBUG: '*,-bolide:*' }, ALL.slice(1)],
  ];
  for (const [environment, expected] of CASES)
    it(`logs ${expected.length} levels with ${JSON.stringify(environment)}`, () => {
      expect(levelsOf(environment)).to.deep.equal(expected);
    });
});
