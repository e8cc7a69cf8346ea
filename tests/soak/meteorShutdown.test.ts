/** A Meteor host that is stopped completes what is in progress, and hands its runs over at once. */
import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect } from 'chai';
import { Meteor } from 'meteor/meteor';
import { resetWebApp } from 'meteor/webapp';
import { ToolRegistry } from '../../imports/business/ai/infrastructure/tools/ToolRegistry';
import type { Simulator } from '../../imports/simulator/Simulator';
import { startSimulator } from '../../imports/simulator/startSimulator';
import { startBolide } from '../../imports/host/meteor/startBolide';
import { resetMeteor, restartMeteor } from '../stubs/server/registry';
import { bundleChild } from '../support/bundleChild';
import type { ChildExit, ChildReady } from '../support/meteorChild';
import { newKey } from '../support/oauth/ProvidersHost';
import { METEOR_PACKAGES } from '../meteor/meteorPackages';

describe('a Meteor host that is stopped', () => {
  let simulator: Simulator;
  let answer: () => void;
  beforeEach(async () => {
    simulator = await startSimulator();
    const answered = new Promise<void>((resolve) => (answer = resolve));
    simulator.enqueue(() => answered.then(() => ({ text: 'Done.' })));
  });
  afterEach(() => simulator.close());

  it('leaves its runs to the next process, which continues them at its start', async () => {
    resetMeteor();
    resetWebApp();
    await Meteor.users.insertAsync({ _id: 'ann' });
    const settings = {
      secrets: newKey('k1'),
      ANTHROPIC_API_KEY: 'k',
      ANTHROPIC_BASE_URL: simulator.baseURL('anthropic'),
    };
    const tools = new ToolRegistry();
    const first = await startBolide({ ...METEOR_PACKAGES, settings, tools, shutdownGraceMs: 0 });
    const actor = { userId: 'ann', source: 'job' } as const;
    const { executionId } = await first.module.useCases.agenticExecution.start(actor, {
      requestId: 'r1',
      providerId: 'anthropic',
      input: 'Hello',
      tools: [],
    });
    await simulator.nextRequest();
    await first.close();
    restartMeteor();
    simulator.enqueue({ text: 'Done elsewhere.' });
    const second = await startBolide({ ...METEOR_PACKAGES, settings, tools });
    try {
      // Without the first process's farewell, its lease would have to expire first.
      expect(second.module.loop.local.has(executionId)).to.equal(true);
      const { response } = await second.module.loop.waitForResult(executionId);
      expect(JSON.stringify(response)).to.contain('Done elsewhere.');
    } finally {
      await second.close();
      resetMeteor();
      resetWebApp();
    }
  });

  describe('by a signal', () => {
    let child: ChildProcess;
    let url: string;
    let output: Promise<string>;
    let exited: Promise<unknown[]>;
    let bundle: string;
    before(async () => {
      bundle = await bundleChild(join(__dirname, '../support/meteorChild.ts'));
    });
    afterEach(() => {
      child.kill('SIGKILL');
    });

    const start = async (mode: string): Promise<void> => {
      child = fork(bundle, [simulator.baseURL('openai'), mode], {
        execArgv: [],
        stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
      });
      output = text(child.stdout!);
      exited = once(child, 'exit');
      const [ready] = (await once(child, 'message')) as [ChildReady];
      ({ url } = ready);
    };
    const post = (): Promise<Response> =>
      fetch(`${url}/v1/responses`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: 'Bearer ann-token' },
        body: JSON.stringify({ model: 'openai', input: 'Hello', store: false }),
      });
    const untilItRefusesConnections = async (): Promise<void> => {
      for (;;) {
        try {
          await (await fetch(`${url}/health`, { headers: { connection: 'close' } })).text();
        } catch {
          return;
        }
      }
    };
    const finalState = async (): Promise<ChildExit> =>
      JSON.parse((await output).trim().split('\n').at(-1) ?? '') as ChildExit;

    it('frees its port, completes requests in progress, and exits', async () => {
      await start('patient');
      const response = post();
      await simulator.nextRequest();
      child.kill('SIGTERM');
      await untilItRefusesConnections();
      answer();
      expect((await response).status).to.equal(200);
      expect(await (await response).text()).to.contain('Done.');
      expect(await exited).to.deep.equal([0, null]);
      expect(await finalState()).to.include({ owners: 0 });
    });

    it('completes calls of methods in progress', async () => {
      await start('patient');
      child.send('call');
      await simulator.nextRequest();
      child.kill('SIGTERM');
      await untilItRefusesConnections();
      answer();
      expect(await exited).to.deep.equal([0, null]);
      const { results, owners } = await finalState();
      expect(results).to.have.length(1);
      expect(results[0]).to.include({ result: 'Done.' });
      expect(owners).to.equal(0);
    });

    it('leaves longer calls and their runs to the next process, and disconnects clients without a result', async () => {
      await start('');
      child.send('call');
      await simulator.nextRequest();
      child.kill('SIGTERM');
      expect(await exited).to.deep.equal([0, null]);
      expect(await finalState()).to.deep.equal({ owners: 0, runs: ['running'], isClientConnected: false, results: [] });
    });

    it('hands its runs over when SIGTERM follows SIGINT, as when meteor run is interrupted', async () => {
      await start('');
      child.send('call');
      await simulator.nextRequest();
      child.kill('SIGINT');
      child.kill('SIGTERM');
      expect(await exited).to.deep.equal([0, null]);
      expect(await finalState()).to.include({ owners: 0 });
    });

    it('aborts what is in progress and hands its runs over when the signal is repeated', async () => {
      await start('patient');
      child.send('call');
      await simulator.nextRequest();
      child.kill('SIGTERM');
      await untilItRefusesConnections();
      child.kill('SIGTERM');
      expect(await exited).to.deep.equal([0, null]);
      expect(await finalState()).to.deep.equal({ owners: 0, runs: ['running'], isClientConnected: false, results: [] });
    });

    it('is not ready, but alive, while it completes what is in progress in production', async () => {
      await start('production');
      const status = async (path: string): Promise<number> => (await fetch(`${url}${path}`)).status;
      expect(await status('/ready')).to.equal(200);
      const response = post();
      await simulator.nextRequest();
      child.kill('SIGTERM');
      while ((await status('/ready')) !== 503);
      expect(await status('/health')).to.equal(200);
      answer();
      expect((await response).status).to.equal(200);
      expect(await exited).to.deep.equal([0, null]);
    });

    it("leaves the exit to the app's own handler", async () => {
      await start('listening');
      child.kill('SIGTERM');
      await untilItRefusesConnections();
      child.send('exit');
      expect(await exited).to.deep.equal([7, null]);
      expect(await finalState()).to.include({ owners: 0 });
    });
  });
});
