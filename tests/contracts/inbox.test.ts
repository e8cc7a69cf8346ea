/** The inbox in every store: what waits for people and other services, whose it is, and how it leaves the list. */
import { expect } from 'chai';
import { Inbox } from '../../imports/business/ai/application/operations/Inbox';
import { INBOX_OPERATIONS } from '../../imports/business/ai/application/operations/inboxOperations';
import { argumentsHash } from '../../imports/business/ai/application/services/shared/argumentsHash';
import type { ToolCall } from '../../imports/business/ai/domain/entities/Tool';
import { ConflictError } from '../../imports/business/ai/domain/errors/LLMErrors';
import type { RunStore } from '../../imports/business/ai/domain/interfaces/RunStore';
import type { Actor } from '../../imports/business/ai/domain/types/Actor';
import type { InboxEntry, InboxPage } from '../../imports/business/ai/domain/types/InboxViews';
import type { RunError } from '../../imports/business/ai/domain/types/RunViews';
import { DocumentInbox } from '../../imports/business/ai/infrastructure/persistence/inbox/DocumentInbox';
import { openRunStore } from '../../imports/business/ai/infrastructure/persistence/runs/DocumentRunStore';
import { DocumentRunViews } from '../../imports/business/ai/infrastructure/persistence/runs/DocumentRunViews';
import { RUNS, TOOL_CALLS } from '../../imports/business/ai/infrastructure/persistence/runs/runDocuments';
import { QUICK_DATABASES } from '../support/documentDatabases';
import type { TestDatabase } from '../support/documentDatabases';
import { failure } from '../support/failure';
import { runRequest, toolCall } from '../support/runRequests';
import { bindOperations } from '../../imports/host/bindOperations';
import type { OperationsOf } from '../../imports/host/bindOperations';

const ANN: Actor = { userId: 'ann', source: 'method' };
const BOB: Actor = { userId: 'bob', source: 'method' };
const ADMIN: Actor = { userId: 'root', isAdmin: true, source: 'method' };
const BUSY: RunError = { code: 'overloaded', message: 'Try later.', retryable: true };

const WAITS = {
  approval: { state: 'awaiting_approval', expiresAt: 90_000 },
  review: { state: 'needs_review', startTime: 2_000, expiresAt: 90_000 },
  external: { state: 'executing', startTime: 3_000, expiresAt: 90_000 },
} as const;

for (const [name, open] of Object.entries(QUICK_DATABASES)) {
  describe(`the inbox (${name})`, () => {
    let opened: TestDatabase;
    let store: RunStore;
    let inbox: OperationsOf<typeof INBOX_OPERATIONS>;
    const dismissed: string[] = [];
    beforeEach(async () => {
      opened = await open();
      store = await openRunStore(opened.database);
      const views = new DocumentRunViews(opened.database);
      dismissed.splice(0);
      inbox = bindOperations(INBOX_OPERATIONS, {
        inbox: new Inbox({
          inbox: new DocumentInbox(opened.database),
          ownerOf: (executionId) => views.ownerOf(executionId),
          onDismissed: (executionId, ownerId) => dismissed.push(`${executionId} of ${ownerId}`),
        }),
      });
    });
    afterEach(() => opened.close());

    const addRun = async (
      id: string,
      {
        calls = [],
        error,
        ...request
      }: Parameters<typeof runRequest>[1] & {
        readonly calls?: readonly ToolCall[];
        readonly error?: RunError;
      } = {},
    ): Promise<void> => {
      const lease = await store.create(runRequest(id, request), 'running', 'owner');
      for (const call of calls) await store.saveCalls(lease, [call]);
      if (error !== undefined) await store.saveRun(lease, { state: 'failed', error, endedAt: 5_000 });
    };
    const list = (argument: object = {}, actor = ADMIN): Promise<InboxPage> => inbox['ai.inbox.list'](actor, argument);
    const idsOf = ({ entries }: { readonly entries: readonly InboxEntry[] }): readonly string[] =>
      entries.map(({ _id }) => _id);
    const pages = async (argument: object): Promise<readonly InboxPage[]> => {
      const read: InboxPage[] = [];
      for (let after: string | undefined; read.length === 0 || after !== undefined; after = read.at(-1)?.next)
        read.push(await list({ ...argument, ...(after === undefined ? {} : { after }) }));
      return read;
    };

    it('lists calls that wait for an approval, a review or a result, and failed runs, oldest first', async () => {
      await addRun('r1', {
        userId: 'ann',
        title: 'Refund it',
        model: 'm1',
        calls: [
          toolCall('c1', { ...WAITS.review, createdAt: 1_500, name: 'pay', progress: { fraction: 0.5, note: 'half' } }),
          toolCall('c2', { state: 'executing', startTime: 1_600, createdAt: 1_600 }),
          toolCall('c3', { state: 'completed', result: 'x', endTime: 2, executionTime: 1, createdAt: 1_700 }),
          toolCall('c4', { ...WAITS.external, createdAt: 1_200 }),
        ],
      });
      await addRun('r2', { userId: 'bob', createdAt: 1_300, error: BUSY, conversationId: 'talk' });
      await addRun('r3', { userId: 'bob', calls: [toolCall('c1', { ...WAITS.approval, createdAt: 1_100 })] });
      const page = await list();
      expect(page.entries).to.deep.equal([
        {
          _id: 'r3:c1',
          kind: 'approval',
          executionId: 'r3',
          callId: 'c1',
          name: 'clock',
          userId: 'bob',
          providerId: 'openai',
          title: 'A question',
          createdAt: 1_100,
          since: 1_100,
          expiresAt: 90_000,
          arguments: '{}',
          argumentsLength: 2,
          argumentsHash: argumentsHash('{}'),
        },
        {
          _id: 'r1:c4',
          kind: 'external',
          executionId: 'r1',
          callId: 'c4',
          name: 'clock',
          userId: 'ann',
          providerId: 'openai',
          model: 'm1',
          title: 'Refund it',
          createdAt: 1_200,
          since: 3_000,
          expiresAt: 90_000,
          arguments: '{}',
          argumentsLength: 2,
          argumentsHash: argumentsHash('{}'),
        },
        {
          _id: 'r2',
          kind: 'failed',
          executionId: 'r2',
          userId: 'bob',
          providerId: 'openai',
          title: 'A question',
          conversationId: 'talk',
          createdAt: 1_300,
          since: 5_000,
          error: BUSY,
        },
        {
          _id: 'r1:c1',
          kind: 'review',
          executionId: 'r1',
          callId: 'c1',
          name: 'pay',
          userId: 'ann',
          providerId: 'openai',
          model: 'm1',
          title: 'Refund it',
          createdAt: 1_500,
          since: 2_000,
          expiresAt: 90_000,
          note: 'half',
          arguments: '{}',
          argumentsLength: 2,
          argumentsHash: argumentsHash('{}'),
        },
      ]);
      expect(page.counts).to.deep.equal({
        approval: 1,
        review: 1,
        external: 1,
        parked: 0,
        tools: 0,
        failed: 1,
        total: 4,
      });
      expect(page).not.to.have.property('next');
      expect(idsOf(await list({ kind: 'external' }))).to.deep.equal(['r1:c4']);
      expect(idsOf(await list({ kind: 'failed' }))).to.deep.equal(['r2']);
      expect((await list({ kind: 'failed' })).counts.total).to.equal(4);
    });

    it('lists runs that wait for tools until they are claimed or end', async () => {
      for (const [id, createdAt] of [
        ['r1', 1_000],
        ['r2', 1_100],
      ] as const) {
        await addRun(id, { userId: 'ann', createdAt });
        await store.awaitTools((await store.head(id))!, { names: ['charge'], since: 4_000 });
      }
      const page = await list({ kind: 'tools' });
      expect(page.entries[0]).to.deep.equal({
        _id: 'r1',
        kind: 'tools',
        executionId: 'r1',
        userId: 'ann',
        providerId: 'openai',
        title: 'A question',
        createdAt: 1_000,
        since: 4_000,
        awaitedTools: { names: ['charge'], since: 4_000 },
      });
      expect(page.counts).to.include({ tools: 2, total: 2 });
      expect(idsOf(await list({ search: 'CHARGE' }))).to.deep.equal(['r1', 'r2']);
      await store.claim((await store.head('r1'))!, 'owner');
      const error = { code: 'aborted', message: 'no' } as const;
      await store.end((await store.head('r2'))!, { state: 'cancelled', endedAt: 5_000, error });
      expect((await list()).counts.total).to.equal(0);
    });

    it('lists parked runs until they are claimed or end', async () => {
      await addRun('r1', { userId: 'ann', createdAt: 1_000 });
      await addRun('r2', {
        userId: 'bob',
        createdAt: 1_100,
        calls: [toolCall('c1', { ...WAITS.approval, createdAt: 900 })],
      });
      const parked = { reason: 'max-takeovers', message: 'Its processes died.', at: 4_000 } as const;
      for (const id of ['r1', 'r2']) await store.park((await store.head(id))!, parked);
      const page = await list({ kind: 'parked' });
      expect(page.entries[0]).to.deep.equal({
        _id: 'r1',
        kind: 'parked',
        executionId: 'r1',
        userId: 'ann',
        providerId: 'openai',
        title: 'A question',
        createdAt: 1_000,
        since: 4_000,
        parked,
      });
      expect(page.counts).to.deep.equal({
        approval: 1,
        review: 0,
        external: 0,
        parked: 2,
        tools: 0,
        failed: 0,
        total: 3,
      });
      expect(idsOf(await list())).to.deep.equal(['r2:c1', 'r1', 'r2']);
      expect(idsOf(await list({ search: 'processes DIED' }))).to.deep.equal(['r1', 'r2']);
      expect(idsOf(await list({}, ANN))).to.deep.equal(['r1']);
      expect(await failure(inbox['ai.inbox.dismiss'](ADMIN, { executionId: 'r1' }))).to.be.instanceOf(ConflictError);
      await store.claim((await store.head('r1'))!, 'owner');
      const error = { code: 'aborted', message: 'no' } as const;
      await store.end((await store.head('r2'))!, { state: 'cancelled', endedAt: 5_000, error });
      // The call of `r2` no longer waits either.
      expect(idsOf(await list())).to.deep.equal([]);
    });

    it('shows users their own entries and counts, and admins all', async () => {
      for (const userId of ['ann', 'bob'])
        await addRun(`of-${userId}`, { userId, calls: [toolCall('c', WAITS.approval)] });
      await addRun('failed', { userId: 'bob', error: BUSY });
      expect(idsOf(await list({}, ANN))).to.deep.equal(['of-ann:c']);
      expect((await list({}, ANN)).counts).to.include({ approval: 1, failed: 0, total: 1 });
      expect((await list({}, BOB)).counts).to.include({ approval: 1, failed: 1, total: 2 });
      expect((await list()).counts).to.include({ approval: 2, failed: 1, total: 3 });
      expect(await failure(inbox['ai.inbox.list']({ userId: '', source: 'method' }))).to.have.property(
        'code',
        'auth-failed',
      );
    });

    it('pages through everything once, also while entries are settled and at equal times', async () => {
      for (let run = 0; run < 9; run += 1) {
        const calls = Object.values(WAITS).map((wait, at) =>
          toolCall(`c${at}`, { ...wait, createdAt: 1_000 + (run % 3) }),
        );
        await addRun(`r${run}`, { calls, createdAt: 1_000 + (run % 3), ...(run % 2 === 0 ? { error: BUSY } : {}) });
      }
      const all = await pages({ limit: 7 });
      const ids = all.flatMap(idsOf);
      expect(ids).to.have.length(9 * 3 + 5);
      expect(new Set(ids)).to.have.property('size', ids.length);
      expect(all.map(({ entries }) => entries.length)).to.deep.equal([7, 7, 7, 7, 4]);
      expect(idsOf(await list({ limit: 200 }))).to.deep.equal(ids);
      expect((await pages({ limit: 7, order: 'desc' })).flatMap(idsOf)).to.deep.equal(ids.toReversed());
      // The entry at which the first page ended is gone before the second is read.
      const [first] = all;
      await opened.database.collection(TOOL_CALLS).remove({ _id: first?.entries.at(-1)?._id ?? '' });
      await opened.database.collection(RUNS).remove({ _id: first?.entries.at(-1)?._id ?? '' });
      expect(idsOf(await list({ limit: 7, after: first?.next }))).to.deep.equal(ids.slice(7, 14));
    });

    it('searches titles, tools, users and errors, and continues after a page that it could not fill', async () => {
      await addRun('r1', {
        title: 'Refund the BIG order',
        calls: [toolCall('c', { ...WAITS.approval, name: 'pay_out' })],
      });
      await addRun('r2', { userId: 'zoë', createdAt: 1_001, error: { ...BUSY, message: 'No big machine is free.' } });
      await addRun('r3', { calls: [toolCall('c', { ...WAITS.external, name: 'webhook' })] });
      expect(idsOf(await list({ search: ' big ' }))).to.deep.equal(['r1:c', 'r2']);
      expect(idsOf(await list({ search: 'PAY_' }))).to.deep.equal(['r1:c']);
      expect(idsOf(await list({ search: 'zoë' }))).to.deep.equal(['r2']);
      expect(idsOf(await list({ search: 'r3' }))).to.deep.equal(['r3:c']);
      expect(idsOf(await list({ search: 'big', kind: 'failed' }))).to.deep.equal(['r2']);
      expect((await list({ search: 'nothing' })).counts.total).to.equal(3);
      const read = await pages({ search: 'big', limit: 1 });
      expect(read.flatMap(idsOf)).to.deep.equal(['r1:c', 'r2']);
    });

    it('lists a failed run only if it may succeed the next time, until it is dismissed', async () => {
      await addRun('busy', { userId: 'ann', error: BUSY });
      await addRun('refused', { userId: 'ann', error: { code: 'refused', message: 'No.', retryable: false } });
      await addRun('gone', {
        userId: 'ann',
        error: {
          code: 'vendor-error',
          message: 'Not implemented.',
          retryable: false,
        },
      });
      await addRun('running', { userId: 'ann' });
      expect(idsOf(await list({ kind: 'failed' }))).to.deep.equal(['busy']);
      expect(await failure(inbox['ai.inbox.dismiss'](BOB, { executionId: 'busy' }))).to.include({
        code: 'invalid-request',
        httpStatus: 404,
        path: 'executionId',
      });
      expect(await failure(inbox['ai.inbox.dismiss'](ANN, { executionId: 'running' }))).to.have.property(
        'code',
        'conflict',
      );
      expect(await inbox['ai.inbox.dismiss'](ANN, { executionId: 'busy' })).to.deep.equal({ executionId: 'busy' });
      expect((await list()).counts).to.include({ failed: 0, total: 0 });
      // Someone else may have dismissed it a moment before.
      await inbox['ai.inbox.dismiss'](ADMIN, { executionId: 'busy' });
      expect(dismissed).to.deep.equal(['busy of ann', 'busy of ann']);
      expect((await new DocumentRunViews(opened.database).run('busy'))?.state).to.equal('failed');
    });

    it('finds what the version before recorded, and hashes its arguments', async () => {
      const long = JSON.stringify({ text: 'y'.repeat(30_000) });
      await addRun('r1', {
        calls: [
          toolCall('c1', { state: 'awaiting_approval', arguments: long }),
          toolCall('c2', { state: 'needs_review', startTime: 1 }),
        ],
      });
      await addRun('r2', { error: { code: 'timeout', message: 'Too slow.' } });
      await addRun('r3', { error: { code: 'refused', message: 'No.' } });
      const waits = ['waiting', 'expiresAt', 'argumentsHash', 'argumentsLength'];
      await opened.database
        .collection(TOOL_CALLS)
        .update({}, { $unset: Object.fromEntries(waits.map((field) => [field, true] as const)) }, { multi: true });
      const { entries, counts } = await list();
      expect(entries.map(({ _id, kind }) => `${kind} ${_id}`)).to.have.members([
        'approval r1:c1',
        'review r1:c2',
        'failed r2',
      ]);
      expect(counts).to.deep.equal({ approval: 1, review: 1, external: 0, parked: 0, tools: 0, failed: 1, total: 3 });
      expect(entries.find(({ _id }) => _id === 'r1:c1')).to.include({
        argumentsHash: argumentsHash(long),
        argumentsLength: long.length,
      });
    });

    it('cuts long arguments between characters, and shows them in full on demand', async () => {
      const long = JSON.stringify({ text: `${'x'.repeat(3_990)}👾`.repeat(300) });
      const broken = '{"a":"\ud800"}';
      await addRun('r', {
        userId: 'ann',
        calls: [
          toolCall('c1', { ...WAITS.approval, arguments: long }),
          toolCall('c2', { ...WAITS.approval, arguments: broken, createdAt: 1_001 }),
        ],
      });
      const [first, second] = (await list()).entries;
      if (first?.kind !== 'approval' || second?.kind !== 'approval') throw new Error('not listed');
      expect(first.arguments.length).to.equal(4_000);
      expect(first).to.include({ argumentsLength: long.length, argumentsHash: argumentsHash(long) });
      expect(first.arguments.isWellFormed() && second.arguments.isWellFormed()).to.equal(true);
      expect(second.argumentsHash).to.equal(argumentsHash(broken));
      const read = { executionId: 'r', callId: 'c1' };
      expect(await inbox['ai.runs.getCall'](ANN, read)).to.deep.equal({
        ...read,
        name: 'clock',
        state: 'awaiting_approval',
        arguments: long,
        argumentsHash: argumentsHash(long),
      });
      expect(await failure(inbox['ai.runs.getCall'](BOB, read))).to.include({ httpStatus: 404, path: 'executionId' });
      expect(await failure(inbox['ai.runs.getCall'](ANN, { ...read, callId: 'c9' }))).to.include({
        httpStatus: 404,
        path: 'callId',
      });
    });

    for (const [what, argument, path] of [
      ['an unknown kind', { kind: 'all' }, 'kind'],
      ['a limit of 0', { limit: 0 }, 'limit'],
      ['a limit beyond 200', { limit: 201 }, 'limit'],
      ['a position that no page returned', { after: 'x' }, 'after'],
      ['a position after something else', { after: 'x1:c1' }, 'after'],
      ['a search that is no text', { search: 7 }, 'search'],
      ['an unknown order', { order: 'up' }, 'order'],
      ['an unknown field', { user: 'ann' }, 'user'],
    ] as const)
      it(`refuses ${what}`, async () => {
        expect(await failure(list(argument))).to.include({ code: 'invalid-request', path });
      });
  });
}
