/** A run sleeps until a time, in every store, whichever process has it then. */
import { expect } from 'chai';
import { stub } from 'sinon';
import { AgenticLoop } from '../../imports/business/ai/application/services/AgenticLoop';
import { RunRecovery } from '../../imports/business/ai/application/services/RunRecovery';
import { sleepTool } from '../../imports/business/ai/infrastructure/tools/sleepTool';
import { ToolRegistry } from '../../imports/business/ai/infrastructure/tools/ToolRegistry';
import { answer, calling } from '../../imports/testing/responses';
import { ScriptedProvider } from '../../imports/testing/ScriptedProvider';
import { QUICK_RUN_STORES } from '../support/runStores';
import type { TestRunStore } from '../support/runStores';
import { until } from '../support/until';
import { inFlowingTime } from '../support/VirtualTime';

type Script = ConstructorParameters<typeof ScriptedProvider>[0];

for (const [name, open] of Object.entries(QUICK_RUN_STORES)) {
  describe(
    `a run that sleeps (${name})`,
    inFlowingTime((time) => {
      let opened: TestRunStore;
      const loops: AgenticLoop[] = [];
      beforeEach(async () => {
        opened = await open();
      });
      afterEach(async () => {
        for (const loop of loops.splice(0)) await loop.close();
        await opened.close();
      });
      const create = (script: Script): AgenticLoop => {
        const toolExecutor = new ToolRegistry().register(sleepTool());
        const leaseTimes = { lease: 5_000, heartbeat: 20 };
        const provider = new ScriptedProvider(script);
        const loop = new AgenticLoop({ provider, toolExecutor, runStore: opened.store, leaseTimes });
        loops.push(loop);
        return loop;
      };
      const options = { executionId: 'r', model: 'm', input: 'Sleep.', tools: ['sleep'] };
      const sleeping = (args: object) => calling({ name: 'sleep', call_id: 'c', arguments: JSON.stringify(args) });
      const callOf = async () => (await opened.store.load('r'))?.calls[0];

      it('wakes at its time, not before', async () => {
        const loop = create([sleeping({ seconds: 0.2 }), answer('Awake.')]);
        const { response } = await loop.execute('ann', options);
        expect(response.output_text).to.equal('Awake.');
        const call = await callOf();
        expect(call).to.include({ state: 'completed' });
        if (call?.state === 'completed') expect(call.endTime - (call.startTime ?? 0)).to.be.at.least(200);
      });

      it('counts its seconds from the start that the call shows', async () => {
        const loop = create([sleeping({ seconds: 60 })]);
        const realNow = Date.now.bind(Date);
        let reads = 0;
        // Every look at the clock takes a while.
        const clock = stub(Date, 'now').callsFake(() => realNow() + 10 * reads++);
        try {
          await loop.start('ann', options);
          await until(async () => (await callOf())?.state === 'executing');
        } finally {
          clock.restore();
        }
        const call = await callOf();
        expect(call?.state === 'executing' && 'expiresAt' in call && call.expiresAt - call.startTime).to.equal(60_000);
      });

      it('wakes at the same time in the process that continues it', async () => {
        const at = Date.now() + 4_000;
        const first = create([sleeping({ until: new Date(at).toISOString() })]);
        await first.start('ann', options);
        await until(async () => (await callOf())?.state === 'executing');
        await first.close();
        const other = create([answer('Awake.')]);
        const recovery = new RunRecovery({ loop: other, store: opened.store });
        await recovery.start();
        expect((await other.waitForResult('r')).response.output_text).to.equal('Awake.');
        recovery.stop();
        const call = await callOf();
        expect(call?.state === 'completed' && call.endTime).to.be.at.least(at);
      });

      it('wakes at once if its time passed while no process ran', async () => {
        const first = create([sleeping({ seconds: 3 })]);
        await first.start('ann', options);
        await until(async () => (await callOf())?.state === 'executing');
        await first.close();
        await time.pass(3_000);
        const { response } = await create([answer('Awake.')]).resume('r');
        expect(response.output_text).to.equal('Awake.');
        expect(await callOf()).to.include({ state: 'completed' });
      });

      it('wakes sooner when a result is submitted', async () => {
        const loop = create([sleeping({ seconds: 86_400 * 40 }), answer('Awake.')]);
        const { done } = await loop.start('ann', options);
        await until(async () => (await callOf())?.state === 'executing');
        await loop.submitToolResult('r', 'c', { output: 'Get up.' });
        await done;
        expect(await callOf()).to.include({ result: 'Get up.' });
      });

      it('is told that it has named no time', async () => {
        await create([sleeping({}), answer('Well.')]).execute('ann', options);
        expect(await callOf()).to.include({ state: 'failed' });
      });
    }),
  );
}
