/** What is buffered for one user is never dropped because of what others do. */
import { expect } from 'chai';
import type { AgentEvent } from '../../../../../imports/business/ai/domain/types/AgentEvents';
import type { LLMResponse } from '../../../../../imports/business/ai/domain/types/ResponsesAPITypes';
import { MemoryResponseCache } from '../../../../../imports/business/ai/application/services/routing/cache/MemoryResponseCache';
import { ConversationChannels } from '../../../../../imports/business/ai/infrastructure/events/ConversationChannels';
import { RunEventLog } from '../../../../../imports/business/ai/infrastructure/events/RunEventLog';
import { MemoryConversationStore } from '../../../../../imports/business/ai/infrastructure/persistence/conversations/MemoryConversationStore';
import { MemoryResponseConversations } from '../../../../../imports/business/ai/infrastructure/persistence/responses/MemoryResponseConversations';
import { MemoryRunStore } from '../../../../../imports/business/ai/infrastructure/persistence/runs/MemoryRunStore';
import { MemoryVendorObjects } from '../../../../../imports/business/ai/infrastructure/persistence/vendorObjects/MemoryVendorObjects';
import { ResilientProvider } from '../../../../../imports/business/ai/application/services/routing/ResilientProvider';
import { LiveRunEvents } from '../../../../../imports/business/ai/infrastructure/events/LiveRunEvents';
import { answer } from '../../../../../imports/testing/responses';
import { ScriptedProvider } from '../../../../../imports/testing/ScriptedProvider';
import { RecordingLogger } from '../../../../support/RecordingLogger';
import { runRequest } from '../../../../support/runRequests';
import { MemoryResponseEvents } from '../../../../../imports/business/ai/infrastructure/persistence/responses/MemoryResponseEvents';

function startOf(executionId: string, size = 0, userId = 'x'): AgentEvent {
  return { type: 'run:started', userId, model: 'x'.repeat(size), executionId, at: 0, seq: 1 };
}

describe('what is buffered for one user', () => {
  it('of the events of runs is replayed after the flood of another user', () => {
    const log = new RunEventLog({ events: 10, characters: 10_000 });
    const since = log.last;
    log.add(startOf('good'), 'good');
    for (let count = 0; count < 1_000; count += 1) log.add(startOf('hostile', count), 'hostile');
    const received: string[] = [];
    const gaps: string[] = [];
    const replay = (userId?: string): void => {
      log.subscribe(
        {
          ...(userId === undefined ? {} : { userId }),
          accepts: (event) => userId === undefined || event.userId === userId,
          event: ({ executionId }) => received.push(executionId),
          gap: () => gaps.push(userId ?? 'admin'),
        },
        since,
      )();
    };
    replay('good');
    expect(received).to.deep.equal(['good']);
    replay('hostile');
    replay();
    expect(gaps, 'what was dropped is reported').to.deep.equal(['hostile', 'admin']);
  });

  it('of the events of runs is bounded in total, at the cost of who holds most', () => {
    const log = new RunEventLog({ events: 1_000, characters: 100_000, totalCharacters: 300_000 });
    const since = log.last;
    log.add(startOf('good'), 'good');
    for (let count = 0; count < 1_000; count += 1) log.add(startOf('x', 500), `hostile-${count % 10}`);
    const received: string[] = [];
    const owners = new Set<string>();
    log.subscribe(
      {
        userId: 'good',
        accepts: () => true,
        event: ({ executionId }) => received.push(executionId),
        gap: () => received.push('gap'),
      },
      since,
    );
    expect(received).to.deep.equal(['good']);
    let held = 0;
    for (let user = 0; user < 10; user += 1)
      log.subscribe(
        {
          userId: `hostile-${user}`,
          accepts: () => true,
          event: ({ data }) => (held += data.length),
          gap: () => owners.add(`hostile-${user}`),
        },
        log.last - 100,
      );
    expect(held).to.be.lessThan(300_000);
  });

  it('of conversations survives those that another user opens', () => {
    const channels = new ConversationChannels({ channels: 20, channelsPerUser: 15 });
    const own = channels.of('good', 'c');
    for (let count = 0; count < 1_000; count += 1) channels.of('hostile', `${count}`);
    expect(channels.size).to.be.at.most(16);
    expect(channels.of('good', 'c')).to.equal(own);
  });

  it('of conversations survives channels of another user that are in use', () => {
    const channels = new ConversationChannels({ channels: 20, channelsPerUser: 15 });
    const own = channels.of('good', 'c');
    for (let count = 0; count < 100; count += 1) channels.of('hostile', `${count}`).begin();
    expect(channels.of('good', 'c')).to.equal(own);
  });

  it('of cached responses survives what another user caches', async () => {
    const cache = new MemoryResponseCache({ maxEntries: 10 });
    // Only its identity counts.
    const response = { id: 'r' } as LLMResponse;
    const entry = { storedAt: Date.now(), expiresAt: Date.now() + 60_000, response };
    await cache.save('good', 'k', entry);
    for (let count = 0; count < 1_000; count += 1) await cache.save('hostile', `${count}`, entry);
    expect(await cache.find('good', 'k')).to.deep.include({ response });
    expect(await cache.find('hostile', '0')).to.equal(undefined);
  });

  it('of background responses survives what another user starts', async () => {
    const events = new MemoryResponseEvents();
    await events.open({ userId: 'good', id: 'r' }, true);
    await events.append({ userId: 'good', id: 'r' }, 0, ['frame']);
    for (let count = 0; count < 2_000; count += 1) await events.open({ userId: 'hostile', id: `${count}` }, true);
    expect(await events.read({ userId: 'good', id: 'r' }, -1)).to.deep.equal(['frame']);
  });

  it('of messages survives what another user writes', async () => {
    const store = new MemoryConversationStore({ conversations: 10, charactersPerUser: 1_000 });
    const message = (id: string, length: number) => ({ id, role: 'user', text: 'x'.repeat(length), at: 0 }) as const;
    await store.storeInput('good', 'c', message('m', 900));
    for (let count = 0; count < 100; count += 1)
      await store.storeInput('hostile', `${count}`, message(`${count}`, 900));
    expect(await store.getHistory('good', 'c')).to.have.length(1);
    expect(await store.getHistory('hostile', '99')).to.have.length(1);
    expect(await store.getHistory('hostile', '98')).to.have.length(0);
  });

  it('of the events of a run survives the runs that another user starts', () => {
    const live = new LiveRunEvents();
    live.record(startOf('mine', 0, 'good'));
    for (let count = 0; count < 10_100; count += 1) live.record(startOf(`run-${count}`, 0, 'hostile'));
    expect(live.follow('mine', () => undefined).recent).to.have.length(1);
    expect(live.follow('run-0', () => undefined).recent, 'of who has most').to.have.length(0);
    expect(live.size).to.equal(10_000);
  });

  it('of objects at vendors survives what another user makes', async () => {
    const store = new MemoryVendorObjects();
    await store.record('good', ['file-1'], {});
    await store.record(
      'hostile',
      Array.from({ length: 100_100 }, (_, index) => `file-${index}`),
    );
    expect(await store.isOwner('good', 'file-1')).to.equal(true);
    expect(await store.isOwner('hostile', 'file-0')).to.equal(false);
  });

  it('of conversations survives those that another user starts', async () => {
    const store = new MemoryResponseConversations();
    const conversation = (userId: string, id: string) => ({ userId, id, createdAt: 0, metadata: {} });
    await store.create(conversation('good', 'mine'));
    for (let count = 0; count < 10_100; count += 1) await store.create(conversation('hostile', `${count}`));
    expect(await store.find('good', 'mine')).to.deep.include({ id: 'mine' });
    expect(await store.find('hostile', '0')).to.equal(undefined);
  });

  it('of runs that have ended survives the runs of another user', async () => {
    const store = new MemoryRunStore(10);
    const end = async (userId: string, id: string): Promise<void> => {
      const lease = await store.create(runRequest(id, { userId }), 'running', 'me');
      await store.saveRun(lease, { state: 'completed' });
    };
    await end('good', 'mine');
    for (let count = 0; count < 100; count += 1) await end('hostile', `${count}`);
    expect((await store.findRequest('good', 'mine'))?.state).to.equal('completed');
    expect(await store.load('0')).to.equal(undefined);
  });

  it('of who serves a response survives the responses of another user', async () => {
    const scripted = (name: string, responses: number) =>
      new ScriptedProvider(
        Array.from({ length: responses }, (_, index) => answer('x', { id: `${name}-${index}` })),
        { name },
      );
    const [first, second] = [scripted('first', 20), scripted('second', 1)];
    const provider = new ResilientProvider({
      providers: { first, second },
      limits: { trackedResponses: 10 },
      logger: new RecordingLogger(),
    });
    const { id } = await provider.generate('good', { model: 'second', input: 'x' });
    for (let count = 0; count < 20; count += 1) await provider.generate('hostile', { model: 'first', input: 'x' });
    await provider.deleteResponse('good', id);
    expect(second.deleted).to.deep.equal([{ userId: 'good', responseId: id }]);
  });
});
