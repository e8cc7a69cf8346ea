/** Messages to a run that is under way, from AG-UI's own client. */
import { HttpAgent } from '@ag-ui/client';
import { expect } from 'chai';
import { randomUUID } from 'node:crypto';
import { ConflictError } from '../../imports/business/ai/domain/errors/LLMErrors';
import type { AgentEventOf } from '../../imports/business/ai/domain/types/AgentEvents';
import { spy, stub } from 'sinon';
import type { AgUiRunState } from '../../imports/interop/agUi/AgUiToolState';
import { deferred } from '../support/deferred';
import { runAgent } from '../support/agUi/replayAgUi';
import type { AgUiReplay } from '../support/agUi/replayAgUi';
import { recordEvents } from '../support/recordEvents';
import type { EventRecord } from '../support/recordEvents';
import { startSimulatedServer } from '../support/startSimulatedServer';
import type { SimulatedServer } from '../support/startSimulatedServer';
import { suiteInVirtualTime } from '../support/suiteInVirtualTime';
import { until } from '../support/until';

const TOKEN = 'a-token-for-ag-ui-in-tests';
const LONG = 'The first answer, which is long.';

describe('A message to an AG-UI run that is under way', () => {
  const itInTime = suiteInVirtualTime();
  let server: SimulatedServer;
  let events: EventRecord;
  before(async () => {
    server = await startSimulatedServer({ BOLIDE_API_TOKEN: TOKEN });
    events = recordEvents(server.host.module.loop);
  });
  after(() => server.close());
  afterEach(() => server.simulator.assertDone());

  let threads = 0;
  /** @param known a thread as the page has it that is reloaded. It is copied */
  const openThread = (known?: HttpAgent): HttpAgent =>
    new HttpAgent({
      url: `${server.url}/api/ag-ui`,
      threadId: known?.threadId ?? `thread-${(threads += 1)}`,
      headers: { authorization: `Bearer ${TOKEN}` },
      initialMessages: known?.messages ?? [],
      initialState: known?.state as object,
    });
  const say = (agent: HttpAgent, content: string): void =>
    agent.addMessage({ id: randomUUID(), role: 'user', content });
  const run = (agent: HttpAgent, options: object = {}, runId: string = randomUUID()): Promise<AgUiReplay> =>
    runAgent(agent, { runId, forwardedProps: { bolide: { onDisconnect: 'continue', ...options } } });
  const runsOf = ({ threadId }: HttpAgent): readonly AgentEventOf<'run:started'>[] =>
    events.events.filter((event) => event.type === 'run:started').filter((event) => event.conversationId === threadId);
  const idOf = (agent: HttpAgent): string => runsOf(agent)[0]?.executionId ?? '';
  const textsOf = ({ messages }: HttpAgent): readonly unknown[] =>
    messages.flatMap(({ role, content }) => (role === 'tool' || content === undefined ? [] : [content]));
  const isShown = (agent: HttpAgent, text: string): boolean => JSON.stringify(textsOf(agent).at(-1)).includes(text);
  const expectSuccess = ({ error, outcome }: AgUiReplay): void => {
    expect(error).to.equal(undefined);
    expect(outcome).to.equal('success');
  };
  const expectError = ({ seen }: AgUiReplay, text: string): void => {
    expect(JSON.stringify(seen.at(-1)))
      .to.match(/^{.*"RUN_ERROR"/)
      .and.include(text);
  };
  const isQueued = async (agent: HttpAgent, count = 1): Promise<void> =>
    until(async () => (await server.host.module.loop.queuedMessages(idOf(agent))).length === count);
  const lastRequest = (): string => JSON.stringify(server.simulator.requests.at(-1)?.body);

  /** Scripts an answer that stops in its middle. @returns lets it go on */
  const hold = (text: string): (() => void) => {
    const { promise, resolve } = deferred();
    server.simulator.enqueue({ text, fault: { kind: 'stall', after: { events: 6 }, until: promise } });
    return resolve;
  };
  /** Asks the first question, and leaves the stream in the middle of the answer. @returns lets the answer go on */
  const begin = async (agent: HttpAgent, runId?: string): Promise<() => void> => {
    const release = hold(LONG);
    say(agent, 'First?');
    void run(agent, {}, runId);
    await until(() => isShown(agent, 'The first'));
    await agent.detachActiveRun();
    return release;
  };

  itInTime('waits, and is answered by the same run as its next turn', async () => {
    const agent = openThread();
    const release = await begin(agent);
    server.simulator.enqueue({ text: 'The second.' }, { text: 'The third.' });
    say(agent, 'Second?');
    void run(agent);
    await isQueued(agent);
    await agent.detachActiveRun();
    say(agent, 'Third?');
    const answer = run(agent);
    await isQueued(agent, 2);
    release();
    expectSuccess(await answer);
    expect(textsOf(agent)).to.deep.equal(['First?', LONG, 'Second?', 'The second.', 'Third?', 'The third.']);
    expect(runsOf(agent)).to.have.length(1);
    expect(lastRequest()).to.match(/First\?.*The first.*Second\?.*The second.*Third\?/);
  });

  itInTime('waits, too, where the model has said nothing, and is not the only one', async () => {
    const agent = openThread();
    const { promise, resolve } = deferred();
    server.simulator.enqueue({ text: LONG, fault: { kind: 'stall', after: 'nothing', until: promise } });
    say(agent, 'First?');
    void run(agent);
    await until(() => 'bolide' in agent.state);
    await agent.detachActiveRun();
    server.simulator.enqueue({ text: 'The second.' }, { text: 'The third.' });
    say(agent, 'Second?');
    say(agent, 'Third?');
    const answer = run(agent);
    await isQueued(agent, 2);
    resolve();
    expectSuccess(await answer);
    expect(textsOf(agent)).to.deep.equal(['First?', LONG, 'Second?', 'The second.', 'Third?', 'The third.']);
    expect(runsOf(agent)).to.have.length(1);
  });

  itInTime('waits while the client reads the first answer, too, and follows it, calls included', async () => {
    const agent = openThread();
    const release = deferred();
    server.simulator.enqueue(
      { text: 'I look.', calls: [{ name: 'get_weather', arguments: { city: 'Lisbon' } }] },
      { text: LONG, fault: { kind: 'stall', after: { events: 6 }, until: release.promise } },
      { text: 'The second.' },
    );
    say(agent, 'First?');
    const first = agent.runAgent({ forwardedProps: { bolide: { onDisconnect: 'continue' } } });
    await until(() => agent.messages.some(({ role }) => role === 'tool'));
    const other = openThread(agent);
    say(other, 'Second?');
    const second = run(other);
    await isQueued(agent);
    release.resolve();
    await first;
    expectSuccess(await second);
    const texts = ['First?', 'I look.', LONG, 'Second?', 'The second.'];
    expect(textsOf(other)).to.deep.equal(texts);
    expect(textsOf(agent)).to.deep.equal(texts);
    expect(other.messages.map(({ id }) => id)).to.deep.equal(agent.messages.map(({ id }) => id));
  });

  itInTime('interrupts the run if it says so', async () => {
    const agent = openThread();
    await begin(agent);
    const shown = textsOf(agent)[1];
    server.simulator.enqueue({ text: 'The second.' });
    say(agent, 'Second?');
    expectSuccess(await run(agent, { when: 'interrupt' }));
    expect(textsOf(agent)).to.deep.equal(['First?', shown, 'Second?', 'The second.']);
    expect(LONG.startsWith(String(shown)) && shown !== LONG).to.equal(true);
    expect(runsOf(agent)).to.have.length(1);
  });

  itInTime('is answered once, and each text is shown once, after reloads, too', async () => {
    const agent = openThread();
    const release = await begin(agent, 'reloaded-1');
    const reloaded = openThread(agent);
    void run(reloaded, {}, 'reloaded-1');
    await until(() => reloaded.isRunning && textsOf(reloaded).length === 2);
    await reloaded.detachActiveRun();
    expect(textsOf(reloaded)).to.deep.equal(textsOf(agent));
    const releaseSecond = hold('The second answer, which is long, too.');
    say(reloaded, 'Second?');
    void run(reloaded, {}, 'reloaded-2');
    await isQueued(agent);
    const waiting = openThread(reloaded);
    void run(waiting, {}, 'reloaded-2');
    release();
    await until(() => isShown(waiting, 'The second'));
    await Promise.all([reloaded.detachActiveRun(), waiting.detachActiveRun()]);
    const writing = openThread(waiting);
    releaseSecond();
    expectSuccess(await run(writing, {}, 'reloaded-2'));
    const all = ['First?', LONG, 'Second?', 'The second answer, which is long, too.'];
    expect(textsOf(writing)).to.deep.equal(all);
    // The run has ended.
    const last = openThread(waiting);
    expectSuccess(await run(last, {}, 'reloaded-2'));
    expect(textsOf(last)).to.deep.equal(all);
    expect(runsOf(agent)).to.have.length(1);
    server.simulator.enqueue({ text: 'Another answer.' });
    last.messages.pop();
    expectSuccess(await run(last, {}, 'regenerated'));
    expect(textsOf(last)).to.deep.equal([...all.slice(0, 3), 'Another answer.']);
    expect(runsOf(agent)).to.have.length(2);
  });

  itInTime('is answered by another run if the run ends before', async () => {
    const agent = openThread();
    await begin(agent);
    const shown = textsOf(agent)[1];
    server.simulator.enqueue({ text: 'The second.' });
    say(agent, 'Second?');
    const answer = run(agent);
    await isQueued(agent);
    await server.host.module.loop.cancel(idOf(agent));
    expectSuccess(await answer);
    expect(textsOf(agent)).to.deep.equal(['First?', shown, 'Second?', 'The second.']);
    expect(runsOf(agent)).to.have.length(2);
    expect(lastRequest()).to.match(/First\?.*The first.*Second\?/);
    server.simulator.enqueue({ text: 'The third.' });
    say(agent, 'Third?');
    expectSuccess(await run(agent));
    expect(textsOf(agent).slice(4)).to.deep.equal(['Third?', 'The third.']);
  });

  itInTime('is answered by another run after the client has stopped the first one', async () => {
    const agent = openThread();
    hold(LONG);
    say(agent, 'First?');
    const first = agent.runAgent();
    await until(() => textsOf(agent).length === 2);
    agent.abortRun();
    server.simulator.enqueue({ text: 'The second.' });
    say(agent, 'Second?');
    expectSuccess(await run(agent));
    await first;
    expect(textsOf(agent).slice(2)).to.deep.equal(['Second?', 'The second.']);
    expect(runsOf(agent)).to.have.length(2);
  });

  itInTime('of another thread is not sent to it', async () => {
    const agent = openThread();
    const release = await begin(agent);
    const other = openThread();
    other.setState(agent.state);
    server.simulator.enqueue({ text: 'Another answer.' });
    say(other, 'Another thread?');
    expectSuccess(await run(other));
    expect(textsOf(other)).to.deep.equal(['Another thread?', 'Another answer.']);
    release();
    await server.host.module.loop.waitForResult(idOf(agent));
  });

  itInTime('fails if no other run can answer it', async () => {
    const agent = openThread();
    await begin(agent);
    say(agent, 'Second?');
    const answer = run(agent, { model: 'nobody' });
    await isQueued(agent);
    await server.host.module.loop.cancel(idOf(agent));
    expectError(await answer, 'nobody');
  });

  itInTime('is not answered after it was withdrawn', async () => {
    const agent = openThread();
    const release = await begin(agent);
    say(agent, 'Second?');
    const answer = run(agent);
    await isQueued(agent);
    await server.host.module.loop.withdrawMessage(idOf(agent), agent.messages.at(-1)?.id ?? '');
    release();
    expectSuccess(await answer);
    expect(runsOf(agent)).to.have.length(1);
  });

  itInTime('is sent under the id of the first request, too, and not again once the run has it', async () => {
    const agent = openThread();
    const sent = spy(server.host.module.loop, 'send');
    await begin(agent, 'used-again');
    say(agent, 'Second?');
    const releaseSecond = hold(LONG);
    void run(agent, { when: 'interrupt' }, 'used-again');
    await until(() => textsOf(agent).length === 4);
    await agent.detachActiveRun();
    server.simulator.enqueue({ text: 'The third.' });
    say(agent, 'Third?');
    const answer = run(agent);
    await isQueued(agent);
    releaseSecond();
    expectSuccess(await answer);
    sent.restore();
    const users = agent.messages.filter(({ role }) => role === 'user').map(({ id }) => id);
    expect(sent.args.map(([, , options]) => options?.messageId)).to.deep.equal(users.slice(1));
  });

  itInTime('is answered anew if the page asks for another answer', async () => {
    const agent = openThread();
    await begin(agent);
    agent.setMessages([{ id: 'edited', role: 'user', content: 'Edited?' }]);
    server.simulator.enqueue({ text: 'Another answer.' });
    expectSuccess(await run(agent));
    expect(textsOf(agent)).to.deep.equal(['Edited?', 'Another answer.']);
    const { state } = (await server.host.module.runs.load(idOf(agent)))?.run ?? {};
    expect(state).to.equal('cancelled');
  });

  itInTime('fails if the run takes no more, and starts no other run beside it', async () => {
    const agent = openThread();
    const release = await begin(agent);
    const { loop } = server.host.module;
    const refused = stub(loop, 'send').rejects(new ConflictError('The run takes no more.'));
    say(agent, 'Second?');
    expectError(await run(agent), 'takes no more');
    refused.restore();
    expect(runsOf(agent)).to.have.length(1);
    release();
    await loop.waitForResult(idOf(agent));
  });

  itInTime('of another thread is not sent to it, either, where ids have spaces', async () => {
    const agent = openThread();
    agent.threadId = 'a thread';
    const release = await begin(agent);
    const other = openThread();
    other.threadId = 'another thread';
    other.setState(agent.state);
    server.simulator.enqueue({ text: 'Another answer.' });
    say(other, 'Another thread?');
    expectSuccess(await run(other));
    expect(textsOf(other)).to.deep.equal(['Another thread?', 'Another answer.']);
    release();
    const { bolide } = agent.state as { readonly bolide: AgUiRunState };
    await server.host.module.loop.waitForResult(bolide.executionId);
  });

  itInTime('names the message that cannot be sent', async () => {
    const agent = openThread();
    const release = await begin(agent);
    say(agent, 'Second?');
    agent.addMessage({ id: 'an id', role: 'user', content: 'Third?' });
    expectError(await run(agent), 'messages[3].id');
    expect(await server.host.module.loop.queuedMessages(idOf(agent))).to.deep.equal([]);
    release();
  });
});
