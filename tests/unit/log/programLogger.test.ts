/** Loggers of programs that throw or lack a level. */
import { expect } from 'chai';
import { LLMManager } from '../../../imports/business/ai/application/services/LLMManager';
import { AgenticLoop } from '../../../imports/business/ai/application/services/AgenticLoop';
import type { Logger } from '../../../imports/business/ai/domain/interfaces/Logger';
import { ToolRegistry } from '../../../imports/business/ai/infrastructure/tools/ToolRegistry';
import { programLogger } from '../../../imports/log/programLogger';
import { answer, calling } from '../../../imports/testing/responses';
import { ScriptedProvider } from '../../../imports/testing/ScriptedProvider';

const fail = (): never => {
  throw new Error('The disk of the log is full.');
};
const THROWING: Logger = { debug: fail, info: fail, warn: fail, error: fail };

describe('The logger of a program', () => {
  for (const [what, logger] of [
    ['throws', THROWING],
    ['lacks levels', { error: () => undefined } as unknown as Logger],
    ['rejects', { ...THROWING, debug: async () => fail() } as unknown as Logger],
  ] as const)
    it(`fails no call that the vendor has answered, if it ${what}`, async () => {
      const manager = new LLMManager({ provider: new ScriptedProvider([answer('Fine.')]), logger });
      expect((await manager.generate('ann', { model: 'm', input: 'Go.' })).output_text).to.equal('Fine.');
    });

  it('is asked for each level by its own name', () => {
    const lines: string[] = [];
    const logger = programLogger({ ...THROWING, warn: (message) => lines.push(message) });
    logger.warn('careful');
    expect(lines).to.deep.equal(['careful']);
  });
});

describe('A listener of tool events', () => {
  it('cannot change the call of a run', async () => {
    const loop = new AgenticLoop({
      provider: new ScriptedProvider([calling({ name: 'f', call_id: 'c' }), answer('Done.')]),
      toolExecutor: new ToolRegistry().register({ name: 'f', execute: () => 'result' }),
      onListenerError: () => undefined,
    });
    loop.on('event', (event) => {
      if ('toolCall' in event) Object.assign(event.toolCall as object, { state: 'failed', result: 'forged' });
    });
    const { toolCalls } = await loop.execute('ann', { model: 'm', input: 'Go.', tools: ['f'] });
    expect(toolCalls).to.have.length(1);
    expect(toolCalls[0]).to.include({ state: 'completed', result: 'result' });
  });
});
