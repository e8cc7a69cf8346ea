/** Replayed thinking: unmodified, modified, after a modified history, and from another vendor. */
import { expect } from 'chai';
import { asObject, objectsIn } from '../../../imports/simulator/json';
import type { Simulator } from '../../../imports/simulator/Simulator';
import { startSimulator } from '../../../imports/simulator/startSimulator';
import { ADDRESS, post, verdictOn } from './post';

const user = (content: unknown): object => ({ role: 'user', content });
const assistant = (content: unknown): object => ({ role: 'assistant', content });
const result = (id: string): object => ({ type: 'tool_result', tool_use_id: id, content: 'ok' });
const thinking = { type: 'enabled', budget_tokens: 1024 };
const body = (messages: unknown, more: object = {}): object => ({
  model: 'claude-sonnet-4-5',
  max_tokens: 2000,
  messages,
  ...more,
});

describe('thinking signatures on the simulated Messages wire', () => {
  let simulator: Simulator;

  before(async () => {
    simulator = await startSimulator();
  });
  after(() => simulator.close());

  const question = user('Search, please.');
  let blocks: readonly Record<string, unknown>[];

  beforeEach(async () => {
    simulator.enqueue({ reasoning: 'I should search.', calls: [{ name: 'search', id: 'toolu_a' }] });
    const response = await post(simulator, ADDRESS.anthropic_messages, body([question], { thinking }));
    blocks = objectsIn(asObject(await response.json()).content);
  });
  const replay = (content: readonly object[], first: object = question): object =>
    body([first, assistant(content), user([result('toolu_a')])], { thinking });

  it('are accepted on unmodified thinking', async () => {
    expect(await verdictOn(simulator, ADDRESS.anthropic_messages, replay(blocks))).to.deep.include({ status: 200 });
  });

  it('are rejected on modified thinking', async () => {
    const edited = [{ ...blocks[0], thinking: 'I should not search.' }, ...blocks.slice(1)];
    expect((await verdictOn(simulator, ADDRESS.anthropic_messages, replay(edited))).message).to.equal(
      'messages.1.content.0: Invalid `signature` in `thinking` block',
    );
  });

  it('are rejected when the turn was modified before them', async () => {
    const verdict = await verdictOn(
      simulator,
      ADDRESS.anthropic_messages,
      replay(blocks, user('Stop searching, please.')),
    );
    expect(verdict.message).to.match(/^messages\.1\.content\.0: .*cannot be modified/);
  });

  it('allow earlier turns to be changed or removed', async () => {
    const later = body(
      [user('Something else.'), assistant(blocks), user([result('toolu_a')]), assistant('Done.'), user('Thanks.')],
      { thinking },
    );
    expect(await verdictOn(simulator, ADDRESS.anthropic_messages, later)).to.deep.include({ status: 200 });
  });

  it('are rejected at another vendor', async () => {
    const foreign = [{ type: 'redacted_thinking', data: 'gAAAAABforeign' }, ...blocks.slice(1)];
    expect((await verdictOn(simulator, ADDRESS.anthropic_messages, replay(foreign))).message).to.match(
      /Invalid `data` in `redacted_thinking` block/,
    );
  });
});
