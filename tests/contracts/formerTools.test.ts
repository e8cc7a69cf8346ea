/** Runs that an earlier version recorded: tools have flags in place of `kind`, suspects a trial. */
import { expect } from 'chai';
import { AgenticLoop } from '../../imports/business/ai/application/services/AgenticLoop';
import { openRunStore } from '../../imports/business/ai/infrastructure/persistence/runs/DocumentRunStore';
import { ToolRegistry } from '../../imports/business/ai/infrastructure/tools/ToolRegistry';
import { answer, calling } from '../../imports/testing/responses';
import { ScriptedProvider } from '../../imports/testing/ScriptedProvider';
import type { ScriptedStep } from '../../imports/testing/ScriptedProvider';
import { QUICK_DATABASES } from '../support/documentDatabases';
import { recordEvents } from '../support/recordEvents';
import { RecordingLogger } from '../support/RecordingLogger';
import { runRequest } from '../support/runRequests';

const RUN = 'run';

const FLAGS = {
  browser: { external: true },
  pay: { external: false },
  sleep: { external: true, timer: true },
  wait_for_signal: { external: true, signal: true },
  research: { external: true, childRun: true },
};

for (const [name, open] of Object.entries(QUICK_DATABASES))
  describe(`a run of an earlier version (${name})`, () => {
    it('goes on, and takes the results that its caller supplies', async () => {
      const opened = await open();
      const { database } = opened;
      const store = await openRunStore(database);
      const process = (script: readonly ScriptedStep[]) => {
        const toolExecutor = new ToolRegistry();
        const provider = new ScriptedProvider(script);
        const loop = new AgenticLoop({ provider, toolExecutor, runStore: store, logger: new RecordingLogger() });
        return { loop, provider, record: recordEvents(loop) };
      };
      try {
        const first = process([calling({ name: 'browser', call_id: 'c' })]);
        const tools = [{ type: 'function', name: 'browser', kind: 'external' }] as const;
        void first.loop.execute('ann', { model: 'm', input: 'go', tools, executionId: RUN }).catch(() => undefined);
        await first.record.seen('tool:executing');
        await first.loop.close();
        const documents = database.collection<{ readonly _id: string; readonly plan: string }>('ai_runs');
        const { plan } = (await documents.findOne({ _id: RUN }))!;
        const former = Object.entries(FLAGS).map(([tool, flags]) => ({ type: 'function', name: tool, ...flags }));
        await documents.update(
          { _id: RUN },
          { $set: { plan: JSON.stringify({ ...(JSON.parse(plan) as object), tools: [...former, 'named'] }) } },
        );

        const stored = (await store.load(RUN))!.run.plan.tools;
        expect(stored).to.deep.equal([
          { type: 'function', name: 'browser', kind: 'external' },
          { type: 'function', name: 'pay', kind: 'function' },
          { type: 'function', name: 'sleep', kind: 'timer' },
          { type: 'function', name: 'wait_for_signal', kind: 'signal' },
          { type: 'function', name: 'research', kind: 'run' },
          'named',
        ]);
        // The process that has the run is another one.
        await process([]).loop.submitToolResult(RUN, 'c', { output: 'seen' });
        const next = process([answer('done')]);
        expect((await next.loop.resume(RUN)).response.output_text).to.equal('done');
        const offered = next.provider.calls[0]?.options.tools ?? [];
        expect(offered.map((tool) => tool.type === 'function' && tool.kind)).to.deep.equal([
          'external',
          'function',
          'timer',
          'signal',
          'run',
        ]);
      } finally {
        await opened.close();
      }
    });

    it('is recovered, and not blamed by what was recorded of its trial', async () => {
      const opened = await open();
      const store = await openRunStore(opened.database);
      try {
        await store.create(runRequest(RUN), 'running', 'gone');
        const trial = { size: 1, loneDeaths: 4, startedAt: 1 };
        await opened.database.collection('ai_runs').update({ _id: RUN }, { $set: { takeovers: 20, trial } });
        const loop = new AgenticLoop({
          provider: new ScriptedProvider([answer('done')]),
          toolExecutor: new ToolRegistry(),
          runStore: store,
          logger: new RecordingLogger(),
        });
        const [lease] = await store.leased(10);
        expect((await loop.claims.recover(lease!))?.response.output_text).to.equal('done');
        expect((await store.load(RUN))!.run).not.to.have.property('trial');
        await loop.close();
      } finally {
        await opened.close();
      }
    });
  });
