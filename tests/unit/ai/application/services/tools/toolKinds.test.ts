/** What supplies the results of a tool's calls. */
import { expect } from 'chai';
import { AgenticLoop } from '../../../../../../imports/business/ai/application/services/AgenticLoop';
import { normalizeTools } from '../../../../../../imports/business/ai/application/services/ContentNormalizer';
import { ToolProcessor } from '../../../../../../imports/business/ai/application/services/ToolProcessor';
import { resolveTools } from '../../../../../../imports/business/ai/application/services/tools/ToolSet';
import type { ToolKind } from '../../../../../../imports/business/ai/domain/entities/Tool';
import type { IToolExecutor } from '../../../../../../imports/business/ai/domain/interfaces/IToolExecutor';
import { runAsTool } from '../../../../../../imports/business/ai/infrastructure/tools/runAsTool';
import { sleepTool } from '../../../../../../imports/business/ai/infrastructure/tools/sleepTool';
import { ToolRegistry } from '../../../../../../imports/business/ai/infrastructure/tools/ToolRegistry';
import { waitForSignalTool } from '../../../../../../imports/business/ai/infrastructure/tools/waitForSignalTool';
import { tool } from '../../../../../../imports/library/tool';
import { answer, calling } from '../../../../../../imports/testing/responses';
import { ScriptedProvider } from '../../../../../../imports/testing/ScriptedProvider';
import { recordEvents } from '../../../../../support/recordEvents';

describe('tools whose results need a run', () => {
  const CALLS = {
    ask: {},
    sleep: { seconds: 60 },
    wait_for_signal: { signal: 'paid' },
    research: { input: 'x' },
  };
  const toolExecutor = new ToolRegistry()
    .register({ name: 'ask', kind: 'external' })
    .register(sleepTool())
    .register(waitForSignalTool())
    .register(runAsTool({ name: 'research' }));

  for (const [name, given] of Object.entries(CALLS))
    it(`fail at once outside of one: ${name}`, async () => {
      const results = await new ToolProcessor({ toolExecutor }).processToolCalls(
        [{ call_id: 'c', name, arguments: JSON.stringify(given) }],
        { userId: 'ann', tools: [name] },
      );
      expect(results[0]).to.deep.include({ call_id: 'c', state: 'failed' });
      expect(results[0]?.error).to.deep.include({ failure: 'rejected' });
    });
});

describe('a tool of an earlier version, with `external` in place of `kind`,', () => {
  const loose = { type: 'function', name: 'ask', external: true } as const;

  it('is read where tools are taken', () => {
    const registry = new ToolRegistry().register({ name: 'ask', external: true });
    expect(registry.tools).to.deep.equal([{ type: 'function', name: 'ask', kind: 'external' }]);
    expect(normalizeTools([loose])).to.deep.equal(registry.tools);
    expect(normalizeTools([{ ...loose, external: false, kind: 'timer' }])[0]).to.deep.include({ kind: 'timer' });
    expect(() => tool({ name: 'ask', external: true })).not.to.throw();
    expect(() => tool({ name: 'ask', external: false })).to.throw('"execute" is required, unless "kind" is "external"');
  });

  it('replaces the kind of the registered tool', () => {
    const kindOf = (external: boolean, kind: ToolKind) =>
      resolveTools([{ ...loose, external }], new ToolRegistry().register({ name: 'ask', kind, execute: () => 1 })).get(
        'ask',
      )?.definition.kind;
    expect(kindOf(true, 'function')).to.equal('external');
    expect(kindOf(false, 'external')).to.equal('function');
  });

  it("is read where an app's own executor defines it", async () => {
    const toolExecutor: IToolExecutor = {
      getToolDefinition: () => loose,
      hasToolFunction: () => false,
      execute: () => undefined,
    };
    const provider = new ScriptedProvider([calling({ name: 'ask', call_id: 'c' }), answer('done')]);
    const loop = new AgenticLoop({ provider, toolExecutor });
    const record = recordEvents(loop);
    const done = loop.execute('ann', { model: 'm', input: 'go', tools: ['ask'], executionId: 'r' });
    await record.seen('tool:executing');
    expect(await loop.submitToolResult('r', 'c', { output: 'seen' })).to.equal('accepted');
    expect((await done).toolCalls[0]).to.include({ state: 'completed', result: 'seen' });
  });
});

describe('the kind of a tool', () => {
  it('decides whether it needs a function', () => {
    for (const kind of ['external', 'timer', 'signal'] as const)
      expect(() => new ToolRegistry().register({ name: 'a', kind })).not.to.throw();
    for (const kind of ['function', 'run'] as const)
      expect(() => new ToolRegistry().register({ name: 'a', kind })).to.throw('no "execute" function');
  });

  it('is refused if it is unknown', () => {
    const kind = 'cron' as never;
    expect(() => new ToolRegistry().register({ name: 'a', kind })).to.throw('Expected one of: function, external');
    expect(() => tool({ name: 'a', kind })).to.throw('"kind" must be one of: function, external');
    expect(() => normalizeTools([{ type: 'function', name: 'a', kind }])).to.throw(
      'must be one of: function, external',
    );
  });
});
