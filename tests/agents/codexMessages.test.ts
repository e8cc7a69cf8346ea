/** Codex's users talk to a turn that is under way, over the gateway's WebSocket, as editors let them. */
import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import type { JsonObject } from '../../imports/business/ai/domain/types/VendorTypes';
import { deferred } from '../support/deferred';
import { AgentHost, TOKEN, agentEnvironment, agentPath, runAgent } from './AgentHost';
import type { AgentProject } from './AgentHost';
import { CodexServer } from './CodexServer';
import { CODEX, codexSettings } from './codexSettings';
import { SocketProxy } from './SocketProxy';

const run = promisify(execFile);
describe('Codex over WebSocket', () => {
  let host: AgentHost;
  let proxy: SocketProxy;
  let project: AgentProject;
  let codex: CodexServer;
  let thread: string;
  before(async () => {
    host = await AgentHost.start();
  });
  after(() => host.close());
  beforeEach(async function () {
    proxy = await SocketProxy.start(host.server.url);
    project = await host.createProject(`codex-${this.currentTest?.title.replaceAll(/\W+/g, '-')}`);
    codex = await start();
    const options = { cwd: project.project, approvalPolicy: 'never', sandbox: 'danger-full-access' };
    ({ id: thread } = (await codex.request('thread/start', options))['thread'] as { readonly id: string });
  });
  afterEach(async () => {
    await codex.kill();
    await proxy.close();
    host.simulator.assertDone();
    // Codex steers by requests of its own, and sends nothing else.
    for (const { type } of proxy.sent) expect(type).to.equal('response.create');
    expect(proxy.received.map(({ type }) => type))
      .to.include('response.completed')
      .and.not.to.include('error');
  });

  const start = (): Promise<CodexServer> =>
    CodexServer.start(codexSettings(proxy.url, 'anthropic/some-model', true), project, TOKEN);
  const input = (text: string): readonly JsonObject[] => [{ type: 'text', text, text_elements: [] }];
  const ask = async (text: string): Promise<string> => {
    const { turn } = await codex.request('turn/start', { threadId: thread, input: input(text) });
    return (turn as { readonly id: string }).id;
  };
  const steer = (turn: string, text: string): Promise<JsonObject> =>
    codex.request('turn/steer', { threadId: thread, expectedTurnId: turn, input: input(text) });
  const ended = async (): Promise<unknown> =>
    ((await codex.next('turn/completed'))['turn'] as { readonly status: string }).status;
  const answer = (text: string): void => host.simulator.enqueue({ text });
  /** The next answer stops in its middle until it is released. */
  const holdAnswer = (text: string): (() => void) => {
    const { promise: until, resolve } = deferred();
    host.simulator.enqueue({ text, fault: { kind: 'stall', after: { events: 4 }, until } });
    return resolve;
  };
  const isWritten = (): Promise<JsonObject> => codex.next('item/agentMessage/delta');
  const conversations = (): readonly string[] => conversationsIn(host.requests);

  it('answers what is said while an answer is written, after it', async () => {
    const release = holdAnswer('Answer A with some more words.');
    const turn = await ask('Question A');
    await isWritten();
    expect(await steer(turn, 'Question B')).to.deep.equal({ turnId: turn });
    expect(await steer(turn, 'Question C')).to.deep.equal({ turnId: turn });
    answer('Answer B');
    release();
    expect(await ended()).to.equal('completed');
    expect(conversations()).to.deep.equal(['Question A', 'Question A, Answer A, Question B, Question C']);
  });

  it('gets what is said while a command runs with its result', async () => {
    const cmd = 'until [ -e go ]; do sleep 0.05; done; cat greeting.txt';
    host.simulator.enqueue({ calls: [{ name: 'exec_command', arguments: { cmd, yield_time_ms: 30_000 } }] });
    const turn = await ask('Question A');
    let item: unknown;
    do ({ item } = await codex.next('item/started'));
    while ((item as { readonly type: string }).type !== 'commandExecution');
    await steer(turn, 'Question B');
    answer('Answer B');
    await writeFile(join(project.project, 'go'), '');
    expect(await ended()).to.equal('completed');
    expect(conversations()).to.deep.equal(['Question A', 'Question A, Question B']);
    expect(host.requests[1]).to.match(/Good morning\..*Question B/);
  });

  it('queues a message of another process for the turn that follows', async () => {
    const release = holdAnswer('Answer A with some more words.');
    await ask('Question A');
    await isWritten();
    const args = [agentPath(CODEX), 'queue', '--thread', thread, '--message', 'Question B'];
    const env = agentEnvironment(project, { BOLIDE_API_TOKEN: TOKEN, CODEX_HOME: project.home });
    await run(process.execPath, args, { env, cwd: project.project });
    answer('Answer B');
    release();
    expect(await ended()).to.equal('completed');
    expect(await ended()).to.equal('completed');
    expect(conversations()).to.deep.equal(['Question A', 'Question A, Answer A, Question B']);
  });

  it('is interrupted, and goes on with another message', async () => {
    const aborted = host.simulator.nextAbort();
    holdAnswer('Answer A with some more words.');
    const turn = await ask('Question A');
    await isWritten();
    await codex.request('turn/interrupt', { threadId: thread, turnId: turn });
    expect(await ended()).to.equal('interrupted');
    await aborted;
    answer('Answer B');
    await ask('Question B');
    expect(await ended()).to.equal('completed');
    expect(conversations()).to.deep.equal(['Question A', 'Question A, Question B']);
  });

  it('goes on with its thread after it was killed while it worked', async () => {
    const aborted = host.simulator.nextAbort();
    answer('Answer A');
    await ask('Question A');
    expect(await ended()).to.equal('completed');
    holdAnswer('Answer B with some more words.');
    await ask('Question B');
    await isWritten();
    await codex.kill();
    await aborted;
    codex = await start();
    await codex.request('thread/resume', { threadId: thread });
    answer('Answer C');
    await ask('Question C');
    expect(await ended()).to.equal('completed');
    const past = 'Question A, Answer A, Question B';
    expect(conversations()).to.deep.equal(['Question A', past, `${past}, Question C`]);
  });
});

describe('OpenAI’s client over WebSocket', () => {
  it('steers a response while it is written', async () => {
    const host = await AgentHost.start();
    const { promise: until, resolve: release } = deferred();
    host.simulator.enqueue(
      { text: 'Answer A at length.', fault: { kind: 'stall', after: { events: 4 }, until } },
      { text: 'Answer B' },
    );
    const script = join(__dirname, 'steerResponse.mjs');
    const { code, stdout, stderr } = await runAgent(
      [process.execPath, script, `${host.server.url}/v1`, 'anthropic/some-model'],
      await host.createProject('openai'),
      { OPENAI_API_KEY: TOKEN },
      (output) => {
        if (output === ACCEPTED.repeat(2)) release();
      },
    );
    expect(code, stderr).to.equal(0);
    expect(stdout).to.equal(`${ACCEPTED.repeat(2)}Answer A at length.\nAnswer B\n`);
    expect(conversationsIn(host.requests)).to.deep.equal([
      'Question A',
      'Question A, Answer A, Question B, Question C',
    ]);
    host.simulator.assertDone();
    await host.close();
  });
});

const ACCEPTED = 'response.steer.accepted\n';

/** The questions and answers of each request to the vendor. */
function conversationsIn(requests: readonly string[]): readonly string[] {
  return requests.map((request) => (request.match(/(?:Question|Answer) [A-Z]\b/g) ?? []).join(', '));
}
