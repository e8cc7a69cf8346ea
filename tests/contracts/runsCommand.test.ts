/** `bolide runs` against a server that runs. */
import { expect } from 'chai';
import type { RunningServer } from '../../imports/host/node/startServer';
import type { Simulator } from '../../imports/simulator/Simulator';
import { startSimulator } from '../../imports/simulator/startSimulator';
import { runBolide } from '../support/runBolide';
import type { Ended } from '../support/runBolide';
import { startStandalone } from '../support/startStandalone';
import { until } from '../support/until';
import { inFlowingTime } from '../support/VirtualTime';

const TOKEN = 'the-token-of-the-local-user';

describe(
  'the command that shows and decides about runs',
  inFlowingTime(() => {
    let simulator: Simulator;
    let server: RunningServer;

    before(async () => {
      simulator = await startSimulator();
      server = await startStandalone({
        BOLIDE_API_TOKEN: TOKEN,
        USER_REQUESTS_PER_MINUTE: '100000',
        OPENAI_API_KEY: 'k',
        OPENAI_API_BASE: simulator.baseURL('openai'),
      });
    });
    after(async () => {
      await server.close();
      await simulator.close();
    });

    const run = (
      args: readonly string[],
      environment: Readonly<Record<string, string>> = { BOLIDE_API_TOKEN: TOKEN, BOLIDE_SERVER_URL: server.url },
    ): Promise<Ended> => runBolide(['runs', ...args], { environment });
    const json = async <T>(...args: readonly string[]): Promise<T> => {
      const { code, output } = await run([...args, '--json']);
      expect(code, output).to.equal(0);
      return JSON.parse(output) as T;
    };
    let requests = 0;
    const start = async (tools: readonly string[] = []): Promise<string> => {
      const response = await fetch(`${server.url}/api/runs`, {
        method: 'POST',
        headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
        body: JSON.stringify({ requestId: `r${(requests += 1)}`, providerId: 'openai', input: 'Remind me.', tools }),
      });
      return ((await response.json()) as { readonly executionId: string }).executionId;
    };
    const stateOf = async (id: string): Promise<string> =>
      (await json<{ readonly run: { readonly state: string } }>('show', id)).run.state;

    it('lists and shows runs, as tables and as JSON', async () => {
      simulator.enqueue({ text: 'Fine.' });
      const id = await start();
      await until(async () => (await stateOf(id)) === 'completed');
      const { code, output } = await run(['list', '--state', 'completed,failed']);
      expect(code).to.equal(0);
      expect(output).to.match(/^RUN +USER +STATE +AGE +CALLS +TITLE\n/);
      expect(output).to.match(new RegExp(`${id} +local +completed +\\d+s +1 +Remind me\\.`));
      expect((await run(['list', '--user', 'somebody else'])).output).not.to.include(id);
      expect((await json<readonly { readonly _id: string }[]>('list')).map(({ _id }) => _id)).to.include(id);
      const shown = await run(['show', id]);
      expect(shown.output).to.match(/^state +completed$/m);
      expect(shown.output).to.match(/^provider +openai/m);
    });

    it('lists what waits for a decision, and decides', async () => {
      simulator.enqueue({ calls: [{ name: 'send_reminder', arguments: { text: 'Tea' } }] });
      simulator.enqueue({ text: 'Done.' });
      const id = await start(['send_reminder']);
      await until(async () => (await json<readonly unknown[]>('review', id)).length > 0);
      expect((await run(['list', '--stuck'])).output).to.match(
        new RegExp(`${id} +local +approval +\\d+s +send_reminder`),
      );
      expect((await run(['review'])).output).to.match(new RegExp(`${id} +\\S+ +approval`));
      const metrics = await fetch(`${server.url}/metrics`, { headers: { authorization: `Bearer ${TOKEN}` } });
      expect(await metrics.text()).to.include('bolide_runs_waiting{kind="approval"} 1\n');
      expect((await run(['review', id, '--outcome', 'reject', '--reason', 'Not now.'])).code).to.equal(0);
      await until(async () => (await stateOf(id)) === 'completed');
      expect(await run(['review', id, '--outcome', 'approve'])).to.deep.equal({
        code: 1,
        output: `No call of the run ${id} waits for a decision.`,
      });
      expect((await run(['review'])).output).to.equal('No call waits for a decision.');
    });

    it('cancels runs, and starts ended ones again, once', async () => {
      simulator.enqueue({ calls: [{ name: 'send_reminder', arguments: { text: 'Tea' } }] });
      const id = await start(['send_reminder']);
      await until(async () => (await json<readonly unknown[]>('review', id)).length > 0);
      const refused = await run(['retry', id]);
      expect(refused.code).to.equal(1);
      expect(refused.output).to.include('Parked runs are resumed');
      expect((await run(['cancel', id])).code).to.equal(0);
      await until(async () => (await stateOf(id)) === 'cancelled');
      simulator.enqueue({ text: 'Again.' });
      const { executionId } = await json<{ readonly executionId: string }>('retry', id);
      await until(async () => (await stateOf(executionId)) === 'completed');
      expect(await json('retry', id)).to.deep.equal({ executionId, repeats: id });
    });

    it('says what to do when it cannot work', async () => {
      expect(await run(['list'], {})).to.deep.include({ code: 1 });
      const wrong = await run(['list'], { BOLIDE_API_TOKEN: 'wrong', BOLIDE_SERVER_URL: server.url });
      expect(wrong.code).to.equal(1);
      expect(wrong.output).to.include('Set BOLIDE_API_TOKEN');
      const away = await run(['list'], { BOLIDE_API_TOKEN: TOKEN, BOLIDE_SERVER_URL: 'http://127.0.0.1:9' });
      expect(away.output).to.match(/^No server answers at http:\/\/127\.0\.0\.1:9 .*BOLIDE_SERVER_URL/);
      expect((await run(['show', 'unknown'])).code).to.equal(1);
      for (const args of [
        ['show'],
        ['list', 'x'],
        ['review', 'x', '--outcome', 'dance'],
        ['review', '--outcome', 'approve'],
        ['review', 'x', '--outcome', 'result'],
      ])
        expect((await run(args)).code, args.join(' ')).to.equal(2);
    });
  }),
);
